/** Addresses as people write them in a field (RFC 5322 §3.4). */
import type { Address } from 'email-worker-client';
import { shown } from '../../ui/shown.ts';
import { startsIn } from './entries.ts';

/** The characters that a display name may contain without quotes (RFC 5322 §3.2.3), and letters of all languages (RFC 6532). */
const PLAIN_NAME = /^[\p{L}\p{N} !#$%&'*+/=?^_`{|}~-]+$/u;

export function formatAddresses(addresses: readonly Address[]): string {
  return addresses
    .map(({ name: given, address }) => {
      const name = shown(given);
      if (name === '') return address;
      return `${PLAIN_NAME.test(name) ? name : `"${name.replace(/["\\]/g, '\\$&')}"`} <${address}>`;
    })
    .join(', ');
}

/** A field of a draft, which may be a list. */
export const toField = (value: string | readonly string[] | null | undefined): string | null =>
  value === null || value === undefined ? null : typeof value === 'string' ? value : value.join(', ');

/** The start of the address that is being written at the end. */
const lastStart = (field: string): number => startsIn(field).at(-1) ?? 0;

/** The entry that is being written at the end of a field; empty after a comma. */
export const lastEntry = (field: string): string => field.slice(lastStart(field)).trim();

/** The field with an address in place of the unfinished entry, ready for the next one. */
export function completeEntry(field: string, address: Address): string {
  const before = field.slice(0, lastStart(field)).trimEnd();
  return `${before}${before === '' ? '' : ' '}${formatAddresses([address])}, `;
}

/** The field without the comma after the last entry, and without empty entries at the end. */
export function trimEntries(field: string): string {
  let end = field.length;
  while (end > 0 && ', \t\n'.includes(field[end - 1] ?? '')) end -= 1;
  return field.slice(0, end);
}
