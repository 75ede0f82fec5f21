/**
 * The fields of an act for the security log and the audit log: who and what it concerns, and its result. No content of an
 * email, and no address that a log would keep beyond its time.
 */
import type { Fields } from './audit/record-act.ts';
import type { CustomerRegistration } from './customers/customer-ports.ts';
import type { ThreadChange } from './threads/thread-record-ports.ts';

/** Entries of a list that are logged; beyond them only their number. */
const MAX_TOLD = 100;

export function toRegistrationFields({ companyId, addresses, domains }: CustomerRegistration): Fields {
  return {
    companyId,
    addresses: addresses.slice(0, MAX_TOLD).map(({ address }) => address),
    addressCount: addresses.length,
    domains: domains.slice(0, MAX_TOLD).map(({ domain }) => domain),
    domainCount: domains.length,
  };
}

export function changedFields({
  version: _version,
  authorKeyId: _key,
  ...change
}: ThreadChange): readonly string[] {
  return Object.entries(change).flatMap(([field, value]) =>
    value === undefined || (Array.isArray(value) && value.length === 0 && field !== 'labels') ? [] : [field],
  );
}
