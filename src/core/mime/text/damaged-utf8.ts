/**
 * UTF-8 that contains other bytes: cut, damaged on the way, or with a piece of another charset, such as a footer. Valid
 * sequences are read as UTF-8, every other byte as windows-1252.
 */

/** Characters of windows-1252 for the bytes 0x80 to 0xff, in UTF-8. */
export type HighBytes = readonly Buffer[];

/**
 * The text in well-formed UTF-8; null when most of the text above ASCII is not UTF-8, so that it is in another charset.
 * A sequence cut off by the end of the text becomes U+FFFD. `high` has 128 entries.
 */
export function repairUtf8(bytes: Buffer, high: HighBytes): Buffer | null {
  const pieces: Buffer[] = [];
  let from = 0;
  let valid = 0;
  let broken = 0;
  for (let at = 0; at < bytes.length;) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x80) {
      at++;
      continue;
    }
    const length = sequenceLength(bytes, at);
    if (length > 0) {
      valid++;
      at += length;
      continue;
    }
    if (from < at) pieces.push(bytes.subarray(from, at));
    const isCut = isCutByEnd(bytes, at);
    pieces.push(isCut ? REPLACEMENT : (high[byte - 0x80] ?? REPLACEMENT));
    broken++;
    at = isCut ? bytes.length : at + 1;
    from = at;
  }
  if (valid < broken || valid === 0) return null;
  pieces.push(bytes.subarray(from));
  return Buffer.concat(pieces);
}

const REPLACEMENT = Buffer.from('\ufffd');

/** Length of the valid UTF-8 sequence (RFC 3629 §4) at a byte above ASCII; 0 when there is none. */
function sequenceLength(bytes: Buffer, at: number): number {
  const length = announcedLength(bytes[at] ?? 0);
  if (length === 0) return 0;
  const second = bytes[at + 1] ?? 0;
  const [least, most] = secondByte(bytes[at] ?? 0);
  if (second < least || second > most) return 0;
  for (let next = at + 2; next < at + length; next++) if (!isContinuation(bytes[next] ?? 0)) return 0;
  return length;
}

/** The sequence length that the first byte announces; 0 for a byte that begins none. */
function announcedLength(byte: number): number {
  if (byte >= 0xc2 && byte <= 0xdf) return 2;
  if (byte >= 0xe0 && byte <= 0xef) return 3;
  return byte >= 0xf0 && byte <= 0xf4 ? 4 : 0;
}

/** Bounds of the second byte: no overlong forms, surrogates, or characters beyond U+10FFFF. */
function secondByte(first: number): readonly [least: number, most: number] {
  if (first === 0xe0) return [0xa0, 0xbf];
  if (first === 0xed) return [0x80, 0x9f];
  if (first === 0xf0) return [0x90, 0xbf];
  return first === 0xf4 ? [0x80, 0x8f] : [0x80, 0xbf];
}

function isContinuation(byte: number): boolean {
  return byte >= 0x80 && byte <= 0xbf;
}

/** True if the text ends within a sequence that is valid so far. */
function isCutByEnd(bytes: Buffer, at: number): boolean {
  const length = announcedLength(bytes[at] ?? 0);
  if (length === 0 || at + length <= bytes.length) return false;
  for (let next = at + 1; next < bytes.length; next++) if (!isContinuation(bytes[next] ?? 0)) return false;
  return true;
}
