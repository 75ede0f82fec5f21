/**
 * Mailboxes that are read by IMAP: the processes that read them and the accounts that each of them has, how far each mailbox was read, and
 * what became of each message.
 *
 * A message waits while it has no email, is not gone, is not left out and is not set aside; `next_try_at` is the earliest time of its next try. `email_id`
 * has no foreign key: deleting an email must not make its message wait again.
 *
 * Operators see counts without a million rows being counted: triggers maintain the counts, so code that writes messages of mailboxes need
 * not know about them.
 */

/** Why a message is not recorded. What a migration holds may never change, so these are written out. */
const LEFT_OUT = ['address', 'subject', 'internal', 'private', 'stranger'] as const;

/** Column of `mailboxes` → the condition of the messages that it counts. */
const COUNTS = {
  messages: 'true',
  recorded: 'email_id is not null',
  expunged: 'expunged_at is not null',
  quarantined: 'quarantined_at is not null and expunged_at is null',
  waiting: 'email_id is null and quarantined_at is null and left_out is null and expunged_at is null',
  ...Object.fromEntries(LEFT_OUT.map((reason) => [`left_out_${reason}`, `left_out = '${reason}'`])),
};

const sums = Object.entries(COUNTS)
  .map(([name, condition]) => `coalesce(sum(sign) filter (where ${condition}), 0) as ${name}`)
  .join(', ');
const additions = Object.keys(COUNTS)
  .map((name) => `${name} = b.${name} + d.${name}`)
  .join(', ');
const COLUMNS = 'mailbox_id, email_id, expunged_at, quarantined_at, left_out';

/** `changes`: rows with `sign` 1 for the new state, -1 for the old one. */
const addUp = (changes: string) => `
  update mailboxes b set ${additions}
  from (select mailbox_id, ${sums} from (${changes}) c group by mailbox_id) d
  where b.id = d.mailbox_id
    and (${Object.keys(COUNTS)
      .map((name) => `d.${name} <> 0`)
      .join(' or ')})`;

const trigger = (event: 'insert' | 'update' | 'delete', tables: string, changes: string) => [
  `create function mailbox_messages_after_${event}() returns trigger language plpgsql as $$
  begin
    ${addUp(changes)};
    return null;
  end $$`,
  `create trigger mailbox_messages_count_${event} after ${event} on mailbox_messages
    referencing ${tables} for each statement execute function mailbox_messages_after_${event}()`,
];

const IS = `select ${COLUMNS}, 1 as sign from is_now`;
const WAS = `select ${COLUMNS}, -1 as sign from was`;

export const MAILBOXES = [
  `create table mailbox_accounts (
    account_id account_id primary key,
    owner uuid,
    lease_until timestamptz,
    last_attempt_at timestamptz,
    next_attempt_at timestamptz,
    last_error text,
    last_error_kind text check (last_error_kind in ('credentials', 'connection', 'refused', 'service')),
    last_error_at timestamptz,
    -- When INBOX was first opened; null: not since the account was created, or got other mailboxes
    connected_at timestamptz,
    -- Since then INBOX can't be read, although it was tried again; null: it was read to its end after the last such error
    failing_since timestamptz,
    -- When the operators got their mail about this failure; null: not yet
    notified_at timestamptz,
    check (notified_at is null or failing_since is not null),
    -- Digest of the rules that left its messages out; null: no rules
    judged_by bytea,
    check ((owner is null) = (lease_until is null)),
    check ((last_error is null) = (last_error_kind is null) and (last_error is null) = (last_error_at is null))
  )`,

  `create table mailbox_readers (
    owner uuid primary key,
    -- That it is configured to read
    account_ids text[] not null,
    alive_until timestamptz not null
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
    ${Object.keys(COUNTS)
      .map((name) => `${name} bigint not null default 0,`)
      .join('\n    ')}
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
    -- Set aside since then; with milliseconds, as cursors have them
    quarantined_at timestamptz,
    quarantine_id uuid,
    -- subject, from (name, address), date, size_bytes; while it has no email, and once its header was read
    header_summary jsonb,
    -- How many of its delays it had since it was set aside, or since an operator asked for a try
    quarantine_delays int not null default 0 check (quarantine_delays >= 0),
    -- Knows the message again under another UID
    arrival_digest bytea check (octet_length(arrival_digest) = 32),
    -- The rule of the account that left it out
    left_out text check (left_out in ('${LEFT_OUT.join("', '")}')),
    left_out_at timestamptz,
    -- SHA-256, for a month: to find out why an email is missing
    message_id_digest bytea check (octet_length(message_id_digest) = 32),
    -- It answers an email that may be recorded later than itself: since when it is left out, and when it is judged again
    answers_since timestamptz,
    judge_again_at timestamptz,
    primary key (mailbox_id, uid_validity, uid),
    check (email_id is null or (quarantined_at is null and left_out is null)),
    check (quarantined_at is null or left_out is null),
    check ((left_out is null) = (left_out_at is null)),
    constraint mailbox_messages_quarantine check ((quarantined_at is null) = (quarantine_id is null))
  )`,
  // Messages that wait or are set aside, the newest first
  `create index mailbox_messages_waiting on mailbox_messages (mailbox_id, uid_validity, uid desc)
    where email_id is null and left_out is null and expunged_at is null`,
  `create index mailbox_messages_judged on mailbox_messages (mailbox_id) where left_out is not null`,
  `create index mailbox_messages_judge_again on mailbox_messages (mailbox_id, judge_again_at)
    where judge_again_at is not null`,
  `create index mailbox_messages_left_out on mailbox_messages (message_id_digest) where message_id_digest is not null`,
  `create index mailbox_messages_forget on mailbox_messages (left_out_at)
    where message_id_digest is not null`,
  `create index mailbox_messages_email on mailbox_messages (email_id) where email_id is not null`,
  `create unique index mailbox_messages_quarantine_id on mailbox_messages (quarantine_id)
    where quarantine_id is not null`,
  `create index mailbox_messages_quarantined on mailbox_messages (quarantined_at desc, quarantine_id desc)
    where quarantined_at is not null and expunged_at is null`,

  ...trigger('insert', 'new table as is_now', IS),
  ...trigger('update', 'old table as was new table as is_now', `${IS} union all ${WAS}`),
  ...trigger('delete', 'old table as was', WAS),
];
