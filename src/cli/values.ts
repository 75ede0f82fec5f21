/** Option values that are more than a word. All functions throw UsageError with the option's name. */
import { parseServiceUrl } from '../config/config-commands.ts';
import { parseMoment } from '../core/moment.ts';
import { UsageError } from './command.ts';

/** A day in UTC, or a moment with its time zone (RFC 3339). */
export function parseDate(option: string, text: string): Date {
  const date = parseMoment(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text);
  if (date === null)
    throw new UsageError(`${option} must be a date such as 2026-01-31 or 2026-01-31T12:00:00Z`);
  return date;
}

/** The address of a service. */
export const parseUrl = (option: string, text: string): URL =>
  parseServiceUrl(text, (reason) => new UsageError(`${option} ${reason}`));

/** Returned in lower case. */
export function parseUuid(option: string, text: string): string {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) {
    throw new UsageError(`${option} must be an id such as 0198c0de-0000-7000-8000-000000000000`);
  }
  return text.toLowerCase();
}
