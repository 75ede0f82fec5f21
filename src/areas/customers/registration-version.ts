/** The version of what is registered for a customer, as ETag and for If-Match (RFC 9110 §13.1.1). */
import { hash } from 'node:crypto';
import { ServiceError } from '../../core/errors.ts';
import type { CustomerRegistration } from './customer-ports.ts';

/** Entity tags of versions have up to nine digits. */
const VERSIONS = 999_999_999;

type Registered = Pick<CustomerRegistration, 'name' | 'companyId' | 'addresses' | 'domains'>;

/**
 * A hash of the content: different contents have the same version in one case of a billion. Learned addresses are left out, since a caller who
 * replaces the lists does not replace them.
 */
export function versionOfRegistration({ name, companyId, addresses, domains }: Registered): number {
  const registered = addresses.filter(({ origin }) => origin === 'registered').map(({ address }) => address);
  const content = [name, companyId, registered.toSorted(), domains.map(({ domain }) => domain).toSorted()];
  return 1 + (Number.parseInt(hash('sha256', JSON.stringify(content)).slice(0, 12), 16) % VERSIONS);
}

/** Throws `customer_changed`. @param wanted null: any version */
export function refuseOtherVersion(wanted: number | null, stored: CustomerRegistration): void {
  const version = versionOfRegistration(stored);
  if (wanted !== null && wanted !== version)
    throw new ServiceError('customer_changed', { details: String(version) });
}
