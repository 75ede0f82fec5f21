/** A larger buffer is released when the collector is emptied. */
const KEPT_BYTES = 65_536;

/** Bytes that arrive in small pieces, copied into one growing buffer: a Buffer for each would cost far more memory. */
export class ByteCollector {
  #bytes: Buffer = Buffer.alloc(0);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  append(piece: Buffer): void {
    const needed = this.#length + piece.length;
    if (needed > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2, 256));
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    piece.copy(this.#bytes, this.#length);
    this.#length = needed;
  }

  /** Everything so far; shares the collector's memory. */
  bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Empties the collector; earlier results of `bytes` may be overwritten. */
  reset(): void {
    if (this.#bytes.length > KEPT_BYTES) this.#bytes = Buffer.alloc(0);
    this.#length = 0;
  }
}
