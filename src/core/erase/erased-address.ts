/**
 * The placeholder for an erased address that has to be recognised when it comes again: a keyed digest in the form of an
 * address. The function `erased_address` of the schema computes the same.
 */
import { createHash } from 'node:crypto';

/** 64 bytes each; see the schema's `digest_key`. */
export interface DigestKey {
  readonly inner: Buffer;
  readonly outer: Buffer;
}

const DOMAIN = '@erased.invalid';

export const isErasedAddress = (address: string): boolean => address.endsWith(DOMAIN);

/** @param address in lower case */
export function erasedAddress({ inner, outer }: DigestKey, address: string): string {
  const within = createHash('sha256').update(inner).update(`address:${address}`).digest();
  return createHash('sha256').update(outer).update(within).digest('hex') + DOMAIN;
}
