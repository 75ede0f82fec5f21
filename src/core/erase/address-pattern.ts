/** The pattern by which texts are searched for addresses that are to be erased. */

/** What may stand in an address beside one, in lower case: there it is another address. */
const BEFORE = '(^|[^a-z0-9.!#$%&*+/=?^_`{|}~-])';
const AFTER = '($|[^a-z0-9.-]|[.]($|[^a-z0-9]))';

/**
 * A regular expression of PostgreSQL (POSIX, for text in lower case) that any of the addresses fulfils, also as JSON writes it.
 * Addresses are in lower case. Matches nothing for no address.
 *
 * @param where `texts` of people and servers, where a longer address is another one; or `keys`, which programs put together
 */
export function addressPattern(addresses: readonly string[], where: 'texts' | 'keys' = 'texts'): string {
  const forms = addresses.flatMap((address) => [address, JSON.stringify(address).slice(1, -1)]);
  // No text has a character before its beginning.
  if (forms.length === 0) return 'x^';
  const any = `(${[...new Set(forms)].map(quote).join('|')})`;
  return where === 'texts' ? `${BEFORE}${any}${AFTER}` : any;
}

const quote = (text: string): string => text.replace(/[^\p{L}\p{N}@_-]/gu, (character) => `\\${character}`);
