/**
 * Copies of sent emails that are to be put into the Sent mailboxes of their accounts, and where they were put.
 *
 * The statement that makes an email `sent`, whichever it is, also makes the row of its copy; emails without a copy cost nothing. A claim of
 * a copy is marked by `claim_id`, and the copy is due again when the lease of the claim runs out.
 */
/** By then a quota is raised, a password renewed, and a server back. */
export const GIVE_UP_AFTER = `interval '5 days'`;

export const SENT_COPIES = [
  `create table sent_copies (
    email_id uuid primary key references emails on delete cascade,
    account_id account_id not null,
    state text collate "C" not null default 'pending' check (state in ('pending', 'stored', 'failed')),
    -- Of a pending one: when it is tried next, or its claim runs out
    due_at timestamptz not null default clock_timestamp(),
    give_up_at timestamptz not null default clock_timestamp() + ${GIVE_UP_AFTER},
    claim_id uuid,
    tries int not null default 0 check (tries >= 0),
    last_error text check (length(last_error) <= 1000),
    last_error_at timestamptz,
    ended_at timestamptz,
    path text,
    uid_validity bigint,
    uid bigint,
    -- It was in the mailbox before
    was_there boolean,
    check ((state = 'pending') = (ended_at is null)),
    check ((state = 'stored') = (path is not null)),
    check ((last_error is null) = (last_error_at is null))
  )`,
  // The due copies of an account, and the open copies of all accounts
  `create index sent_copies_open on sent_copies (account_id, state, due_at) where state <> 'stored'`,
  `create index sent_copies_claim on sent_copies (claim_id) where claim_id is not null`,

  `create function emails_sent_copies_after_sent() returns trigger language plpgsql as $$
  begin
    insert into sent_copies (email_id, account_id) values (new.id, new.account_id) on conflict do nothing;
    return null;
  end $$`,
  `create trigger emails_sent_copies_after_sent after insert or update of state on emails for each row
    when (new.keeps_copy and new.state = 'sent') execute function emails_sent_copies_after_sent()`,
];
