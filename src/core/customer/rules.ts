/**
 * The rules a caller registers for a customer, and their canonical spelling: addresses and domains in lower-case ASCII
 * letters, domains as A-labels (RFC 5890).
 *
 * `ann+news@example.org` and `ann@example.org` are different addresses: the receiving host decides whether a `+`
 * separates a detail (RFC 5233).
 */
import { addrSpec } from '../address/address.ts';
import { parseAddress } from '../address/address-list.ts';
import { toAsciiDomain } from '../address/domain.ts';
import { ServiceError } from '../errors.ts';
import { MAX_CUSTOMER_ADDRESSES, MAX_CUSTOMER_DOMAINS } from './limits.ts';
import { isPublicDomain } from './public-domain.ts';

/** Normalised, without repeats, in the order given. */
export interface CustomerRules {
  /** `local@domain`. */
  readonly addresses: readonly string[];
  /** `example.org`, or `*.example.org` for everything below it. */
  readonly domains: readonly string[];
}

/** Longer than any sensible address with a name or comment, in UTF-16 units. */
const MAX_ADDRESS_CHARS = 1000;

/** Names listed in an error; there may be hundreds. */
const MAX_NAMED = 10;

/**
 * Throws `too_many_entries`, `invalid_address`, `invalid_domain`, `header_injection`, and `public_domain`, which names
 * all such domains at once.
 *
 * @param addresses null: an entry that is no rule
 */
export function parseCustomerRules(
  addresses: readonly (string | null)[],
  domains: readonly string[],
): CustomerRules {
  const given = [...addresses.entries()].filter((entry): entry is [number, string] => entry[1] !== null);
  refuseMoreThan(MAX_CUSTOMER_ADDRESSES, given, 'addresses');
  refuseMoreThan(MAX_CUSTOMER_DOMAINS, domains, 'domains');
  const rules = {
    addresses: unique(given.map(([index, text]) => readAddressRule(text, `addresses[${index}]`))),
    domains: unique(domains.map((text, index) => readDomainRule(text, `domains[${index}]`))),
  };
  const open = rules.domains.filter((rule) => isPublicDomain(domainOf(rule), isWildcard(rule)));
  if (open.length > 0) {
    const more = open.length > MAX_NAMED ? ', …' : '';
    throw new ServiceError('public_domain', {
      values: { value: open.slice(0, MAX_NAMED).join(', ') + more },
    });
  }
  return rules;
}

/** The spelling in which addresses are compared. As in the database, non-ASCII letters keep their case. */
export function normaliseAddress(address: string): string {
  return address.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** Throws `invalid_domain`. */
export function readDomainRule(text: string, field: string): string {
  const wildcard = text.startsWith('*.');
  const domain = toAsciiDomain(wildcard ? text.slice(2) : text);
  if (domain === null) throw new ServiceError('invalid_domain', { values: { field, value: text } });
  return wildcard ? `*.${domain}` : domain;
}

export const isWildcard = (rule: string): boolean => rule.startsWith('*.');

/** The domain of a rule, without the `*.` of a wildcard. */
export const domainOf = (rule: string): string => (isWildcard(rule) ? rule.slice(2) : rule);

/** Throws `invalid_address`, `header_injection`. */
export function readAddressRule(text: string, field: string): string {
  if (text.length > MAX_ADDRESS_CHARS) {
    throw new ServiceError('invalid_address', { values: { field, value: text } });
  }
  return normaliseAddress(addrSpec(parseAddress(text, field)));
}

function refuseMoreThan(limit: number, entries: readonly unknown[], field: string): void {
  if (entries.length > limit) throw new ServiceError('too_many_entries', { values: { field, limit } });
}

const unique = (texts: readonly string[]): readonly string[] => [...new Set(texts)];
