/** `TokenStore` on PostgreSQL; each call is one statement. It only ever gets sealed bytes. */
import type { Pool } from 'pg';
import type { KeptTokens, TokenStore } from './token-ports.ts';
import { fromNow } from '../../platform/db/from-now.ts';
import { run, statement, type Executor, type RowOf } from '../../platform/db/statement.ts';

export function createTokenStore(pool: Pool): TokenStore {
  const toKept = ([row]: RowOf<typeof LOAD>[]): KeptTokens | null =>
    row === undefined ? null : { sealed: row.sealed, revision: Number(row.revision), ageMs: row.age_ms };

  return {
    async load({ accountId, keyId }) {
      return toKept(await run(pool, LOAD, { accountId, keyId }));
    },
    async lease({ accountId, keyId }, owner, leaseMs) {
      return toKept(await run(pool, LEASE, { accountId, keyId, owner, leaseMs }));
    },
    async save({ accountId, keyId }, owner, revision, sealed) {
      return (await run(pool, SAVE, { accountId, keyId, owner, revision, sealed })).length > 0;
    },
    async release({ accountId, keyId }, owner) {
      await run(pool, RELEASE, { accountId, keyId, owner });
    },
  };
}

/** Forgets the tokens of an account that is deleted. */
export async function forgetTokens(executor: Executor, accountId: string): Promise<void> {
  await run(executor, FORGET, { accountId });
}

const FORGET = statement('oauth2-forget', 'delete from oauth2_tokens where account_id = $accountId');

const AGE_MS = '(extract(epoch from now() - updated_at) * 1000)::float8 as age_ms';

const LOAD = statement(
  'oauth2-load',
  `select sealed, revision, ${AGE_MS} from oauth2_tokens where account_id = $accountId and key_id = $keyId`,
).narrow<{ age_ms: number }>();

const LEASE = statement(
  'oauth2-lease',
  `insert into oauth2_tokens as t (account_id, key_id, sealed, owner, lease_until)
  values ($accountId, $keyId, ''::bytea, $owner, ${fromNow('$leaseMs')})
  on conflict (account_id, key_id) do update set owner = $owner, lease_until = excluded.lease_until
  where t.lease_until is null or t.lease_until < now() or t.owner = $owner
  returning sealed, revision, ${AGE_MS}`,
).narrow<{ age_ms: number }>();

/** Rows of refresh tokens that are no longer configured are deleted after a while: processes may be restarted one by one. */
const SAVE = statement(
  'oauth2-save',
  `with forgotten as (
    delete from oauth2_tokens
    where account_id = $accountId and key_id <> $keyId and updated_at < now() - interval '30 days' and clock_is_certain()
  )
  update oauth2_tokens set sealed = $sealed, revision = revision + 1, updated_at = now(),
    owner = case when owner = $owner then null else owner end,
    lease_until = case when owner = $owner then null else lease_until end
  where account_id = $accountId and key_id = $keyId and revision = $revision
  returning account_id`,
);

const RELEASE = statement(
  'oauth2-release',
  `update oauth2_tokens set owner = null, lease_until = null
  where account_id = $accountId and key_id = $keyId and owner = $owner`,
);
