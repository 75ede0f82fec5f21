/**
 * Tokens as they lie in the database: AES-256-GCM (NIST SP 800-38D) with a key from HKDF (RFC 5869) over the configured
 * refresh token and client secret. With the database alone nothing can be read, and tokens of another configuration
 * can't be opened. The account is part of what is authenticated, so a row can't be moved to another one.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

export interface HeldTokens {
  readonly refreshToken: string;
  readonly accessToken: string;
  /** When the access token was asked for, and when it ends; ms since 1970. */
  readonly obtainedAt: number;
  readonly expiresAt: number;
}

export interface Sealer {
  /** Names the key without telling it; 16 bytes. */
  readonly keyId: Buffer;
  seal(tokens: HeldTokens): Buffer;
  /** null for what this key did not seal. */
  open(sealed: Buffer): HeldTokens | null;
}

/** The first byte of a sealed text; another format would have another one. */
const FORMAT = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export function createSealer(
  accountId: string,
  config: { readonly refreshToken: string; readonly clientId: string; readonly clientSecret: string | null },
): Sealer {
  // JSON keeps the three apart: no two configurations make the same text.
  const secret = JSON.stringify([config.refreshToken, config.clientSecret, config.clientId]);
  const derive = (purpose: string, bytes: number): Buffer =>
    Buffer.from(hkdfSync('sha256', secret, '', `email-worker oauth2 ${purpose}`, bytes));
  const key = derive('key', 32);
  const account = Buffer.from(accountId);

  return {
    keyId: derive('key id', 16),
    seal(tokens) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(account);
      const text = Buffer.concat([cipher.update(JSON.stringify(tokens), 'utf8'), cipher.final()]);
      return Buffer.concat([Buffer.of(FORMAT), nonce, text, cipher.getAuthTag()]);
    },
    open(sealed) {
      if (sealed.length <= 1 + NONCE_BYTES + TAG_BYTES || sealed[0] !== FORMAT) return null;
      const nonce = sealed.subarray(1, 1 + NONCE_BYTES);
      const text = sealed.subarray(1 + NONCE_BYTES, -TAG_BYTES);
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
        decipher.setAAD(account).setAuthTag(sealed.subarray(-TAG_BYTES));
        return readTokens(
          JSON.parse(Buffer.concat([decipher.update(text), decipher.final()]).toString('utf8')),
        );
      } catch {
        return null;
      }
    },
  };
}

function readTokens(value: unknown): HeldTokens | null {
  if (typeof value !== 'object' || value === null) return null;
  const { refreshToken, accessToken, obtainedAt, expiresAt } = value as Readonly<Record<string, unknown>>;
  if (typeof refreshToken !== 'string' || typeof accessToken !== 'string') return null;
  if (typeof obtainedAt !== 'number' || typeof expiresAt !== 'number') return null;
  return { refreshToken, accessToken, obtainedAt, expiresAt };
}
