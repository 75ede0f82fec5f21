/**
 * Sessions of browsers, and log-in links. Only the SHA-256 of a token of 32 random bytes is stored. Processes keep all sessions in memory
 * and check `session_clock` each second for changes. The tables hold no address of a person.
 */
export const SESSIONS = [
  // One row; its lock puts changes in the order of their commits.
  `create table session_clock (
    revision bigint not null default 1,
    -- False: no session was ever opened; a start then prints a link
    was_opened boolean not null default false
  )`,
  `create unique index session_clock_one on session_clock ((true))`,
  `insert into session_clock default values`,

  `create table sessions (
    token_hash bytea primary key check (length(token_hash) = 32),
    -- null: opened by API_SECRET
    key_id text collate "C" references api_keys (id),
    -- The hash of the key's secret, or the secret's HMAC of the token
    credential bytea not null check (length(credential) = 32),
    -- The name of the session in lists; no secret
    id uuid not null unique,
    -- Browser and system, such as: Firefox, Linux
    device text not null check (length(device) between 1 and 100),
    -- HMAC of the browser, and over plain http of its address, with the token
    binding bytea not null check (length(binding) = 32),
    created_at timestamptz not null default now(),
    last_used_at timestamptz not null default now(),
    -- Moves on while it is used
    expires_at timestamptz not null,
    ends_at timestamptz not null,
    check (expires_at <= ends_at)
  )`,
  `create index sessions_key_id on sessions (key_id, expires_at)`,

  `create table login_links (
    token_hash bytea primary key check (length(token_hash) = 32),
    key_id text collate "C" references api_keys (id),
    credential bytea not null check (length(credential) = 32),
    expires_at timestamptz not null
  )`,
];
