/**
 * A large set of addresses in little memory: 13 bytes for each of up to twice as many cells as there are addresses,
 * 27 MB for a million. Only a hash of 53 bits is kept, with a seed of the process, so that no sender can choose addresses
 * that collide. With a million members, about one in 10^10 other addresses counts as a member, and a caller that acts on a
 * membership asks the database anyway.
 */
const EMPTY = 0;
const REMOVED = -1;
const MIN_CAPACITY = 1024;
/** Share of cells in use, removed ones included, at which the table is rebuilt. */
const MAX_LOAD = 0.6;

export interface AddressEntry {
  /** Small whole number, 0 to 255. */
  readonly tag: number;
  /** Whole seconds since 1970, up to 2106. */
  readonly seconds: number;
}

export class AddressSet {
  readonly #seed: number;
  #keys = new Float64Array(MIN_CAPACITY);
  #tags = new Uint8Array(MIN_CAPACITY);
  #seconds = new Uint32Array(MIN_CAPACITY);
  /** Cells that are not EMPTY. */
  #used = 0;
  #size = 0;

  /** @param seed 32 unguessable bits */
  constructor(seed: number) {
    this.#seed = seed;
  }

  get size(): number {
    return this.#size;
  }

  get(address: string): AddressEntry | null {
    const cell = this.#find(hash53(address, this.#seed));
    if (cell === -1) return null;
    return { tag: this.#tags[cell] ?? 0, seconds: this.#seconds[cell] ?? 0 };
  }

  set(address: string, { tag, seconds }: AddressEntry): void {
    const key = hash53(address, this.#seed);
    const known = this.#find(key);
    if (known !== -1) {
      this.#tags[known] = tag;
      this.#seconds[known] = seconds;
      return;
    }
    if ((this.#used + 1) / this.#keys.length > MAX_LOAD) this.#rebuild();
    this.#insert(key, tag, seconds);
  }

  delete(address: string): void {
    const cell = this.#find(hash53(address, this.#seed));
    if (cell === -1) return;
    this.#keys[cell] = REMOVED;
    this.#size -= 1;
  }

  /** -1 when the key is absent. */
  #find(key: number): number {
    const mask = this.#keys.length - 1;
    for (let cell = key & mask; ; cell = (cell + 1) & mask) {
      const found = this.#keys[cell];
      if (found === key) return cell;
      if (found === EMPTY) return -1;
    }
  }

  #insert(key: number, tag: number, seconds: number): void {
    const mask = this.#keys.length - 1;
    let cell = key & mask;
    while (this.#keys[cell] !== EMPTY) cell = (cell + 1) & mask;
    this.#keys[cell] = key;
    this.#tags[cell] = tag;
    this.#seconds[cell] = seconds;
    this.#used += 1;
    this.#size += 1;
  }

  /** Doubles a table that is full of members; keeps the size of one that is full of removed ones. */
  #rebuild(): void {
    const [keys, tags, seconds] = [this.#keys, this.#tags, this.#seconds];
    const capacity = this.#size / keys.length > MAX_LOAD / 2 ? keys.length * 2 : keys.length;
    this.#keys = new Float64Array(capacity);
    this.#tags = new Uint8Array(capacity);
    this.#seconds = new Uint32Array(capacity);
    this.#used = 0;
    this.#size = 0;
    for (const [cell, key] of keys.entries()) {
      if (key > EMPTY) this.#insert(key, tags[cell] ?? 0, seconds[cell] ?? 0);
    }
  }
}

/** cyrb53 (public domain): 53 bits of two multiplicative hashes over UTF-16 units. Never 0. */
function hash53(text: string, seed: number): number {
  let h1 = 0xdeadbeef ^ seed;
  let h2 = 0x41c6ce57 ^ seed;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    h1 = Math.imul(h1 ^ unit, 2654435761);
    h2 = Math.imul(h2 ^ unit, 1597334677);
  }
  h1 = Math.imul(h1 ^ (h1 >>> 16), 2246822507) ^ Math.imul(h2 ^ (h2 >>> 13), 3266489909);
  h2 = Math.imul(h2 ^ (h2 >>> 16), 2246822507) ^ Math.imul(h1 ^ (h1 >>> 13), 3266489909);
  return 4294967296 * (2097151 & h2) + (h1 >>> 0) + 1;
}
