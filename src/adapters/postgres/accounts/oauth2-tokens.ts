/** `TokenStore` on PostgreSQL; each call is one statement. Only sealed bytes come here. */
import type { Pool } from 'pg';
import type { KeptTokens, TokenStore } from '../../../app/accounts/token-ports.ts';
import { run, statement, type RowOf } from '../db/statement.ts';

export function createTokenStore(pool: Pool): TokenStore {
  const toKept = ([row]: RowOf<typeof LOAD>[]): KeptTokens | null =>
    row === undefined ? null : { sealed: row.sealed, revision: Number(row.revision) };

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

const LOAD = statement(
  'oauth2-load',
  'select sealed, revision from oauth2_tokens where account_id = $accountId and key_id = $keyId',
);

const LEASE = statement(
  'oauth2-lease',
  `insert into oauth2_tokens as t (account_id, key_id, sealed, leased_by, leased_until)
  values ($accountId, $keyId, ''::bytea, $owner, now() + $leaseMs::int * interval '1 ms')
  on conflict (account_id, key_id) do update set leased_by = $owner, leased_until = excluded.leased_until
  where t.leased_until is null or t.leased_until < now() or t.leased_by = $owner
  returning sealed, revision`,
);

/** Rows of refresh tokens that are no longer configured are deleted after a while: processes may be restarted one by one. */
const SAVE = statement(
  'oauth2-save',
  `with forgotten as (
    delete from oauth2_tokens
    where account_id = $accountId and key_id <> $keyId and updated_at < now() - interval '30 days'
  )
  update oauth2_tokens set sealed = $sealed, revision = revision + 1, updated_at = now(),
    leased_by = case when leased_by = $owner then null else leased_by end,
    leased_until = case when leased_by = $owner then null else leased_until end
  where account_id = $accountId and key_id = $keyId and revision = $revision
  returning account_id`,
);

const RELEASE = statement(
  'oauth2-release',
  `update oauth2_tokens set leased_by = null, leased_until = null
  where account_id = $accountId and key_id = $keyId and leased_by = $owner`,
);
