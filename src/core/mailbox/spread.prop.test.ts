import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { spreadAccounts, type Reader } from './spread.ts';

type Holders = ReadonlyMap<string, string | null>;

const names = (kind: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${kind}-${index}`);

/** Readers that can all read everything, and the holder of each account. */
const alike = fc
  .record({ readers: fc.integer({ min: 1, max: 6 }), accounts: fc.integer({ min: 0, max: 40 }) })
  .chain(({ readers, accounts }) => {
    const ids = names('reader', readers);
    const accountIds = names('account', accounts);
    return fc
      .array(fc.constantFrom<string | null>(null, ...ids), { minLength: accounts, maxLength: accounts })
      .map((held) => ({
        readers: ids.map((id): Reader => ({ id, accountIds: new Set(accountIds) })),
        holders: new Map(accountIds.map((id, index) => [id, held[index] ?? null])),
      }));
  });

/** Readers that can read some accounts, few enough that every spread can be tried. */
const different = fc
  .record({ readers: fc.integer({ min: 1, max: 3 }), accounts: fc.integer({ min: 0, max: 7 }) })
  .chain(({ readers, accounts }) => {
    const accountIds = names('account', accounts);
    return fc.record({
      readers: fc
        .array(fc.subarray(accountIds), { minLength: readers, maxLength: readers })
        .map((subsets) =>
          subsets.map((subset, index): Reader => ({ id: `reader-${index}`, accountIds: new Set(subset) })),
        ),
      holders: fc
        .array(fc.constantFrom<string | null>(null, 'stranger', ...names('reader', readers)), {
          minLength: accounts,
          maxLength: accounts,
        })
        .map((held) => new Map(accountIds.map((id, index) => [id, held[index] ?? null]))),
    });
  });

function loadsOf(readers: readonly Reader[], shares: ReadonlyMap<string, string | null>): readonly number[] {
  const of = [...shares.values()];
  return readers.map(({ id }) => of.filter((holder) => holder === id).length);
}

const moves = (holders: Holders, shares: ReadonlyMap<string, string>) =>
  [...shares].filter(([id, reader]) => holders.get(id) !== null && holders.get(id) !== reader).length;

const squares = (loads: readonly number[]) => loads.reduce((sum, load) => sum + load * load, 0);

/** The smallest sum of squares of any spread: exactly the even ones have it. */
function bestSquares(readers: readonly Reader[], accountIds: readonly string[], loads: number[]): number {
  const [first, ...others] = accountIds;
  if (first === undefined) return squares(loads);
  return Math.min(
    ...readers.flatMap(({ accountIds: able }, index) =>
      able.has(first) ? [bestSquares(readers, others, loads.with(index, loads[index]! + 1))] : [],
    ),
  );
}

describe('a spread over readers that can read everything', () => {
  it('is even', () => {
    fc.assert(
      fc.property(alike, ({ readers, holders }) => {
        const loads = loadsOf(readers, spreadAccounts(readers, holders));
        expect(loads.reduce((sum, load) => sum + load, 0)).toBe(holders.size);
        expect(Math.max(...loads) - Math.min(...loads)).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('has no more accounts change hands than must', () => {
    fc.assert(
      fc.property(alike, ({ readers, holders }) => {
        const share = Math.floor(holders.size / readers.length);
        const larger = holders.size % readers.length;
        // The larger shares go to the readers that have the most.
        const held = loadsOf(readers, holders).toSorted((a, b) => b - a);
        const least = held.reduce(
          (sum, load, index) => sum + Math.max(0, load - share - (index < larger ? 1 : 0)),
          0,
        );
        expect(moves(holders, spreadAccounts(readers, holders))).toBe(least);
      }),
    );
  });
});

describe('a spread', () => {
  it('is as even as what the readers can read allows', () => {
    fc.assert(
      fc.property(different, ({ readers, holders }) => {
        const shares = spreadAccounts(readers, holders);
        for (const [id, reader] of shares)
          expect(readers.find((one) => one.id === reader)?.accountIds.has(id)).toBe(true);
        const spread = [...shares.keys()];
        const none = readers.map(() => 0);
        expect(squares(loadsOf(readers, shares))).toBe(bestSquares(readers, spread, none));
      }),
    );
  });

  it('leaves out only what no reader can read, and what a process has that is no reader of it', () => {
    fc.assert(
      fc.property(different, ({ readers, holders }) => {
        const shares = spreadAccounts(readers, holders);
        for (const [id, holder] of holders) {
          const able = readers.filter(({ accountIds }) => accountIds.has(id)).map((one) => one.id);
          expect(shares.has(id)).toBe(able.length > 0 && (holder === null || able.includes(holder)));
        }
      }),
    );
  });

  it('stays once it is there', () => {
    fc.assert(
      fc.property(different, ({ readers, holders }) => {
        const shares = spreadAccounts(readers, holders);
        expect(spreadAccounts(readers, shares)).toEqual(shares);
      }),
    );
  });

  it('is the same in whatever order it is told', () => {
    fc.assert(
      fc.property(different, ({ readers, holders }) => {
        const other = spreadAccounts(readers.toReversed(), new Map([...holders].toReversed()));
        expect(other).toEqual(spreadAccounts(readers, holders));
      }),
    );
  });
});

it('spreads 10,000 accounts within a moment', () => {
  const accountIds = names('account', 10_000);
  const readers = names('reader', 8).map((id): Reader => ({ id, accountIds: new Set(accountIds) }));
  const shares = spreadAccounts(readers, new Map(accountIds.map((id) => [id, 'reader-0'])));
  expect(loadsOf(readers, shares)).toEqual(Array.from({ length: 8 }, () => 1250));
});
