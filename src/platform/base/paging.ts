/** Lists that are read page by page: a cursor is the place of a page's last entry, opaque to the caller. */
import { ServiceError } from '../../core/errors.ts';

/** The place of an email, or of an entry that is listed like one, in the order "newest first". */
export interface Place {
  readonly date: Date;
  /** UUID. */
  readonly id: string;
}

export interface CursorForm<At> {
  /** Null for null, the first page. Throws `invalid_cursor`. */
  parse(cursor: string | null): At | null;
  /** Base64url without padding; null for null, the last page. */
  format(place: At | null): string | null;
}

export interface PageRequest {
  /** The maximum number of entries of a page: 1 to 200. */
  readonly limit: number;
  /** `nextCursor` of the previous page; null for the first page. */
  readonly cursor: string | null;
}

/** @param fromText null: the text is not a valid place */
export function createCursorForm<At>(
  toText: (place: At) => string,
  fromText: (text: string) => At | null,
): CursorForm<At> {
  return {
    parse(cursor) {
      if (cursor === null) return null;
      const place = fromText(Buffer.from(cursor, 'base64url').toString('utf8'));
      if (place === null) throw new ServiceError('invalid_cursor');
      return place;
    },
    format: (place) => (place === null ? null : Buffer.from(toText(place)).toString('base64url')),
  };
}

export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** No email is older; the database holds a little more, but not the whole range of a Date. */
const EARLIEST_MS = Date.parse('0001-01-01T00:00:00Z');

export const PLACE_CURSOR = createCursorForm<Place>(
  ({ date, id }) => `${date.getTime()}:${id}`,
  (text) => {
    const [, milliseconds, id = ''] = /^(-?\d{1,16}):(.*)$/s.exec(text) ?? [];
    const date = new Date(Number(milliseconds));
    return date.getTime() >= EARLIEST_MS && UUID.test(id) ? { date, id } : null;
  },
);

/**
 * Reads one page.
 *
 * @param read returns the entries behind a place, at most `limit`: one more than fits the page shows that another page
 * exists
 */
export async function readPage<At, Item>(
  form: CursorForm<At>,
  { limit, cursor }: PageRequest,
  read: (after: At | null, limit: number) => Promise<readonly Item[]>,
  placeOf: (item: Item) => At,
): Promise<{ readonly items: readonly Item[]; readonly nextCursor: string | null }> {
  const { page, last } = splitPage(await read(form.parse(cursor), limit + 1), limit);
  return { items: page, nextCursor: form.format(last === null ? null : placeOf(last)) };
}

/**
 * The page of `found`, which has one extra entry when another page exists. `last`: the last entry of the page in that
 * case, else null.
 */
export function splitPage<Item>(
  found: readonly Item[],
  limit: number,
): { readonly page: readonly Item[]; readonly last: Item | null } {
  const page = found.slice(0, limit);
  return { page, last: found.length > limit ? (page.at(-1) ?? null) : null };
}
