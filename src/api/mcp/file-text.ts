/**
 * A piece of a file as text, if the file is text. Mail programs say little about a file's type and nothing about its encoding, so the bytes
 * decide: UTF-8, else Windows-1252; a file with a NUL or another control character is not text.
 */
import type { Piece } from './untrusted.ts';

/** Files of other types are not examined. Programs use application/octet-stream when they know nothing better. */
const TEXT_TYPE =
  /^(text\/|message\/rfc822|application\/(octet-stream|json|xml|csv|x-yaml|yaml|sql|javascript|ics|[a-z0-9.-]{1,80}\+(json|xml))\s*(;|$))/i;

// C0 without tab, line feed, form feed and carriage return.
// eslint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000b\u000e-\u001a\u001c-\u001f]/;

export const mayBeText = (contentType: string): boolean => TEXT_TYPE.test(contentType);

/**
 * @param bytes of the file from `offset` on, up to a bound
 *
 * @returns null when they are not text; `next_offset` counts bytes, and is never within a character
 */
export function textPieceOf(bytes: Uint8Array, offset: number, sizeBytes: number): Piece | null {
  const begin = offset === 0 ? 0 : lengthOfRest(bytes);
  const end = offset + bytes.length < sizeBytes ? endOfWhole(bytes) : bytes.length;
  const next = offset + bytes.length < sizeBytes;
  const utf8 = decode('utf-8', bytes.subarray(begin, end));
  // Without UTF-8 each character has one byte, so none is cut.
  const [text, taken] = utf8 === null ? [decode('windows-1252', bytes), bytes.length] : [utf8, end];
  if (text === null || CONTROL.test(text)) return null;
  return { untrusted_text: text, next_offset: next && taken > 0 ? offset + taken : null };
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** Number of bytes of a character that began before these. */
function lengthOfRest(bytes: Uint8Array): number {
  let length = 0;
  while (length < 3 && isContinuation(bytes[length])) length += 1;
  return length;
}

/** The end of the last complete character (RFC 3629 §3). */
function endOfWhole(bytes: Uint8Array): number {
  let start = bytes.length - 1;
  while (start > bytes.length - 4 && isContinuation(bytes[start])) start -= 1;
  const first = bytes[start] ?? 0;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  return start + length > bytes.length ? start : bytes.length;
}

function decode(encoding: string, bytes: Uint8Array): string | null {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
