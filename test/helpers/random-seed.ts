/**
 * Set-up of every test file: random cases are the same in each run, so that a run says something about the change that it checks. Each
 * number of cases by hand (`TEST_RUNS`) has new ones; `TEST_SEED` repeats those of a failure.
 */
import * as fc from 'fast-check';

const { TEST_RUNS, TEST_SEED } = process.env;

if (TEST_SEED !== undefined) fc.configureGlobal({ seed: Number(TEST_SEED) });
else if (TEST_RUNS === undefined) fc.configureGlobal({ seed: 1 });
