/** The version of what is registered for a customer, as ETag and for If-Match (RFC 9110 §13.1.1). */
import { hash } from 'node:crypto';
import { ServiceError } from '../../core/errors.ts';
import type { CustomerRegistration } from './customer-ports.ts';

/** Entity tags of versions have up to nine digits. */
const VERSIONS = 999_999_999;

type Registered = Pick<CustomerRegistration, 'name' | 'companyId' | 'addresses' | 'domains'>;

/**
 * A number that follows from the content: the same content has the same version, and other content another one, but for one case in a billion. What
 * sends teach is no part of it, since nobody who replaces the lists replaces that.
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
