/**
 * How much random tests try: a tenth in `npm test`, all in `npm run test:long`. To search on, `TEST_RUNS=10000 npx vitest run
 * <file>`, and to repeat what failed, `TEST_SEED=<seed>`, which fast-check prints.
 */
const { TEST_LONG, TEST_RUNS, TEST_SEED } = process.env;

/** Whether this is `npm run test:long`. */
export const IS_LONG = TEST_LONG === '1';

/** `numRuns` of a property that makes this many in the long form. */
export function runs(long: number): number {
  if (TEST_RUNS !== undefined) return Number(TEST_RUNS);
  return IS_LONG ? long : Math.ceil(long / 10);
}

/** Of a list that is tried one by one: every tenth in the short form. */
export function some<T>(list: readonly T[]): readonly T[] {
  return IS_LONG ? list : list.filter((_, index) => index % 10 === 0);
}

/** For a property of fast-check. */
export const SEED = TEST_SEED === undefined ? {} : { seed: Number(TEST_SEED) };
