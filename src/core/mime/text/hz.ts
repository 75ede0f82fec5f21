/**
 * HZ-GB-2312 (RFC 1843): GB 2312 in seven bits, between `~{` and `~}`. Lenient: the end of a line closes an open sequence,
 * and bytes above ASCII stay as they are.
 */

const [LF, TILDE, OPEN, CLOSE] = [0x0a, 0x7e, 0x7b, 0x7d];

/** The bytes in EUC-CN, which decoders of GBK read. */
export function hzToGbk(bytes: Buffer): Buffer {
  if (!bytes.includes(TILDE)) return bytes;
  // No piece becomes longer than it was.
  const out = Buffer.allocUnsafe(bytes.length);
  let to = 0;
  let isChinese = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    const next = bytes[at + 1] ?? 0;
    if (byte === LF) isChinese = false;
    if (byte === TILDE && next === (isChinese ? CLOSE : OPEN)) {
      isChinese = !isChinese;
      at++;
    } else if (isChinese && isChineseByte(byte) && isChineseByte(next)) {
      out[to++] = byte | 0x80;
      out[to++] = next | 0x80;
      at++;
    } else if (!isChinese && byte === TILDE && (next === TILDE || next === LF)) {
      // A tilde, or a line that continues in the next one.
      if (next === TILDE) out[to++] = TILDE;
      at++;
    } else {
      out[to++] = byte;
    }
  }
  return out.subarray(0, to);
}

/** RFC 1843 has rows 0x21 to 0x77; the others are free. */
function isChineseByte(byte: number): boolean {
  return byte > 0x20 && byte < 0x7f;
}
