/**
 * The id of an event: its position in the feed as 16 hexadecimal digits, so that ids sort as text in the order of the feed. Opaque to
 * callers. A position is the day's number since 1970 times 2^36, plus a number within the day; it is exact as a number until 2328.
 */
import { DAY_MS } from '../durations.ts';
import { invalidRequest, ServiceError } from '../errors.ts';

const DIGITS = 16;

/** Before the first event. */
export const START = 0;

export const formatEventId = (position: number): string => position.toString(16).padStart(DIGITS, '0');

/** null when `formatEventId` can't have made the text. */
export function parseEventId(text: string): number | null {
  if (!/^[0-9a-f]{16}$/.test(text)) return null;
  const position = Number.parseInt(text, 16);
  return Number.isSafeInteger(position) ? position : null;
}

/** The position of the id in a request's `after`. Throws `invalid_request`. */
export function readPosition(id: string): number {
  const position = parseEventId(id);
  if (position === null) throw invalidRequest('malformed', { field: 'after' });
  return position;
}

/** The error for a request for events that are no longer kept. @param forgotten the last position that is forgotten */
export function eventsExpired(forgotten: number): ServiceError {
  const id = formatEventId(forgotten);
  return new ServiceError('events_expired', { values: { value: id }, details: id });
}

/** The number of a day (UTC), by which events are forgotten. */
export const dayOf = (at: Date): number => Math.floor(at.getTime() / DAY_MS);
