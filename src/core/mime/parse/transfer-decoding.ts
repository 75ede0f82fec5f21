/**
 * Decodes the Content-Transfer-Encoding of received parts: RFC 2045 §6, in one piece or as a stream with bounded memory.
 * Lenient: never throws, and chunk borders leave no trace.
 *
 * Seen in practice, and accepted: base64 with foreign characters, padding in the middle (joined pieces) or missing;
 * quoted-printable with bare `=`, lower-case digits, spaces at line ends and bare LF.
 */
import { MAX_TRAILING_SPACE_BYTES } from '../limits.ts';
import { trimEnd } from '../../trim-ends.ts';

/** The encoding of a part's bytes; `identity` stands for 7bit, 8bit, binary and any unknown name. */
export type TransferEncoding = 'base64' | 'quoted-printable' | 'uuencode' | 'identity';

/** Decodes in pieces; chunk borders leave no trace. */
export interface TransferDecoder {
  /** Returns the bytes that are decided so far. */
  write(chunk: Buffer): Buffer;
  end(): Buffer;
}

const EMPTY = Buffer.alloc(0);
const [TAB, LF, CR, SPACE, EQUALS] = [0x09, 0x0a, 0x0d, 0x20, 0x3d];

/** Decodes a whole body. */
export function decodeTransfer(encoded: Buffer, encoding: TransferEncoding): Buffer {
  if (encoding === 'identity') return encoded;
  const decoder = createTransferDecoder(encoding);
  const body = decoder.write(encoded);
  return Buffer.concat([body, decoder.end()]);
}

/** Decodes a body chunk by chunk, for example the range of an attachment read from a file. */
export async function* decodeTransferStream(
  chunks: AsyncIterable<Buffer>,
  encoding: TransferEncoding,
): AsyncGenerator<Buffer> {
  const decoder = createTransferDecoder(encoding);
  for await (const chunk of chunks) {
    const decoded = decoder.write(chunk);
    if (decoded.length > 0) yield decoded;
  }
  const last = decoder.end();
  if (last.length > 0) yield last;
}

export function createTransferDecoder(encoding: TransferEncoding): TransferDecoder {
  if (encoding === 'base64') return new Base64Decoder();
  if (encoding === 'quoted-printable') return new QuotedPrintableDecoder();
  if (encoding === 'uuencode') return new UuDecoder();
  return { write: (chunk) => chunk, end: () => EMPTY };
}

/** The six bits of each character; -1 for any other character. URL-safe base64 (RFC 4648 §5) is read as well. */
const BASE64_BITS = new Int8Array(256).fill(-1);
for (const [bits, character] of [
  ...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
].entries()) {
  BASE64_BITS[character.charCodeAt(0)] = bits;
}
BASE64_BITS['-'.charCodeAt(0)] = 62;
BASE64_BITS['_'.charCodeAt(0)] = 63;

/** Works byte by byte: text between the characters, and the number of joined pieces, make no difference. */
class Base64Decoder implements TransferDecoder {
  /** Characters of the current group, 0 to 3, and their bits. */
  #count = 0;
  #bits = 0;

  write(chunk: Buffer): Buffer {
    const out = Buffer.allocUnsafe(Math.ceil(((chunk.length + this.#count) * 3) / 4));
    let count = this.#count;
    let bits = this.#bits;
    let to = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] ?? 0;
      const value = BASE64_BITS[byte] ?? -1;
      if (value >= 0) {
        bits = (bits << 6) | value;
        if (++count < 4) continue;
        out[to] = bits >> 16;
        out[to + 1] = bits >> 8;
        out[to + 2] = bits;
        to += 3;
      } else if (byte === EQUALS) {
        to = putRest(out, to, bits, count);
      } else {
        // RFC 2045 §6.8: characters outside the alphabet are ignored.
        continue;
      }
      count = 0;
      bits = 0;
    }
    this.#count = count;
    this.#bits = bits;
    return out.subarray(0, to);
  }

  end(): Buffer {
    const out = Buffer.allocUnsafe(2);
    return out.subarray(0, putRest(out, 0, this.#bits, this.#count));
  }
}

/** Writes the bytes of a group of fewer than four characters; returns their end. One character does not make a byte. */
function putRest(out: Buffer, to: number, bits: number, count: number): number {
  if (count < 2) return to;
  out[to] = count === 2 ? bits >> 4 : bits >> 10;
  if (count === 2) return to + 1;
  out[to + 1] = bits >> 2;
  return to + 2;
}

/**
 * POSIX uuencode: lines between `begin 644 name` and `end`, of which the first character is their length. Text that begins
 * with neither that line nor an encoded one stays as it is.
 */
class UuDecoder implements TransferDecoder {
  #carry: Buffer = EMPTY;
  #state: 'before' | 'encoded' | 'clear' | 'after' = 'before';

  write(chunk: Buffer): Buffer {
    if (this.#state === 'clear') return chunk;
    const data = this.#carry.length === 0 ? chunk : Buffer.concat([this.#carry, chunk]);
    const pieces: Buffer[] = [];
    let at = 0;
    for (let lf = data.indexOf(LF); lf !== -1; lf = data.indexOf(LF, at)) {
      pieces.push(this.#decodeLine(data.subarray(at, lf + 1)));
      at = lf + 1;
    }
    if (data.length - at > MAX_UU_LINE_BYTES) {
      pieces.push(this.#decodeLine(data.subarray(at)));
      at = data.length;
    }
    this.#carry = Buffer.from(data.subarray(at));
    return Buffer.concat(pieces);
  }

  end(): Buffer {
    const line = this.#carry;
    this.#carry = EMPTY;
    return line.length === 0 ? EMPTY : this.#decodeLine(line);
  }

  #decodeLine(line: Buffer): Buffer {
    if (this.#state === 'clear') return line;
    if (this.#state === 'after') return EMPTY;
    const text = trimEnd(line.toString('latin1'), (one) => one === '\r' || one === '\n');
    const isBefore = this.#state === 'before';
    if (isBefore && text.trim() === '') return EMPTY;
    if (isBefore && /^begin(?:-base64)? [0-7]{3,4} /.test(text)) {
      this.#state = text.startsWith('begin-base64') ? 'clear' : 'encoded';
      return this.#state === 'clear' ? line : EMPTY;
    }
    if (text === 'end') {
      this.#state = 'after';
      return EMPTY;
    }
    const decoded = decodeUuLine(text);
    if (isBefore) this.#state = decoded === null ? 'clear' : 'encoded';
    return decoded ?? (isBefore ? line : EMPTY);
  }
}

/** A line has 61 characters; some programs add one that is a checksum. */
const MAX_UU_LINE_BYTES = 998;

/** null when the line has characters outside of the alphabet, or fewer than its length says. Spaces at its end may be missing. */
function decodeUuLine(text: string): Buffer | null {
  if (text === '' || /[^ -\u0060]/.test(text)) return null;
  const length = (text.charCodeAt(0) - SPACE) & 63;
  const needed = Math.ceil(length / 3) * 4;
  if (text.length - 1 < needed - 4 || text.length - 1 > needed + 2) return null;
  const out = Buffer.alloc((needed / 4) * 3);
  for (let at = 0; at < needed; at += 4) {
    let bits = 0;
    for (let index = 1; index <= 4; index++) {
      const code = text.charCodeAt(at + index);
      bits = (bits << 6) | ((Number.isNaN(code) ? 0 : code - SPACE) & 63);
    }
    out.writeUIntBE(bits & 0xffffff, (at / 4) * 3, 3);
  }
  return out.subarray(0, length);
}

class QuotedPrintableDecoder implements TransferDecoder {
  /** Bytes that can't be decided before more arrive; at most about MAX_TRAILING_SPACE_BYTES. */
  #carry: Buffer = EMPTY;

  write(chunk: Buffer): Buffer {
    return this.#decode(this.#carry.length === 0 ? chunk : Buffer.concat([this.#carry, chunk]), false);
  }

  end(): Buffer {
    return this.#decode(this.#carry, true);
  }

  #decode(data: Buffer, isLast: boolean): Buffer {
    const out = Buffer.allocUnsafe(data.length);
    let to = 0;
    let at = 0;
    while (at < data.length) {
      const byte = data[at] ?? 0;
      const isSpace = byte === SPACE || byte === TAB;
      if (!isSpace && byte !== EQUALS) {
        out[to++] = byte;
        at++;
        continue;
      }
      const next = skipSpaces(data, at + 1);
      const undecided = next >= data.length || (byte === EQUALS && endsInside(data, at, next));
      if (undecided && !isLast && data.length - at <= MAX_TRAILING_SPACE_BYTES) break;
      const endsLine = next >= data.length ? isLast : data[next] === LF || data[next] === CR;
      if (isSpace) {
        // RFC 2045 §6.7 (3): white space at the end of a line was added on the way.
        if (!endsLine) to += data.copy(out, to, at, next);
        at = next;
      } else if (endsLine) {
        // RFC 2045 §6.7 (5): a soft line break.
        at = next + (data[next] === CR && data[next + 1] === LF ? 2 : 1);
      } else {
        const value = hexValue(data[at + 1]) * 16 + hexValue(data[at + 2]);
        out[to++] = Number.isNaN(value) ? EQUALS : value;
        at += Number.isNaN(value) ? 1 : 3;
      }
    }
    this.#carry = Buffer.from(data.subarray(at));
    return out.subarray(0, to);
  }
}

/** True if the text after a `=` may be cut: its last byte is one hex digit, or the CR of a CRLF. */
function endsInside(data: Buffer, at: number, next: number): boolean {
  return (data[next] === CR && next === data.length - 1) || at + 2 >= data.length;
}

function skipSpaces(data: Buffer, from: number): number {
  let at = from;
  while (data[at] === SPACE || data[at] === TAB) at++;
  return at;
}

/** NaN when the byte is not a hexadecimal digit. */
function hexValue(byte: number | undefined): number {
  if (byte === undefined) return Number.NaN;
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : Number.NaN;
}
