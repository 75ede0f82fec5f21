/**
 * Entity tags in conditional requests, RFC 9110 §8.8.3 and §13.1.
 */

/** One entity tag of a list; quotes kept, `W/` apart. */
const ENTITY_TAG = /(?:W\/)?("[\u0021\u0023-\u007e\u0080-\u00ff]*")/g;

/** If-None-Match: `*`, or a list with our tag, compared weakly. */
export function isUnchanged(header: string, etag: string): boolean {
  if (header.trim() === '*') return true;
  for (const match of header.matchAll(ENTITY_TAG)) if (match[1] === etag) return true;
  return false;
}

/** If-Range: our tag, compared strongly. A date is never the same: files have no Last-Modified. */
export function isSameEntity(header: string, etag: string): boolean {
  return header.trim() === etag;
}
