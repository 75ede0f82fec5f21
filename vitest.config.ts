import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: ['test/helpers/global-setup.ts'],
    reporters: ['default', './test/helpers/closing-line-reporter.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
