/**
 * Automatic answers of accounts whose people are away.
 *
 * `absence_requests` has received emails that may be answered, written with them; a process decides about each and deletes the row.
 * `absence_answers` has the last answer to each person, so that none gets another within seven days. Both go with the received email.
 */
export const ABSENCE = [
  // Addresses that differ in their detail (RFC 5233) reach one mailbox, so that they are one person's.
  `create function person_of(address text) returns text language sql immutable
    return regexp_replace(address, '\\+[^@]*@', '@')`,

  `create table absence_requests (
    email_id uuid primary key references emails on delete cascade,
    account_id account_id not null,
    -- Who gets the answer, in lower case
    address text collate "C" not null check (length(address) <= 320),
    -- In the account's mailbox, or here
    arrived_at timestamptz not null,
    -- It was read from a mailbox, which may have older mail
    is_of_mailbox boolean not null,
    created_at timestamptz not null default now()
  )`,

  `create table absence_answers (
    account_id account_id,
    address text collate "C" not null check (length(address) <= 320),
    person text collate "C" generated always as (person_of(address)) stored,
    -- The one that is answered
    email_id uuid not null references emails on delete cascade,
    -- The answer, which may not be recorded yet. Chosen beforehand, so that a repeat records no second one
    answer_id uuid not null unique default gen_random_uuid(),
    chosen_at timestamptz not null default now(),
    -- When it is put into the queue; null: it was, or it can't be
    next_try_at timestamptz default now(),
    primary key (account_id, person)
  )`,
  `create index absence_answers_email on absence_answers (email_id)`,
  `create index absence_answers_next on absence_answers (next_try_at) where next_try_at is not null`,
  // For the bound on the answers of a day
  `create index absence_answers_chosen on absence_answers (account_id, chosen_at)`,
];
