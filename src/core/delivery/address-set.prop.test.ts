import fc from 'fast-check';
import { expect, it } from 'vitest';
import { AddressSet } from './address-set.ts';
import { runs } from '../../../test/helpers/runs.ts';

const address = fc.nat(300).map((number) => `user-${number}@example.com`);
const change = fc.oneof(
  fc.record({ address, tag: fc.nat(255), seconds: fc.nat(4_000_000_000) }),
  fc.record({ address }),
);

it('holds what a Map holds, after any changes', () => {
  fc.assert(
    fc.property(fc.integer(), fc.array(change, { maxLength: 5000, size: 'max' }), (seed, changes) => {
      const set = new AddressSet(seed);
      const map = new Map<string, object>();
      for (const one of changes) {
        if ('tag' in one) {
          const entry = { tag: one.tag, seconds: one.seconds };
          set.set(one.address, entry);
          map.set(one.address, entry);
        } else {
          set.delete(one.address);
          map.delete(one.address);
        }
      }
      expect(set.size).toBe(map.size);
      for (let number = 0; number <= 300; number += 1) {
        const key = `user-${number}@example.com`;
        expect(set.get(key)).toEqual(map.get(key) ?? null);
      }
    }),
    { numRuns: runs(30) },
  );
});

it('holds 200,000 addresses and takes no stranger for one of them', () => {
  const set = new AddressSet(0x1234567);
  for (let number = 0; number < 200_000; number += 1) {
    set.set(`person.${number}@example.com`, { tag: 1, seconds: number });
  }
  expect(set.size).toBe(200_000);
  expect(set.get('person.199999@example.com')).toEqual({ tag: 1, seconds: 199_999 });
  const strangers = Array.from({ length: 200_000 }, (_, number) => `stranger.${number}@example.com`);
  expect(strangers.filter((one) => set.get(one) !== null)).toEqual([]);
});
