/**
 * Counts what is walked through when values of a template are written out or compared. A list may contain another one twice, which contains
 * another one twice, and so on: it is small in memory and endless when it is written out.
 */
import { MAX_WALKED } from './limits.ts';

/** One of our bounds was exceeded. */
export class TooMuch extends Error {}

export class WalkedValues {
  /** A list is never changed once it is made, so it is counted once, however often it is contained in others. */
  readonly #sizes = new WeakMap<object, number>();
  #all = 0;

  /** Adds the characters and entries of a value, at all depths. Throws TooMuch. */
  count(value: unknown): void {
    this.#all += this.#sizeOf(value);
    if (this.#all > MAX_WALKED) throw new TooMuch();
  }

  #sizeOf(value: unknown): number {
    if (typeof value === 'string') return value.length;
    if (typeof value !== 'object' || value === null) return 1;
    const known = this.#sizes.get(value);
    if (known !== undefined) return known;
    const size = Object.values(value).reduce<number>((sum, inner) => sum + this.#sizeOf(inner), 1);
    this.#sizes.set(value, size);
    return size;
  }
}
