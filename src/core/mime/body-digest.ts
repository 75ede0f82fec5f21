import { createHash } from 'node:crypto';

const LF = 0x0a;
const CR = 0x0d;
/** A call for each of millions of empty lines would take seconds. */
const LINE_ENDS = Buffer.alloc(4096, LF);

/**
 * SHA-256 of a body that is the same whatever way the message came: line ends count as LF, and empty lines at the end,
 * which mbox files and servers add, not at all.
 */
export class BodyDigest {
  readonly #hash = createHash('sha256');
  /** Line ends that count only when something follows. */
  #lineEnds = 0;

  /** A line with its end, or a piece of a line without an end. */
  update(piece: Buffer): void {
    const hasEnd = piece[piece.length - 1] === LF;
    const length = piece.length - (hasEnd ? (piece[piece.length - 2] === CR ? 2 : 1) : 0);
    if (length > 0) {
      for (; this.#lineEnds > 0; this.#lineEnds -= Math.min(this.#lineEnds, LINE_ENDS.length)) {
        this.#hash.update(LINE_ENDS.subarray(0, this.#lineEnds));
      }
      this.#hash.update(piece.subarray(0, length));
    }
    if (hasEnd) this.#lineEnds++;
  }

  /** Lower-case hex; call it once. */
  end(): string {
    return this.#hash.digest('hex');
  }
}
