/** `TokenStore` on PostgreSQL; each call is one statement. Only sealed bytes come here. */
import type { Pool } from 'pg';
import type { KeptTokens, TokenStore } from '../../../app/accounts/token-ports.ts';
import { createNamedQuery } from '../db/named-query.ts';

interface KeptRow {
  sealed: Buffer;
  revision: string;
}

export function createTokenStore(pool: Pool): TokenStore {
  const query = createNamedQuery(pool);
  const toKept = ([row]: KeptRow[]): KeptTokens | null =>
    row === undefined ? null : { sealed: row.sealed, revision: Number(row.revision) };

  return {
    async load({ accountId, keyId }) {
      return toKept(await query<KeptRow>('oauth2-load', LOAD, [accountId, keyId]));
    },
    async lease({ accountId, keyId }, owner, leaseMs) {
      return toKept(await query<KeptRow>('oauth2-lease', LEASE, [accountId, keyId, owner, leaseMs]));
    },
    async save({ accountId, keyId }, owner, revision, sealed) {
      const rows = await query('oauth2-save', SAVE, [accountId, keyId, owner, revision, sealed]);
      return rows.length > 0;
    },
    async release({ accountId, keyId }, owner) {
      await query('oauth2-release', RELEASE, [accountId, keyId, owner]);
    },
  };
}

const LOAD = `select sealed, revision from oauth2_tokens where account_id = $1 and key_id = $2`;

const LEASE = `
  insert into oauth2_tokens as t (account_id, key_id, sealed, leased_by, leased_until)
  values ($1, $2, ''::bytea, $3, now() + $4::int * interval '1 ms')
  on conflict (account_id, key_id) do update set leased_by = $3, leased_until = excluded.leased_until
  where t.leased_until is null or t.leased_until < now() or t.leased_by = $3
  returning sealed, revision`;

/** Rows of refresh tokens that are no longer configured are deleted after a while: processes may be restarted one by one. */
const SAVE = `
  with forgotten as (
    delete from oauth2_tokens where account_id = $1 and key_id <> $2 and updated_at < now() - interval '30 days'
  )
  update oauth2_tokens set sealed = $5, revision = revision + 1, updated_at = now(),
    leased_by = case when leased_by = $3 then null else leased_by end,
    leased_until = case when leased_by = $3 then null else leased_until end
  where account_id = $1 and key_id = $2 and revision = $4
  returning account_id`;

const RELEASE = `
  update oauth2_tokens set leased_by = null, leased_until = null
  where account_id = $1 and key_id = $2 and leased_by = $3`;
