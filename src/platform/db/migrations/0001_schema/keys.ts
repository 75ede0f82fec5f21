/**
 * Keys of the API. Only the SHA-256 of a key's secret is stored: the secret has 32 random bytes, so guessing it from its hash is hopeless.
 * Processes keep all keys in memory and check `key_clock` each second for changes.
 */
export const KEYS = [
  // One row; its lock puts changes in the order of their commits.
  `create table key_clock (revision bigint not null default 1)`,
  `create unique index key_clock_one on key_clock ((true))`,
  `insert into key_clock default values`,

  `create table api_keys (
    -- The part of the key that is no secret
    id text collate "C" primary key check (id ~ '^[0-9a-z]{12}$'),
    name text not null check (length(name) between 1 and 100),
    secret_hash bytea not null check (length(secret_hash) = 32),
    -- Accepted as well until then, after a rotation
    old_secret_hash bytea check (length(old_secret_hash) = 32),
    old_secret_until timestamptz,
    rights text[] not null check (rights <@ '{read,draft,send,receive,handle,operate,admin}' and cardinality(rights) > 0),
    -- null: all
    accounts text[] check (cardinality(accounts) > 0),
    -- Requests within a minute; null: as many as the configuration allows
    rate_limit int check (rate_limit > 0),
    created_at timestamptz not null default now(),
    -- Who made it
    created_by jsonb not null,
    expires_at timestamptz,
    -- Within a minute
    last_used_at timestamptz,
    revoked_at timestamptz,
    -- Counts the changes
    version int not null default 1 check (version > 0),
    check ((old_secret_hash is null) = (old_secret_until is null))
  )`,
  `create index api_keys_created_at on api_keys (created_at, id)`,

  // The accounts for which a send teaches addresses of customers: those of its key. An empty name: all. No row of the key: none.
  `create function taught_accounts(author_key text) returns text[] language sql stable parallel safe
    return case when author_key is null then array['']
      else (select coalesce(k.accounts, array['']) from api_keys k where k.id = author_key) end`,
  // What a send teaches that no rule for all accounts says already
  `create function taught_addresses(customer uuid, recipients jsonb, author_key text)
    returns table (address text, customer_id uuid, account_id text) language sql stable parallel safe
    begin atomic
      select distinct lower((a ->> 'address') collate "C"), customer, t.account_id
      from jsonb_array_elements(recipients) a, unnest(taught_accounts(author_key)) t (account_id)
      where not exists (
        select from customer_addresses c
        where c.address = lower((a ->> 'address') collate "C") and c.customer_id = customer and c.account_id = any (array['', t.account_id])
      );
    end`,
  // A send that was recorded before it was accepted
  `create function emails_teach_after_sent() returns trigger language plpgsql as $$
  begin
    if exists (select from taught_addresses(new.customer_id, new.to_addresses, new.author_key)) then
      insert into customer_relinks (email_id) values (new.id);
    end if;
    return null;
  end $$`,
  `create trigger emails_teach_after_sent after update of state on emails for each row
    when (new.state = 'sent' and old.state <> 'sent' and new.direction = 'outbound' and new.customer_source = 'explicit')
    execute function emails_teach_after_sent()`,
];
