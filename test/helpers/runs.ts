/**
 * How much random tests try: a tenth in `npm test`, everything in `npm run test:long`. To search further: `TEST_RUNS=10000 npx vitest run
 * <file>`; to repeat a failure: `TEST_SEED=<seed>`, as printed by fast-check.
 */
const { TEST_LONG, TEST_RUNS, TEST_SEED } = process.env;

/** True for `npm run test:long`. */
export const IS_LONG = TEST_LONG === '1';

/** `numRuns` of a property that has this many runs in the long form. */
export function runs(long: number): number {
  if (TEST_RUNS !== undefined) return Number(TEST_RUNS);
  return IS_LONG ? long : Math.ceil(long / 10);
}

/** Picks from a list whose entries are tried one by one: every tenth in the short form. */
export function some<T>(list: readonly T[]): readonly T[] {
  return IS_LONG ? list : list.filter((_, index) => index % 10 === 0);
}

/** Parameters for a property of fast-check. */
export const SEED = TEST_SEED === undefined ? {} : { seed: Number(TEST_SEED) };
