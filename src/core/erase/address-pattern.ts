/** The pattern that finds addresses to be erased in texts. */

/** Excludes neighbouring characters that can be part of an address, in lower case: with one of them it is another address. */
const BEFORE = '(^|[^a-z0-9.!#$%&*+/=?^_`{|}~-])';
const AFTER = '($|[^a-z0-9.-]|[.]($|[^a-z0-9]))';

/**
 * A regular expression of PostgreSQL (POSIX, for text in lower case) that matches any of the addresses, also as JSON writes
 * it. Addresses are in lower case. Without addresses it matches nothing.
 *
 * @param where `texts` of people and servers, where a longer address is another one; or `keys`, which programs build from addresses
 */
export function addressPattern(addresses: readonly string[], where: 'texts' | 'keys' = 'texts'): string {
  const forms = addresses.flatMap((address) => [address, JSON.stringify(address).slice(1, -1)]);
  // No text has a character before its beginning.
  if (forms.length === 0) return 'x^';
  const any = `(${[...new Set(forms)].map(quote).join('|')})`;
  return where === 'texts' ? `${BEFORE}${any}${AFTER}` : any;
}

const quote = (text: string): string => text.replace(/[^\p{L}\p{N}@_-]/gu, (character) => `\\${character}`);
