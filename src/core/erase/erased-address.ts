/**
 * The placeholder for an erased address that has to be recognised when it comes again: a keyed digest in the form of an
 * address. The function `erased_address` of the schema computes the same.
 */
import { keyedDigest, type DigestKey } from './keyed-digest.ts';

const DOMAIN = '@erased.invalid';

export const isErasedAddress = (address: string): boolean => address.endsWith(DOMAIN);

/** @param address in lower case */
export const erasedAddress = (key: DigestKey, address: string): string =>
  keyedDigest(key, `address:${address}`) + DOMAIN;
