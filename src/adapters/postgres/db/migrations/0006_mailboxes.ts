/**
 * Mailboxes that are read by IMAP: which process reads an account, how far each mailbox was read, and what became of each
 * message.
 *
 * A message waits while it has no email, is not gone and is not set aside; `next_try_at` says from when on it may be
 * tried. `email_id` has no foreign key: deleting an email must not make its message wait again.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `create table mailbox_accounts (
    account_id account_id primary key,
    owner uuid,
    lease_until timestamptz,
    last_attempt_at timestamptz,
    next_attempt_at timestamptz,
    last_error text,
    last_error_kind text check (last_error_kind in ('credentials', 'connection', 'refused', 'service')),
    last_error_at timestamptz,
    check ((owner is null) = (lease_until is null)),
    check ((last_error is null) = (last_error_kind is null) and (last_error is null) = (last_error_at is null))
  )`,

  `create table mailboxes (
    id uuid primary key default gen_random_uuid(),
    account_id account_id not null references mailbox_accounts,
    path text not null,
    special_use text,
    -- Of the last time it was opened and everything that followed from that was recorded; null: never
    uid_validity bigint check (uid_validity between 0 and 4294967295),
    uid_next bigint check (uid_next between 1 and 4294967296),
    message_count bigint not null default 0 check (message_count >= 0),
    highest_modseq numeric(20),
    since timestamptz,
    -- Rows of other generations may be left
    has_older boolean not null default false,
    last_success_at timestamptz,
    last_error text,
    last_error_at timestamptz,
    -- Since then it is not read any more
    left_at timestamptz,
    unique (account_id, path),
    check ((last_error is null) = (last_error_at is null))
  )`,

  `create table mailbox_messages (
    mailbox_id uuid references mailboxes on delete cascade,
    uid_validity bigint,
    uid bigint check (uid between 1 and 4294967295),
    email_id uuid,
    seen_at timestamptz not null default now(),
    expunged_at timestamptz,
    tries int not null default 0 check (tries >= 0),
    next_try_at timestamptz not null default now(),
    last_error text,
    quarantined_at timestamptz,
    primary key (mailbox_id, uid_validity, uid),
    check (email_id is null or quarantined_at is null)
  )`,
  // What waits or is set aside, the newest first
  `create index mailbox_messages_waiting on mailbox_messages (mailbox_id, uid_validity, uid desc)
    where email_id is null and expunged_at is null`,
  `create index mailbox_messages_email on mailbox_messages (email_id) where email_id is not null`,
  `create index mailbox_messages_quarantined on mailbox_messages (quarantined_at desc, mailbox_id, uid)
    where quarantined_at is not null`,
];
