/**
 * Tokens as stored in the database: sealed with a key derived from the configured refresh token and client secret, so tokens of another
 * configuration can't be opened. See app/base/sealing.ts.
 */
import { createSeal } from '../../app/base/sealing.ts';

export interface HeldTokens {
  readonly refreshToken: string;
  readonly accessToken: string;
  /** The times when the access token was requested and when it expires; ms since 1970. */
  readonly obtainedAt: number;
  readonly expiresAt: number;
}

export interface Sealer {
  /** Identifies the key without revealing it; 16 bytes. */
  readonly keyId: Buffer;
  seal(tokens: HeldTokens): Buffer;
  /** null when another key sealed it. */
  open(sealed: Buffer): HeldTokens | null;
}

export function createSealer(
  accountId: string,
  config: { readonly refreshToken: string; readonly clientId: string; readonly clientSecret: string | null },
): Sealer {
  // JSON separates the three: no two configurations produce the same text.
  const secret = JSON.stringify([config.refreshToken, config.clientSecret, config.clientId]);
  const { keyId, seal, open } = createSeal(secret, 'oauth2');
  return {
    keyId,
    seal: (tokens) => seal(JSON.stringify(tokens), accountId),
    open(sealed) {
      const text = open(sealed, accountId);
      return text === null ? null : readTokens(text);
    },
  };
}

function readTokens(text: string): HeldTokens | null {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null) return null;
  const { refreshToken, accessToken, obtainedAt, expiresAt } = value as Readonly<Record<string, unknown>>;
  if (typeof refreshToken !== 'string' || typeof accessToken !== 'string') return null;
  if (typeof obtainedAt !== 'number' || typeof expiresAt !== 'number') return null;
  return { refreshToken, accessToken, obtainedAt, expiresAt };
}
