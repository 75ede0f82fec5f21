/** HMAC-SHA-256 (RFC 2104) under the key of a database, for what was erased or deleted and has to be recognised. */
import { createHash } from 'node:crypto';

/** 64 bytes each; see the schema's `digest_key`. */
export interface DigestKey {
  readonly inner: Buffer;
  readonly outer: Buffer;
}

/** In lower-case hex. The function `keyed_digest` of the schema computes the same. */
export function keyedDigest({ inner, outer }: DigestKey, text: string): string {
  const within = createHash('sha256').update(inner).update(text).digest();
  return createHash('sha256').update(outer).update(within).digest('hex');
}
