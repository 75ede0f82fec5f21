/**
 * Idempotency keys: the request that holds each, and how its send ended. A key without an outcome is open.
 *
 * `email_id` names no row of `emails`: the email is recorded after the key is claimed, or never.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `create table idempotency_keys (
    key text collate "C" primary key check (length(key) <= 256 and key ~ '^[!-~]+$'),
    fingerprint bytea not null check (length(fingerprint) = 32),
    email_id uuid not null,
    instance_id uuid not null,
    -- The request is answered as soon as its email is queued.
    queued boolean not null,
    outcome jsonb check (jsonb_typeof(outcome) = 'object'),
    created_at timestamptz not null default now()
  )`,
  // Deleting expired keys
  `create index idempotency_keys_created_at on idempotency_keys (created_at)`,
  // What an instance has to settle
  `create index idempotency_keys_open on idempotency_keys (instance_id) where outcome is null`,
];
