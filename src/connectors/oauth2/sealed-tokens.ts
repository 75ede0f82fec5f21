/**
 * Tokens as stored in the database: sealed with a key derived from the configured refresh token and secrets, so tokens of another
 * configuration can't be opened. See platform/base/sealing.ts.
 */
import { createSeal } from '../../platform/base/sealing.ts';
import type { TokenEndpoint } from './token-endpoint.ts';

export interface HeldTokens {
  /** null: it needs none. */
  readonly refreshToken: string | null;
  readonly accessToken: string;
  /** When the access token was requested and when it expires, by the steady clock of this process, in ms. */
  readonly obtainedAt: number;
  readonly expiresAt: number;
}

export interface Sealer {
  /** Identifies the key without revealing it; 16 bytes. */
  readonly keyId: Buffer;
  /** @param now by that clock */
  seal(tokens: HeldTokens, now: number): Buffer;
  /** null when another key sealed it. @param sealedAt by that clock, however long ago another process sealed it */
  open(sealed: Buffer, sealedAt: number): HeldTokens | null;
}

export function createSealer(
  accountId: string,
  config: Pick<TokenEndpoint, 'clientId' | 'clientSecret' | 'ownGrant'> & {
    readonly refreshToken: string | null;
  },
): Sealer {
  // JSON separates them: no two configurations produce the same text.
  const secret = JSON.stringify([config.refreshToken, config.clientSecret, config.clientId, config.ownGrant]);
  const { keyId, seal, open } = createSeal(secret, 'oauth2');
  return {
    keyId,
    seal: ({ refreshToken, accessToken, obtainedAt, expiresAt }, now) =>
      seal(
        JSON.stringify({
          refreshToken,
          accessToken,
          ageMs: now - obtainedAt,
          lifetimeMs: expiresAt - obtainedAt,
        }),
        accountId,
      ),
    open(sealed, sealedAt) {
      const text = open(sealed, accountId);
      return text === null ? null : readTokens(text, sealedAt);
    },
  };
}

/** Durations: clocks of processes differ. */
function readTokens(text: string, sealedAt: number): HeldTokens | null {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null) return null;
  const { refreshToken, accessToken, ageMs, lifetimeMs } = value as Readonly<Record<string, unknown>>;
  if ((typeof refreshToken !== 'string' && refreshToken !== null) || typeof accessToken !== 'string')
    return null;
  if (typeof ageMs !== 'number' || typeof lifetimeMs !== 'number') return null;
  const obtainedAt = sealedAt - ageMs;
  return { refreshToken, accessToken, obtainedAt, expiresAt: obtainedAt + lifetimeMs };
}
