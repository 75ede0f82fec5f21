/**
 * Which objects are in use, in memory that does not grow with their number as a set's does: 2 bytes for each. It may say of one in
 * nearly 2,000 that it is in use although it is not, never the other way round (a Bloom filter).
 */
import { createHash, randomBytes } from 'node:crypto';

const BITS_PER_NAME = 16;
/** What is best for so many bits, nearly: one name in nearly 2,000 is taken for used. */
const HASHES = 8;

export class UsedNames {
  readonly #bits: Uint8Array;
  /** Another one each time, so that a file that was kept wrongly goes the next time. */
  readonly #salt = randomBytes(16);

  /** @param names how many there will be, about */
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
