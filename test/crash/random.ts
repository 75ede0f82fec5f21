/** Random choices from a seed, so that a round can be repeated. Timing remains up to the machine. */
export interface Random {
  /** From 0 inclusive to 1 exclusive. */
  next(): number;
  /** Both ends included. */
  integer(min: number, max: number): number;
  pick<T>(items: readonly T[]): T;
  chance(probability: number): boolean;
  bytes(length: number): Buffer;
}

/** mulberry32; several numbers make one seed, such as seed and round. */
export function createRandom(...seeds: readonly number[]): Random {
  let state = seeds.reduce((hash, seed) => Math.imul(hash ^ seed, 0x9e3779b1) + 0x7f4a7c15, 0x1234567);
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
  const integer = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  return {
    next,
    integer,
    pick: (items) => items[integer(0, items.length - 1)]!,
    chance: (probability) => next() < probability,
    bytes(length) {
      const bytes = Buffer.alloc(length);
      for (let index = 0; index < length; index += 4) {
        const value = Math.floor(next() * 2 ** 32);
        for (let byte = 0; byte < 4 && index + byte < length; byte += 1) {
          bytes[index + byte] = value >>> (8 * byte);
        }
      }
      return bytes;
    },
  };
}
