/** Values of options that are more than a word. All throw UsageError with the option's name. */
import { UsageError } from './command.ts';

/** A day in UTC, or a moment with its zone (RFC 3339). */
export function parseDate(option: string, text: string): Date {
  const isDate = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/.test(text);
  const date = new Date(isDate ? text : NaN);
  if (Number.isNaN(date.getTime())) {
    throw new UsageError(`${option} must be a date such as 2026-01-31 or 2026-01-31T12:00:00Z`);
  }
  return date;
}
