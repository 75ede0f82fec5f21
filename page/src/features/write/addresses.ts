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

/** Where the address begins that is being written at the end of a field. Commas in quotes and comments part nothing. */
function lastStart(field: string): number {
  let start = 0;
  let isQuoted = false;
  let depth = 0;
  for (let at = 0; at < field.length; at += 1) {
    const char = field[at];
    if (char === '\\') at += 1;
    else if (char === '"' && depth === 0) isQuoted = !isQuoted;
    else if (char === '(' && !isQuoted) depth += 1;
    else if (char === ')' && depth > 0) depth -= 1;
    else if (char === ',' && !isQuoted && depth === 0) start = at + 1;
  }
  return start;
}

/** What is being written at the end of a field; empty behind a comma. */
export const lastEntry = (field: string): string => field.slice(lastStart(field)).trim();

/** The field with an address in place of what was being written, ready for the next one. */
export function completeEntry(field: string, address: Address): string {
  const before = field.slice(0, lastStart(field)).trimEnd();
  return `${before}${before === '' ? '' : ' '}${formatAddresses([address])}, `;
}

/** Without the comma behind the last one, and what is empty. */
export function trimEntries(field: string): string {
  let end = field.length;
  while (end > 0 && ', \t\n'.includes(field[end - 1] ?? '')) end -= 1;
  return field.slice(0, end);
}
