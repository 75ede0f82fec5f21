/** Page cursors: the place of the last email of a page in the order "newest first", opaque to the caller. */
import { ServiceError } from '../../core/errors.ts';

export interface Place {
  readonly date: Date;
  /** UUID. */
  readonly id: string;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** No email is older; the database holds a little more, but not all that a Date does. */
const EARLIEST_MS = Date.parse('0001-01-01T00:00:00Z');

/** The cursor of the page behind a place; null when there is none. */
export const nextCursor = (place: Place | null): string | null =>
  place === null ? null : formatCursor(place);

/** Base64url without padding. */
export function formatCursor({ date, id }: Place): string {
  return Buffer.from(`${date.getTime()}:${id}`).toString('base64url');
}

/** Throws `invalid_cursor`. */
export function parseCursor(text: string): Place {
  const [milliseconds, id, ...rest] = Buffer.from(text, 'base64url').toString('utf8').split(':');
  const date = new Date(/^-?\d{1,16}$/.test(milliseconds ?? '') ? Number(milliseconds) : NaN);
  if (!(date.getTime() >= EARLIEST_MS) || id === undefined || !UUID.test(id) || rest.length > 0) {
    throw new ServiceError('invalid_cursor');
  }
  return { date, id };
}
