/**
 * How much random tests try: a tenth in `npm test`, everything in `npm run test:long`; see random-seed.ts for what. To search
 * further: `TEST_RUNS=10000 npx vitest run <file>`; to repeat a failure: `TEST_SEED=<seed>` beside it, as printed by fast-check.
 */
const { TEST_LONG, TEST_RUNS } = process.env;

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
