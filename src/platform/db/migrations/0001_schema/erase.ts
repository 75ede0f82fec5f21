/**
 * The remains of deleted emails: identifiers and keyed digests. They keep a deleted email from being recorded again, and identify it only
 * to a holder of both the message and the key.
 */
export const ERASE = [
  // Of keyed_digest: 64 bytes each, a block of SHA-256, as the inner and outer key of HMAC (RFC 2104)
  `create table digest_key (
    only_row boolean primary key default true check (only_row),
    inner_key bytea not null check (length(inner_key) = 64),
    outer_key bytea not null check (length(outer_key) = 64)
  )`,
  `create function random_block() returns bytea language sql volatile
  return sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))
    || sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))`,
  `insert into digest_key (inner_key, outer_key) values (random_block(), random_block())`,
  `drop function random_block()`,
  `create function keyed_digest(value bytea) returns bytea language sql stable parallel safe
  return (select sha256(outer_key || sha256(inner_key || value)) from digest_key)`,

  `create table deleted_emails (
    -- As the email had it, or a record that was merged into it
    id uuid primary key,
    account_id account_id not null,
    thread_id uuid not null,
    deleted_at timestamptz not null default now(),
    -- With which it was erased
    erasure_id uuid
  )`,
  `create index deleted_emails_erasure on deleted_emails (erasure_id) where erasure_id is not null`,
  `create table deleted_identities (
    account_id account_id,
    -- keyed_digest of an identity key; see core/message/identity.ts
    digest bytea check (length(digest) = 32),
    email_id uuid not null references deleted_emails (id) on delete cascade,
    primary key (account_id, digest)
  )`,
  `create index deleted_identities_email on deleted_identities (email_id)`,

  // Stands in for the Message-ID of a deleted email where only its thread matters
  `create function deleted_message_id(message_id text) returns text language sql stable parallel safe
  return encode(keyed_digest(convert_to('message-id:' || message_id, 'UTF8')), 'hex') || '@deleted.invalid'`,

  // The header fields of a message that name senders and recipients, in lower case; the record does not have all of them
  `create function address_fields(raw bytea) returns text language sql immutable parallel safe
  return (
    select lower(string_agg(field[1], E'\\n'))
    from (
      select substring(raw from 1 for coalesce(
        least(nullif(position('\\x0d0a0d0a'::bytea in raw), 0), nullif(position('\\x0a0a'::bytea in raw), 0)),
        octet_length(raw)
      )) as bytes
    ) header,
    regexp_matches(
      -- Any bytes may be in it; addresses are the same in this form
      replace(encode(bytes, 'escape'), E'\\r', ''),
      '^((?:(?:resent-)?(?:from|sender|reply-to|to|cc|bcc)|delivered-to|x-original-to|envelope-to|return-path|errors-to|disposition-notification-to|return-receipt-to)[ \\t]*:[^\\n]*(?:\\n[ \\t][^\\n]*)*)',
      'gin'
    ) field
  )`,

  // Stands in for an erased address that has to be recognised when it comes again; core/erase/erased-address.ts makes the same value.
  `create function erased_address(address text) returns text language sql stable parallel safe
  return encode(keyed_digest(convert_to('address:' || address, 'UTF8')), 'hex') || '@erased.invalid'`,

  // Erasing a person: the work to be done, and the record of it
  `create table erasures (
    id uuid primary key,
    requested_at timestamptz not null default now(),
    requested_by text not null,
    -- In lower case; forgotten when all is done
    addresses text[] not null,
    customer_id uuid,
    -- All mail of an account that was deleted
    account_id account_id,
    -- Those that had the address: erased as well where nothing else is left of them
    candidates uuid[] not null default '{}',
    -- Emails up to this one were looked at; null: none yet
    scanned_to uuid,
    -- Since the scan began, an email was erased: it begins once more
    has_found boolean not null default false,
    -- Since the scan began, an email was being sent
    has_waiting boolean not null default false,
    -- The last whole scan found nothing but emails that were being sent
    is_waiting boolean not null default false,
    events_to bigint not null default 0,
    -- Numbers by kind
    erased jsonb not null default '{}' check (jsonb_typeof(erased) = 'object'),
    owner uuid,
    lease_until timestamptz,
    finished_at timestamptz,
    check (finished_at is null or addresses = '{}'),
    check ((owner is null) = (lease_until is null))
  )`,
  `create index erasures_open on erasures (requested_at) where finished_at is null`,

  // Files of deleted emails that are still to be deleted from storage
  `create table deleted_files (
    path text primary key,
    tries int not null default 0,
    next_try_at timestamptz not null default now()
  )`,
  `create index deleted_files_next on deleted_files (next_try_at, path)`,
];
