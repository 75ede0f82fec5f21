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
    rights text[] not null check (rights <@ '{read,draft,send,receive,operate,admin}' and cardinality(rights) > 0),
    -- null: all
    accounts text[] check (cardinality(accounts) > 0),
    created_at timestamptz not null default now(),
    -- Who made it
    created_by jsonb not null,
    expires_at timestamptz,
    -- Within a minute
    last_used_at timestamptz,
    revoked_at timestamptz,
    check ((old_secret_hash is null) = (old_secret_until is null))
  )`,
  `create index api_keys_created_at on api_keys (created_at, id)`,
];
