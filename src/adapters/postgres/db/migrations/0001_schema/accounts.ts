/**
 * Tokens from OAuth2 token endpoints: rotated refresh tokens and access tokens, sealed with a key that is derived from the configured
 * refresh token, so they can't be read here. `key_id` names that key: a new refresh token begins a new row. `owner` is renewing the token
 * until `lease_until`.
 */
export const ACCOUNTS = [
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
