/**
 * Entity tags in conditional requests, RFC 9110 §8.8.3 and §13.1.
 */

import { ServiceError } from '../../../core/errors.ts';

/** One entity tag of a list; the group includes the quotes but not `W/`. */
const ENTITY_TAG = /(?:W\/)?("[\u0021\u0023-\u007e\u0080-\u00ff]*")/g;

/** If-None-Match: `*`, or a list with our tag, compared weakly. */
export function isUnchanged(header: string, etag: string): boolean {
  if (header.trim() === '*') return true;
  for (const match of header.matchAll(ENTITY_TAG)) if (match[1] === etag) return true;
  return false;
}

/** If-Match, RFC 9110 §13.1.1: `*`, or a list with our tag, compared strongly. */
export function isMatched(header: string, etag: string): boolean {
  if (header.trim() === '*') return true;
  for (const [tag] of header.matchAll(ENTITY_TAG)) if (tag === etag) return true;
  return false;
}

/** If-Match with one strong tag that is a version, such as `"3"`; null without the header and for `*`, undefined for anything else. */
export function readVersion(header: string | undefined): number | null | undefined {
  const text = header?.trim() ?? '*';
  if (text === '*') return null;
  const version = /^"([1-9]\d{0,8})"$/.exec(text)?.[1];
  return version === undefined ? undefined : Number(version);
}

/** The header for the schema of an operation that uses `wantedVersion`. */
export const ifMatch = (description: string) => ({ 'If-Match': { type: 'string', description } }) as const;

/** The version that If-Match requires; null: any version. Throws `version_required` when the header is not a version. */
export function wantedVersion(header: string | undefined): number | null {
  const version = readVersion(header);
  if (version === undefined) throw new ServiceError('version_required');
  return version;
}

/** The same for a change that must name a version. Throws `version_required` without the header and for `*`, too. */
export function requiredVersion(header: string | undefined): number {
  const version = wantedVersion(header);
  if (version === null) throw new ServiceError('version_required');
  return version;
}

/** If-Range: our tag, compared strongly. A date never matches: files have no Last-Modified. */
export function isSameEntity(header: string, etag: string): boolean {
  return header.trim() === etag;
}
