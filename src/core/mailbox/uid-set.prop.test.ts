import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { differenceOf, joinRanges, piecesOf, toUidSet, type UidSet } from './uid-set.ts';

const uids = fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 60 });

function list(set: UidSet): number[] {
  return set.flatMap(({ first, last }) =>
    Array.from({ length: last - first + 1 }, (_, index) => first + index),
  );
}

const ascending = (values: Iterable<number>) => [...values].sort((a, b) => a - b);

describe('a set of UIDs', () => {
  it('holds what was put in, in its only form', () => {
    fc.assert(
      fc.property(uids, uids, (values, others) => {
        const set = toUidSet([...values, ...values]);
        expect(list(set)).toEqual(ascending(values));
        for (const [index, range] of set.entries()) {
          expect(range.first).toBeLessThanOrEqual(range.last);
          expect(range.first).toBeGreaterThan((set[index - 1]?.last ?? -1) + 1);
        }
        expect(joinRanges([...set, ...toUidSet(others)])).toEqual(toUidSet([...values, ...others]));
      }),
    );
  });

  it('has a difference like any set', () => {
    fc.assert(
      fc.property(uids, uids, (a, b) => {
        const difference = differenceOf(toUidSet(a), toUidSet(b));
        expect(difference).toEqual(toUidSet(a.filter((uid) => !b.includes(uid))));
      }),
    );
  });

  it('falls into pieces, the highest first', () => {
    fc.assert(
      fc.property(uids, fc.integer({ min: 1, max: 70 }), (values, size) => {
        const pieces = [...piecesOf(toUidSet(values), size)].map(list);
        expect(pieces.toReversed().flat()).toEqual(ascending(values));
        expect(pieces.every((piece) => piece.length <= size)).toBe(true);
        expect(pieces.slice(0, -1).every((piece) => piece.length === size)).toBe(true);
      }),
    );
  });

  it('of the largest numbers there are is small', () => {
    const all = joinRanges([{ first: 1, last: 0xffff_ffff }]);
    expect(all).toHaveLength(1);
    expect(differenceOf(all, [{ first: 2, last: 0xffff_fffe }])).toEqual([
      { first: 1, last: 1 },
      { first: 0xffff_ffff, last: 0xffff_ffff },
    ]);
  });
});
