/**
 * Numbers keys of 16 bytes from 0 on, in typed arrays: 16 bytes for the key and 6 to 11 for finding it,
 * where a Map of strings takes 100 and more. For a scan over all Message-IDs of a database.
 */

/** A key as four unsigned 32-bit words. */
export type Key = readonly [number, number, number, number];

const WORDS = 4;
/** Slots that may be taken before the table grows. */
const MAX_LOAD = 0.7;
const FREE = 0xffffffff;

export class KeyTable {
  #keys = new Uint32Array(WORDS * 1024);
  #slots = new Uint32Array(2048).fill(FREE);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The key's number; null when it has none. */
  find(key: Key): number | null {
    const number = this.#slots[this.#slotOf(key)];
    return number === undefined || number === FREE ? null : number;
  }

  /** The key's number, a new one the first time. */
  add(key: Key): number {
    const slot = this.#slotOf(key);
    const known = this.#slots[slot];
    if (known !== undefined && known !== FREE) return known;
    const number = this.#size;
    this.#slots[slot] = number;
    if (WORDS * (number + 1) > this.#keys.length) this.#keys = grown(this.#keys, 0);
    this.#keys.set(key, WORDS * number);
    this.#size += 1;
    if (this.#size > MAX_LOAD * this.#slots.length) this.#rehash();
    return number;
  }

  keyOf(number: number): Key {
    const at = WORDS * number;
    const [a = 0, b = 0, c = 0, d = 0] = this.#keys.subarray(at, at + WORDS);
    return [a, b, c, d];
  }

  /** The slot with the key, or the free one where it belongs. */
  #slotOf(key: Key): number {
    const mask = this.#slots.length - 1;
    let slot = mixed(key) & mask;
    for (;;) {
      const number = this.#slots[slot];
      if (number === undefined || number === FREE || this.#isAt(number, key)) return slot;
      slot = (slot + 1) & mask;
    }
  }

  #isAt(number: number, key: Key): boolean {
    const at = WORDS * number;
    const keys = this.#keys;
    return (
      keys[at] === key[0] && keys[at + 1] === key[1] && keys[at + 2] === key[2] && keys[at + 3] === key[3]
    );
  }

  #rehash(): void {
    this.#slots = new Uint32Array(2 * this.#slots.length).fill(FREE);
    for (let number = 0; number < this.#size; number += 1)
      this.#slots[this.#slotOf(this.keyOf(number))] = number;
  }
}

/** Every bit of the key changes about half of the result's: identifiers based on time begin alike, and others end alike. */
function mixed(key: Key): number {
  let hash = 0;
  // The finaliser of MurmurHash3, once for each word.
  for (const word of key) {
    hash = Math.imul(hash ^ word ^ (hash >>> 16), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    hash ^= hash >>> 16;
  }
  return hash;
}

/** A copy of twice the size, with the new part filled. */
export function grown(array: Uint32Array<ArrayBuffer>, fill: number): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(2 * array.length);
  larger.set(array);
  if (fill !== 0) larger.fill(fill, array.length);
  return larger;
}
