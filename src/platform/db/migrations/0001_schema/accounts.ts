/**
 * `accounts` are those that are managed by the API; see docs/decisions/0065-accounts-at-run-time.md. `settings` has what may be shown,
 * `sealed` what must not be read here: `key_id` names its key.
 *
 * `oauth2_tokens` has tokens from OAuth2 token endpoints: rotated refresh tokens and access tokens, sealed with a key that is derived from the configured
 * refresh token, so they can't be read here. `key_id` names that key: a new refresh token begins a new row. `owner` is renewing the token
 * until `lease_until`.
 */
export const ACCOUNTS = [
  // One row; its lock puts changes in the order of their commits, and every process compares the number.
  `create table account_clock (version bigint not null default 0)`,
  `create unique index account_clock_one on account_clock ((true))`,
  `insert into account_clock default values`,

  `create table accounts (
    id account_id primary key,
    settings jsonb not null check (jsonb_typeof(settings) = 'object' and jsonb_typeof(settings -> 'from') = 'string'),
    sealed bytea not null,
    key_id bytea not null check (length(key_id) = 16),
    version int not null default 1 check (version > 0),
    paused_at timestamptz,
    -- The key that named its mailboxes; null: none did
    author_key text collate "C",
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now()
  )`,

  // The newest link that asks the owner of the mailboxes for a consent: its state, and sealed what proves the answer
  `create table account_consents (
    account_id account_id primary key references accounts on delete cascade,
    state_hash bytea not null unique check (length(state_hash) = 32),
    sealed bytea not null,
    return_url text,
    expires_at timestamptz not null
  )`,

  `create table oauth2_tokens (
    account_id text not null,
    key_id bytea not null check (length(key_id) = 16),
    sealed bytea not null,
    revision bigint not null default 0,
    owner text,
    lease_until timestamptz,
    updated_at timestamptz not null default now(),
    primary key (account_id, key_id)
  )`,
];
