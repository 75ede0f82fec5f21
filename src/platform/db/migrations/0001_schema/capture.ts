/**
 * The removal of emails that the rules of an account (`capture`) leave out; see docs/decisions/0074-rules-for-the-past.md. Each account has its
 * newest one. `counting`: all emails of the account are judged, and those to be removed are listed. `removing`: the listed ones are judged
 * again, and deleted. Then it ends: `done`; `refused` when the number is not the confirmed one, so that nothing was removed; `stopped` by an
 * operator, or because the account was changed.
 */
export const CAPTURE = [
  `create table capture_removals (
    account_id account_id primary key,
    id uuid not null unique,
    requested_at timestamptz(3) not null default now(),
    -- The author of the request
    requested_by text not null,
    -- The key that requested it; null for none. Without a reference: it outlives its key.
    author_key text collate "C",
    -- Of the rules of the account at that time; other rules end it
    rules_digest bytea not null check (octet_length(rules_digest) = 32),
    -- How many emails the operator confirmed
    confirmed bigint not null check (confirmed > 0),
    state text not null default 'counting' check (state in ('counting', 'removing', 'done', 'refused', 'stopped')),
    -- How far the emails are judged; null: from the first one
    judged_to text,
    judged bigint not null default 0,
    -- Emails to be removed that were counted so far
    found bigint not null default 0,
    -- Numbers by reason
    removed jsonb not null default '{}' check (jsonb_typeof(removed) = 'object'),
    -- Listed ones that were no longer to be removed when their turn came
    kept bigint not null default 0,
    owner uuid,
    lease_until timestamptz,
    finished_at timestamptz(3),
    check ((finished_at is null) = (state in ('counting', 'removing'))),
    check ((owner is null) = (lease_until is null))
  )`,
  `create index capture_removals_open on capture_removals (requested_at) where finished_at is null`,

  `create table capture_removal_emails (
    removal_id uuid references capture_removals (id) on delete cascade,
    -- Without a reference: an email may be deleted meanwhile
    email_id uuid,
    primary key (removal_id, email_id)
  )`,
];
