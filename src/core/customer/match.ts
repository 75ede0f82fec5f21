/**
 * The customer of an email, by the rules alone: the counterparty's address decides, otherwise the most specific rule for
 * its domain. A rule that two customers claim decides nothing. The database does the same for a single email when the
 * email is recorded (areas/customers/match-customer.ts); a property test keeps the two in step.
 */
import { MAX_DOMAIN_OCTETS } from '../address/limits.ts';

/** The rule that decided: one for the address, or one for its domain. */
export type RuleSource = 'address' | 'domain';

/** `ambiguous`: several customers have a claim of the same rank, or several counterparties are of different customers. */
export type Match =
  | { readonly kind: 'customer'; readonly customerId: string; readonly source: RuleSource }
  | { readonly kind: 'ambiguous' }
  | { readonly kind: 'none' };

/** Each method returns customer ids without repeats; empty where no customer has a claim. */
export interface Claims {
  /** Rules set by hand: they outrank the rules learned from sends. */
  registered(address: string): readonly string[];
  learned(address: string): readonly string[];
  domain(rule: string): readonly string[];
}

/** The domain rules that an address falls under, the most specific first; none when the text is not an address. */
export function domainRulesOf(address: string): readonly string[] {
  const at = address.lastIndexOf('@');
  const domain = address.slice(at + 1);
  if (at < 1 || domain === '' || domain.length > MAX_DOMAIN_OCTETS) return [];
  const labels = domain.split('.');
  return [domain, ...labels.slice(1).map((_, index) => `*.${labels.slice(index + 1).join('.')}`)];
}

/** `address` is normalised. */
export function matchAddress(address: string, claims: Claims): Match {
  for (const customers of [claims.registered(address), claims.learned(address)]) {
    if (customers.length > 0) return decide(customers, 'address');
  }
  for (const rule of domainRulesOf(address)) {
    const customers = claims.domain(rule);
    if (customers.length > 0) return decide(customers, 'domain');
  }
  return NONE;
}

/** An email with several counterparties: those that decide must agree; an ambiguous one is ignored beside them. */
export function matchAll(matches: readonly Match[]): Match {
  const deciding = matches.filter((match) => match.kind === 'customer');
  const [first] = deciding;
  if (first === undefined) return matches.find(({ kind }) => kind === 'ambiguous') ?? NONE;
  if (deciding.some(({ customerId }) => customerId !== first.customerId)) return AMBIGUOUS;
  return deciding.find(({ source }) => source === 'address') ?? first;
}

const NONE: Match = { kind: 'none' };
const AMBIGUOUS: Match = { kind: 'ambiguous' };

function decide(customers: readonly string[], source: RuleSource): Match {
  const [customerId, ...others] = customers;
  return customerId === undefined || others.length > 0 ? AMBIGUOUS : { kind: 'customer', customerId, source };
}
