/** `AccessTokens` of all accounts with OAuth2. */
import { randomUUID } from 'node:crypto';
import type { Logger } from '../../app/base/basics.ts';
import type { AccessTokens, TokenStore } from '../../app/accounts/token-ports.ts';
import { AccountTokens, type OAuth2Account } from './account-tokens.ts';

export interface OAuth2Tokens extends AccessTokens {
  /** Sets the store in which tokens are kept from now on; without it a rotated refresh token is lost with the process. */
  keepIn(store: TokenStore): void;
  /** Stops the renewals; tokens of a renewal under way are kept first. */
  close(): Promise<void>;
}

/**
 * Connects to no endpoint before the first token is requested.
 *
 * @param now in ms, by a clock that never goes back
 */
export function createAccessTokens(
  accounts: readonly OAuth2Account[],
  logger: Logger,
  now: () => number = () => performance.now(),
): OAuth2Tokens {
  const owner = randomUUID();
  let kept: TokenStore | null = null;
  const store = (): TokenStore => {
    if (kept === null) throw new Error('the database is not open yet');
    return kept;
  };
  const byId = new Map(
    accounts.map((account) => [account.id, new AccountTokens(account, { store, logger, owner, now })]),
  );
  return {
    keepIn(place) {
      kept = place;
    },
    async get(accountId) {
      const tokens = byId.get(accountId);
      if (tokens === undefined) throw new Error(`account ${accountId} has no OAuth2 configuration`);
      return tokens.get();
    },
    reject: (accountId, token) => byId.get(accountId)?.reject(token),
    warningOf: (accountId) => byId.get(accountId)?.warning ?? null,
    async close() {
      await Promise.all([...byId.values()].map((tokens) => tokens.close()));
    },
  };
}
