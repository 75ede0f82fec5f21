/** List-Id, the mailing list that a message came by (RFC 2919). Text beside the identifier is for people and is left out. */
import { fieldValue, type HeaderField } from '../mime/parse/header-fields.ts';

/** RFC 2919 §3. */
export const MAX_LIST_ID_CHARS = 255;

/** Printable ASCII; RFC 2919 §3 allows less. Seen in practice: names of one word, underscores, and identifiers without brackets. */
const LIST_ID = /^[!-;=?-~]{1,255}$/;

/** Lower-case, without angle brackets; null when the field is missing or contains no valid identifier. */
export function readListId(fields: readonly HeaderField[]): string | null {
  const value = fieldValue(fields, 'list-id');
  if (value === null) return null;
  const end = value.lastIndexOf('>');
  const start = value.lastIndexOf('<', end);
  return parseListId(start === -1 || end === -1 ? value : value.slice(start + 1, end));
}

/** The same for a caller's value, with or without brackets. */
export function parseListId(text: string): string | null {
  const whole = text.trim();
  const bare = whole.startsWith('<') && whole.endsWith('>') ? whole.slice(1, -1).trim() : whole;
  return LIST_ID.test(bare) ? bare.toLowerCase() : null;
}
