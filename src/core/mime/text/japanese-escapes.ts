/**
 * ISO-2022-JP (RFC 1468) as sent in practice: with adjacent escape sequences where encoded words or lines were joined.
 * Decoders by WHATWG Encoding treat those as an attack and write U+FFFD. Only the last sequence means anything.
 */

const ESCAPE = 0x1b;

/** The bytes without escape sequences that are directly followed by another one. */
export function joinEscapes(bytes: Buffer): Buffer {
  if (!bytes.includes(ESCAPE)) return bytes;
  const joined = Buffer.allocUnsafe(bytes.length);
  let to = 0;
  let from = 0;
  for (let at = bytes.indexOf(ESCAPE); at !== -1; at = bytes.indexOf(ESCAPE, at)) {
    const length = escapeLength(bytes, at);
    if (length > 0 && escapeLength(bytes, at + length) > 0) {
      to += bytes.copy(joined, to, from, at);
      from = at + length;
    }
    at += Math.max(length, 1);
  }
  to += bytes.copy(joined, to, from);
  return joined.subarray(0, to);
}

/** Length of the sequence at `at`, ISO/IEC 2022: `ESC ( B`, `ESC $ B`, `ESC $ ( D`; 0 for none. */
function escapeLength(bytes: Buffer, at: number): number {
  if (bytes[at] !== ESCAPE) return 0;
  const second = bytes[at + 1];
  const isWide = second === 0x24;
  const isLong = isWide && bytes[at + 2] === 0x28;
  const final = bytes[at + (isLong ? 3 : 2)] ?? 0;
  if ((second !== 0x28 && !isWide) || final < 0x40 || final > 0x5a) return 0;
  return isLong ? 4 : 3;
}
