/**
 * Secrets as they are stored in the database: AES-256-GCM (NIST SP 800-38D) with a key from HKDF (RFC 5869) over a
 * configured secret. With the database alone nothing can be read. The owner is part of the authenticated data, so a row
 * can't be moved to another owner.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

export interface Seal {
  /** Identifies the key without revealing it; 16 bytes. */
  readonly keyId: Buffer;
  seal(text: string, owner: string): Buffer;
  /** null when it was not sealed by this key for that owner. */
  open(sealed: Uint8Array, owner: string): string | null;
}

/** The first byte of a sealed text; another format would have a different one. */
const FORMAT = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** @param purpose keeps the keys of different uses of one secret apart */
export function createSeal(secret: string, purpose: string): Seal {
  const derive = (use: string, bytes: number): Buffer =>
    Buffer.from(hkdfSync('sha256', secret, '', `email-worker ${purpose} ${use}`, bytes));
  const key = derive('key', 32);

  return {
    keyId: derive('key id', 16),
    seal(text, owner) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(owner));
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([Buffer.of(FORMAT), nonce, body, cipher.getAuthTag()]);
    },
    open(sealed, owner) {
      if (sealed.length <= 1 + NONCE_BYTES + TAG_BYTES || sealed[0] !== FORMAT) return null;
      const nonce = sealed.subarray(1, 1 + NONCE_BYTES);
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
        decipher.setAAD(Buffer.from(owner)).setAuthTag(sealed.subarray(-TAG_BYTES));
        const body = sealed.subarray(1 + NONCE_BYTES, -TAG_BYTES);
        return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
      } catch {
        return null;
      }
    },
  };
}
