import { defineConfig } from 'vitest/config';

/** The fast part of the tests: rules and use cases, without a database, a mail server or a process of its own. */
export default defineConfig({
  test: {
    include: ['src/{core,app,worker,config,service}/**/*.test.ts'],
    exclude: ['src/**/*.prop.test.ts', 'src/**/*.growth.test.ts'],
    testTimeout: 60_000,
    reporters: ['default', './test/helpers/closing-line-reporter.ts'],
  },
});
