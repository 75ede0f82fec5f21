/** A byte buffer that grows up to a bound. Bytes are copied in: a few bytes kept of each network chunk would keep whole chunks alive. */
import { ServiceError } from '../../../core/errors.ts';

const FIRST_BYTES = 4096;

export class ByteText {
  readonly #maxBytes: number;
  #buffer = Buffer.allocUnsafe(FIRST_BYTES);
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get length(): number {
    return this.#length;
  }

  /** Throws `payload_too_large` above the bound. */
  append(bytes: Buffer): void {
    const length = this.#length + bytes.length;
    if (length > this.#maxBytes) throw new ServiceError('payload_too_large');
    if (length > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(length, this.#buffer.length * 2));
      this.#buffer.copy(larger, 0, 0, this.#length);
      this.#buffer = larger;
    }
    bytes.copy(this.#buffer, this.#length);
    this.#length = length;
  }

  /** A view from `start` on; the next append may overwrite the view, or move the bytes elsewhere. */
  bytes(start = 0): Buffer {
    return this.#buffer.subarray(start, this.#length);
  }

  truncate(length: number): void {
    this.#length = length;
  }
}
