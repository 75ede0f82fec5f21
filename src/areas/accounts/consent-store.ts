/** Consents that were asked for, in PostgreSQL: one for each account, and the newest link counts. What must not be read is sealed. */
import type { Pool } from 'pg';
import { fromNow } from '../../platform/db/from-now.ts';
import { run, statement } from '../../platform/db/statement.ts';
import { hashSecret } from '../../platform/access/hash-secret.ts';

export interface AskedConsent {
  readonly accountId: string;
  readonly sealed: Buffer;
  /** null: the owner sees a page of the service at the end. */
  readonly returnUrl: string | null;
}

export type ConsentStore = ReturnType<typeof createConsentStore>;

/** All throw `ServiceError('database_unavailable')`. */
export function createConsentStore(pool: Pool) {
  return {
    /** Replaces an earlier one; null: the account does not exist. Returns when it ends. */
    async ask(state: string, { accountId, sealed, returnUrl }: AskedConsent, lifetimeMs: number) {
      const [row] = await run(pool, ASK, {
        state: hashSecret(state),
        accountId,
        sealed,
        returnUrl,
        lifetimeMs,
      });
      return row?.expires_at ?? null;
    },

    /** Only once, and not after its end. */
    async take(state: string): Promise<AskedConsent | null> {
      const [row] = await run(pool, TAKE, { state: hashSecret(state) });
      return row === undefined
        ? null
        : { accountId: row.account_id, sealed: row.sealed, returnUrl: row.return_url };
    },
  };
}

const ASK = statement(
  'ask-consent',
  `insert into account_consents as c (account_id, state_hash, sealed, return_url, expires_at)
  select a.id, $state, $sealed, $returnUrl::text, ${fromNow('$lifetimeMs')} from accounts a where a.id = $accountId
  on conflict (account_id) do update set state_hash = excluded.state_hash, sealed = excluded.sealed,
    return_url = excluded.return_url, expires_at = excluded.expires_at
  returning expires_at`,
);

const TAKE = statement(
  'take-consent',
  `delete from account_consents where state_hash = $state and expires_at > now() returning account_id, sealed, return_url`,
);
