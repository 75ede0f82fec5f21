/**
 * How much random tests try: a tenth in `npm test`, a third in `npm run test:long`, everything with RUN_ALL=1; see random-seed.ts for
 * what. To search further: `TEST_RUNS=10000 npx vitest run <file>`; to repeat a failure: `TEST_SEED=<seed>` beside it, as printed by
 * fast-check.
 */
const { RUN_ALL, TEST_LONG, TEST_RUNS } = process.env;

/** True for `npm run test:long`. */
export const IS_LONG = TEST_LONG === '1';

/** True for the longest form of all. */
export const IS_ALL = IS_LONG && RUN_ALL !== undefined;

/** `numRuns` of a property that has this many runs in the longest form. */
export function runs(all: number): number {
  if (TEST_RUNS !== undefined) return Number(TEST_RUNS);
  return Math.ceil(all / (IS_ALL ? 1 : IS_LONG ? 3 : 10));
}

/** Picks from a list whose entries are tried one by one: every tenth in the short form. */
export function some<T>(list: readonly T[]): readonly T[] {
  return IS_LONG ? list : list.filter((_, index) => index % 10 === 0);
}
