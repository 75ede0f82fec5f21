/**
 * Line ends of an incoming message: CRLF and LF are left alone. Seen in practice: messages of old programs on Mac OS, without
 * any LF, where every line ends in CR; each such CR becomes an LF, so that every byte keeps its offset.
 */
import { MAX_LINE_PIECE_BYTES } from '../limits.ts';
import { ByteCollector } from './byte-collector.ts';

const LF = 0x0a;
const CR = 0x0d;
const EMPTY = Buffer.alloc(0);

/** After a byte order mark (UTF-8): a field, and after its CR another field, a folded line or the end of the header. */
const HEADER_WITH_CR =
  /^(?:\u00ef\u00bb\u00bf)?\r*[!-9;-~]{1,200}[ \t]*:[^\r]*\r(?:[!-9;-~]{1,200}[ \t]*:|[ \t\r])/;

/** Chunk borders leave no trace. */
export class LineEnds {
  /** null until it is known whether lines end in CR alone. */
  #isCrOnly: boolean | null = null;
  /** The beginning of the message, while it has no LF. */
  readonly #beginning = new ByteCollector();
  /** The last byte was a CR that an LF may follow. */
  #hasCr = false;

  /** The bytes that are decided so far; the chunk itself where nothing has to change. */
  write(chunk: Buffer): Buffer {
    if (this.#isCrOnly !== null) return this.#isCrOnly ? this.#replace(chunk) : chunk;
    const known = this.#beginning.length;
    const next = chunk.subarray(0, MAX_LINE_PIECE_BYTES - known);
    const hasLf = next.includes(LF);
    if (hasLf && known === 0) {
      this.#isCrOnly = false;
      return chunk;
    }
    this.#beginning.append(next);
    if (!hasLf && this.#beginning.length < MAX_LINE_PIECE_BYTES) return EMPTY;
    return Buffer.concat([this.#decide(hasLf), this.write(chunk.subarray(next.length))]);
  }

  end(): Buffer {
    const rest = this.#isCrOnly === null ? this.#decide(false) : EMPTY;
    return this.#hasCr ? Buffer.concat([rest, Buffer.of(LF)]) : rest;
  }

  #decide(hasLf: boolean): Buffer {
    const beginning = Buffer.from(this.#beginning.bytes());
    this.#beginning.reset();
    this.#isCrOnly = !hasLf && HEADER_WITH_CR.test(beginning.toString('latin1'));
    return this.#isCrOnly ? this.#replace(beginning) : beginning;
  }

  #replace(chunk: Buffer): Buffer {
    if (chunk.length === 0) return chunk;
    const bytes = Buffer.concat([this.#hasCr ? Buffer.of(CR) : EMPTY, chunk]);
    this.#hasCr = bytes[bytes.length - 1] === CR;
    const decided = bytes.subarray(0, bytes.length - (this.#hasCr ? 1 : 0));
    for (let at = decided.indexOf(CR); at !== -1; at = decided.indexOf(CR, at + 1)) {
      if (bytes[at + 1] !== LF) decided[at] = LF;
    }
    return decided;
  }
}
