/** Addresses as people write them in a field, RFC 5322 §3.4. */
import type { Address } from 'email-worker-client';

/** What a display name may hold without quotes (RFC 5322 §3.2.3), and letters of all languages (RFC 6532). */
const PLAIN_NAME = /^[\p{L}\p{N} !#$%&'*+/=?^_`{|}~-]+$/u;

export function formatAddresses(addresses: readonly Address[]): string {
  return addresses
    .map(({ name, address }) => {
      if (name === '') return address;
      return `${PLAIN_NAME.test(name) ? name : `"${name.replace(/["\\]/g, '\\$&')}"`} <${address}>`;
    })
    .join(', ');
}

/** A field of a draft, which may be a list. */
export const toField = (value: string | readonly string[] | null | undefined): string | null =>
  value === null || value === undefined ? null : typeof value === 'string' ? value : value.join(', ');
