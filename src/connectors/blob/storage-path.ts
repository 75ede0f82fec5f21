/** The paths that both blob stores accept and refuse. */

import { IDENTITY_NAME } from './identity.ts';

/** The longest name in the file systems in use, in octets of UTF-8. */
const MAX_SEGMENT_BYTES = 255;
/** The limit of an S3 key, in octets of UTF-8. */
const MAX_PATH_BYTES = 1024;
/** The first segment of the paths that the stores keep for themselves begins with it. */
const RESERVED_START = '.';

/**
 * The segments of a relative path with `/`. Throws a plain error, since callers make the paths, for an absolute path, an empty segment,
 * `.`, `..`, a backslash, NUL, a lone surrogate, something too long, a leading dot
 * or the name of the identity.
 */
export function parseStoragePath(path: string): readonly [string, ...string[]] {
  const [first = '', ...rest] = path.split('/');
  const segments = [first, ...rest] as const;
  if (
    !path.isWellFormed() ||
    Buffer.byteLength(path) > MAX_PATH_BYTES ||
    first.startsWith(RESERVED_START) ||
    path === IDENTITY_NAME ||
    segments.some(isUnsafe)
  ) {
    throw new Error(`not a storage path: ${JSON.stringify(path)}`);
  }
  return segments;
}

function isUnsafe(segment: string): boolean {
  return (
    segment === '' ||
    segment === '.' ||
    segment === '..' ||
    /[\0\\]/.test(segment) ||
    Buffer.byteLength(segment) > MAX_SEGMENT_BYTES
  );
}
