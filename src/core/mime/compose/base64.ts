/**
 * Base64 in lines, RFC 2045 §6.8, for bytes in memory or in chunks.
 */
import { BASE64_BLOCK_BYTES, BASE64_LINE_BYTES } from '../limits.ts';

/** The two characters in the machine's byte order. */
const CRLF = new Uint16Array(Uint8Array.of(0x0d, 0x0a).buffer)[0] as number;
const LINE_PAIRS = ((BASE64_LINE_BYTES / 3) * 4) / 2;

/** Octets that encodeBase64Lines returns for this many bytes in one piece. */
export function base64LinesOctets(sizeBytes: number): number {
  const lines = Math.ceil(sizeBytes / BASE64_LINE_BYTES);
  return Math.ceil(sizeBytes / 3) * 4 + Math.max(0, lines - 1) * 2;
}

/**
 * Encodes bytes in lines of 76 characters with CRLF between them, none after the last. When `continued`, the result also
 * begins with CRLF; the previous pieces must then have been whole lines (multiples of 57 bytes).
 *
 * Lines are copied two characters at a time, since all output has an even length: 915 MB/s with Node.js 20 and 1,520 with
 * 24, against 610 and 720 by looking each character up, and 330 by breaking the text as a string.
 */
export function encodeBase64Lines(bytes: Uint8Array, continued = false): Buffer {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
  const encoded = Buffer.allocUnsafeSlow(text.length);
  encoded.write(text, 'latin1');
  const pairs = new Uint16Array(encoded.buffer, encoded.byteOffset, text.length / 2);
  const lead = continued && bytes.length > 0 ? 2 : 0;
  const out = new Uint16Array((lead + base64LinesOctets(bytes.length)) / 2);
  let to = 0;
  for (let from = 0; from < pairs.length;) {
    if (from > 0 || lead > 0) out[to++] = CRLF;
    const lineEnd = Math.min(from + LINE_PAIRS, pairs.length);
    while (from < lineEnd) out[to++] = pairs[from++] as number;
  }
  return Buffer.from(out.buffer);
}

/** Like encodeBase64Lines, for chunks of any size, with about two blocks in memory. Chunk borders leave no trace. */
export async function* streamBase64Lines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  let continued = false;
  for await (const chunk of chunks) {
    for (let from = 0; from < chunk.length; from += BASE64_BLOCK_BYTES) {
      const piece = chunk.subarray(from, from + BASE64_BLOCK_BYTES);
      pending.push(piece);
      pendingBytes += piece.length;
      if (pendingBytes < BASE64_BLOCK_BYTES) continue;
      const joined = Buffer.concat(pending, pendingBytes);
      const wholeLines = joined.length - (joined.length % BASE64_LINE_BYTES);
      yield encodeBase64Lines(joined.subarray(0, wholeLines), continued);
      continued = true;
      pending = [joined.subarray(wholeLines)];
      pendingBytes = joined.length - wholeLines;
    }
  }
  if (pendingBytes > 0) yield encodeBase64Lines(Buffer.concat(pending, pendingBytes), continued);
}
