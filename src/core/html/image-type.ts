/** The type of a file by its first bytes, for files that a browser may show in the page. */

/** Bytes that are needed. */
export const SIGNATURE_BYTES = 16;

/** The type of a raster image; null for anything else, also for an SVG, which can contain scripts. */
export function rasterImageType(start: Buffer): string | null {
  const has = (signature: string, at = 0) =>
    start.subarray(at, at + signature.length).toString('latin1') === signature;
  if (has('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (has('\xff\xd8\xff')) return 'image/jpeg';
  if (has('GIF87a') || has('GIF89a')) return 'image/gif';
  if (has('RIFF') && has('WEBP', 8)) return 'image/webp';
  if (has('ftypavif', 4) || has('ftypavis', 4)) return 'image/avif';
  // The lengths after it are small, so a text that begins with BM does not match.
  if (has('BM') && start.length >= 14 && start.readUInt32LE(6) === 0) return 'image/bmp';
  // A list of up to 255 pictures; the last of these bytes is reserved.
  if (has('\0\0\x01\0') && start.length >= 10 && start[4] !== 0 && start[5] === 0 && start[9] === 0)
    return 'image/x-icon';
  return null;
}

/**
 * The type under which a file is shown in the page: a raster image's by its bytes, whatever the declared type; a
 * declared PDF if its bytes are one; and declared plain text, which browsers show as text and nothing else. null: the file
 * may only be downloaded.
 */
export function inlineType(declared: string, start: Buffer): string | null {
  const image = rasterImageType(start);
  if (image !== null) return image;
  const [type = ''] = declared.toLowerCase().split(';');
  if (type.trim() === 'application/pdf') {
    return start.subarray(0, 5).toString('latin1') === '%PDF-' ? 'application/pdf' : null;
  }
  if (type.trim() !== 'text/plain') return null;
  const [, charset] = CHARSET.exec(declared) ?? [];
  return charset === undefined ? 'text/plain' : `text/plain; charset=${charset.toLowerCase()}`;
}

/** Charsets in which ASCII is ASCII: in others, such as UTF-7, a browser may read a text differently from the check here. */
const CHARSET =
  /;[ \t]*charset[ \t]*=[ \t]*"?(utf-8|us-ascii|iso-8859-\d{1,2}|windows-125\d)"?[ \t]*(?:;|$)/i;
