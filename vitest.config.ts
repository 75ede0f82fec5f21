import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Rules and use cases, without a database, a mail server or a process of their own. */
const RULES = 'src/{core,app,worker,config,service}/**/*.test.ts';
const LONG = '**/*.long.test.ts';

export const shared = {
  globalSetup: ['test/helpers/global-setup.ts'],
  reporters: ['default', './test/helpers/closing-line-reporter.ts'],
  // One more than cores: many tests wait for a process that starts, or for a time to pass.
  maxWorkers: availableParallelism() + 1,
  // A hang ends; a machine that does much else meanwhile fails no test.
  testTimeout: 180_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 60_000 } },
};

/** `npm test`: both projects. `npm run test:unit`: the first. The long form is in vitest.long.config.ts. */
export default defineConfig({
  test: {
    ...shared,
    projects: [
      // A process and modules of its own for each file would take longer than the tests.
      { extends: true, test: { name: 'rules', include: [RULES], exclude: [LONG], isolate: false } },
      {
        extends: true,
        test: { name: 'parts', include: ['{src,test}/**/*.test.ts'], exclude: [RULES, LONG] },
      },
    ],
  },
});
