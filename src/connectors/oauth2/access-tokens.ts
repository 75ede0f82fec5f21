/** `AccessTokens` of all accounts with OAuth2. */
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '../../platform/base/basics.ts';
import type { AccessTokens, TokenStore } from '../../areas/accounts/token-ports.ts';
import { AccountTokens, type OAuth2Account } from './account-tokens.ts';

export interface OAuth2Tokens extends AccessTokens {
  /** Sets the store in which tokens are kept from now on; without it a rotated refresh token is lost with the process. */
  keepIn(store: TokenStore): void;
  /** Replaces the accounts. Those that stay the same keep their tokens. */
  follow(accounts: readonly OAuth2Account[]): void;
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
  const byId = new Map<string, { readonly account: OAuth2Account; readonly tokens: AccountTokens }>();
  const closing = new Set<Promise<void>>();

  function follow(next: readonly OAuth2Account[]): void {
    const ids = new Set(next.map(({ id }) => id));
    for (const [id, { tokens }] of byId) if (!ids.has(id)) end(id, tokens);
    for (const account of next) {
      const known = byId.get(account.id);
      if (known !== undefined && isDeepStrictEqual(known.account, account)) continue;
      if (known !== undefined) end(account.id, known.tokens);
      const tokens = new AccountTokens(account, { store, logger, owner, now });
      byId.set(account.id, { account, tokens });
    }
  }

  function end(id: string, tokens: AccountTokens): void {
    byId.delete(id);
    const closed = tokens.close().finally(() => closing.delete(closed));
    closing.add(closed);
  }

  follow(accounts);
  return {
    follow,
    keepIn(place) {
      kept = place;
    },
    async get(accountId) {
      const tokens = byId.get(accountId)?.tokens;
      if (tokens === undefined) throw new Error(`account ${accountId} has no OAuth2 configuration`);
      return tokens.get();
    },
    reject: (accountId, token) => byId.get(accountId)?.tokens.reject(token),
    warningOf: (accountId) => byId.get(accountId)?.tokens.warning ?? null,
    async close() {
      await Promise.all([...closing, ...[...byId.values()].map(({ tokens }) => tokens.close())]);
    },
  };
}
