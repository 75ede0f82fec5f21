/** Content-IDs, RFC 2392, by which HTML refers to the files that it shows. */
import { ServiceError } from '../../errors.ts';
import { MAX_CONTENT_ID_CHARS } from '../limits.ts';

/** Printable ASCII that is allowed in angle brackets, in an attribute of HTML and in a URL, where `%` would be decoded. */
const CONTENT_ID = /^[A-Za-z0-9!#$&*+./=?@^_{|}~-]+$/;

/**
 * A caller's Content-ID, with or without angle brackets. RFC 2045 §7 wants a domain in it. Seen in practice: every reader
 * accepts a plain word. Throws `invalid_content_id`.
 */
export function readContentId(text: string, field: string): string {
  const id = text.replace(/^<(.*)>$/, '$1');
  if (!isContentId(id)) {
    throw new ServiceError('invalid_content_id', { values: { field } });
  }
  return id;
}

/** True for one that can be sent as it is. */
export const isContentId = (id: string): boolean => CONTENT_ID.test(id) && id.length <= MAX_CONTENT_ID_CHARS;

/** The Content-IDs that HTML refers to. Collected once: a search for each attachment would be quadratic. */
export function contentIdsIn(html: string): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const [, id = ''] of html.matchAll(/\bcid:([^"'\s<>)]{1,998})/gi)) {
    ids.add(id);
    try {
      ids.add(decodeURIComponent(id));
    } catch {
      // The id is not percent-encoded; it is already added as it is.
    }
  }
  return ids;
}
