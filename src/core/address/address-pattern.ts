/** Patterns of addresses, by which rules name a sender or a whole domain. All in lower case. */

/** An address, `*@domain` for all addresses of a domain, or `*@*.domain` for those of the domains below it. */
export const ADDRESS_PATTERN = /^(?:\*@(?:\*\.)?[^\s@*]{1,253}|[^\s@*]{1,64}@[^\s@*]{1,253})$/;

/** True if the address is one of the pattern's. Both are in lower case. */
export function matchesAddress(pattern: string, address: string): boolean {
  if (!pattern.startsWith('*@')) return pattern === address;
  const domain = pattern.slice('*@'.length);
  return domain.startsWith('*.') ? domainOf(address).endsWith(domain.slice(1)) : domainOf(address) === domain;
}

/** What stands behind the last `@`. */
export const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1);
