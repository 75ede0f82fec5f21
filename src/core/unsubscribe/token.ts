/**
 * The token at the end of an unsubscribe address: the recipient and the list, sealed (AES-256-GCM), so that nothing can be
 * read from it or forged, and no table of tokens is needed. Mail is kept for years, so a token never expires.
 */
import { createCipheriv, createDecipheriv } from 'node:crypto';

export interface Subscription {
  readonly accountId: string;
  readonly list: string;
  /** In the form of deliveryAddressKey. */
  readonly address: string;
  /** The email that contains the token. */
  readonly emailId: string;
}

export const TOKEN_KEY_BYTES = 32;
export const TOKEN_NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Longer than any token made here, in characters; an address has 320 octets at most. */
export const MAX_TOKEN_CHARS = 1000;

/** Letters, digits, `-` and `_`. @param nonce unguessable, and never used twice with a key */
export function sealToken(key: Buffer, nonce: Buffer, subscription: Subscription): string {
  const { accountId, list, address, emailId } = subscription;
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  const text = JSON.stringify([accountId, list, address, emailId]);
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString(
    'base64url',
  );
}

/** null when sealToken did not make it with this key. The tag is compared in constant time. */
export function openToken(key: Buffer, token: string): Subscription | null {
  if (token.length > MAX_TOKEN_CHARS) return null;
  const bytes = Buffer.from(token, 'base64url');
  // Another text for the same bytes is not a token of ours.
  if (bytes.length <= TOKEN_NONCE_BYTES + TAG_BYTES || bytes.toString('base64url') !== token) return null;
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, TOKEN_NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  const sealed = bytes.subarray(TOKEN_NONCE_BYTES, -TAG_BYTES);
  let text: string;
  try {
    text = decipher.update(sealed, undefined, 'utf8') + decipher.final('utf8');
  } catch {
    return null;
  }
  const [accountId, list, address, emailId] = JSON.parse(text) as readonly [string, string, string, string];
  return { accountId, list, address, emailId };
}
