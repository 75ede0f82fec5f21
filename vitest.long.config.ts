import { configDefaults, defineConfig } from 'vitest/config';
import { AT_LENGTH, shared } from './vitest.config.ts';

/** With KILL_SEED alone: it takes minutes more. */
const BY_HAND = 'test/backup/killed.long.test.ts';

/**
 * `npm run test:long`: all that random tests try, what costs take minutes to measure, the large mailbox, and what goes from end to end and takes
 * longest: whole backups, erasures, starts and kills, packages.
 */
export default defineConfig({
  test: {
    ...shared,
    include: [
      '{src,test}/**/*.{prop,long}.test.ts',
      'src/adapters/postgres/receive/record-inbound.test.ts',
      ...AT_LENGTH,
    ],
    exclude: [...configDefaults.exclude, ...(process.env['KILL_SEED'] === undefined ? [BY_HAND] : [])],
    env: { TEST_LONG: '1' },
  },
});
