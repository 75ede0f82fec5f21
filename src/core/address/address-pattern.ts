/** Patterns of addresses, by which rules name a sender or a whole domain. All in lower case. */

import { toAsciiDomain } from './domain.ts';

/** An address, `*@domain` for all addresses of a domain, or `*@*.domain` for those of the domains below it. */
export const ADDRESS_PATTERN = /^(?:\*@(?:\*\.)?[^\s@*]{1,253}|[^\s@*]{1,64}@[^\s@*]{1,253})$/;

/**
 * The pattern as received addresses are compared with it: in lower case, with the A-labels of its domain (RFC 5890 §2.3.2.1). null: it is no
 * pattern, or what it names is no domain.
 */
export function toAddressPattern(text: string): string | null {
  const pattern = text.normalize('NFC').toLowerCase();
  if (!ADDRESS_PATTERN.test(pattern)) return null;
  const named = pattern.replace(/^[^@]*@(?:\*\.)?/, '');
  const domain = toAsciiDomain(named);
  return domain === null ? null : `${pattern.slice(0, pattern.length - named.length)}${domain}`;
}

/** True if the address is one of the pattern's. Both are in lower case. */
export function matchesAddress(pattern: string, address: string): boolean {
  if (!pattern.startsWith('*@')) return pattern === address;
  const domain = pattern.slice('*@'.length);
  return domain.startsWith('*.') ? domainOf(address).endsWith(domain.slice(1)) : domainOf(address) === domain;
}

/** What stands behind the last `@`. */
export const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1);
