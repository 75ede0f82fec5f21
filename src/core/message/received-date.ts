/** The time in Received, RFC 5321 §4.4: when the last server took a message. It stands in for a Date that is missing or can't be read. */
import { fieldValues, type HeaderField } from '../mime/parse/header-fields.ts';
import { parseMessageDate } from './date.ts';

/** The topmost one that can be read; null when there is none. */
export function readReceivedDate(fields: readonly HeaderField[]): Date | null {
  for (const value of fieldValues(fields, 'received').slice(0, MAX_READ)) {
    const date = parseMessageDate(value.slice(value.lastIndexOf(';') + 1).trim());
    if (date !== null) return date;
  }
  return null;
}

/** Ours: more servers than a message passes. */
const MAX_READ = 100;
