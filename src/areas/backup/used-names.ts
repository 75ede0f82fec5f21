/**
 * The set of objects in use, in 2 bytes for each, far less than a set of strings needs. About one unused object in 2,000
 * is reported as used, never the other way round (a Bloom filter).
 */
import { createHash, randomBytes } from 'node:crypto';

const BITS_PER_NAME = 16;
/** Nearly optimal for so many bits: one name in nearly 2,000 is wrongly taken as used. */
const HASHES = 8;

export class UsedNames {
  readonly #bits: Uint8Array;
  /** A new one each time, so that a file kept by mistake is deleted the next time. */
  readonly #salt = randomBytes(16);

  /** @param names their expected number, roughly */
  constructor(names: number) {
    this.#bits = new Uint8Array(Math.ceil((Math.max(64, names) * BITS_PER_NAME) / 8));
  }

  add(name: string): void {
    for (const bit of this.#bitsOf(name))
      this.#bits[bit >> 3] = (this.#bits[bit >> 3] ?? 0) | (1 << (bit & 7));
  }

  mayHave(name: string): boolean {
    return this.#bitsOf(name).every((bit) => ((this.#bits[bit >> 3] ?? 0) & (1 << (bit & 7))) !== 0);
  }

  #bitsOf(name: string): number[] {
    const digest = createHash('sha256').update(this.#salt).update(name).digest();
    return Array.from(
      { length: HASHES },
      (_, index) => digest.readUInt32LE(index * 4) % (this.#bits.length * 8),
    );
  }
}
