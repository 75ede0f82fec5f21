import { configDefaults, defineConfig } from 'vitest/config';
import { shared } from './vitest.config.ts';

/** With KILL_SEED alone: it takes minutes more. */
const BY_HAND = 'test/backup/killed.long.test.ts';

/** `npm run test:long`: all that random tests try, what costs take minutes to measure, and the large mailbox. */
export default defineConfig({
  test: {
    ...shared,
    include: [
      '{src,test}/**/*.{prop,long}.test.ts',
      'test/contract/{http-fuzz,service-fuzz}.test.ts',
      'test/fuzz/readers.test.ts',
      'src/adapters/postgres/receive/record-inbound.test.ts',
      'test/e2e/{thread-oracle,mail-frame,safe-html}.test.ts',
      'test/{inbound/real-mail,mailbox/dovecot}.test.ts',
    ],
    exclude: [...configDefaults.exclude, ...(process.env['KILL_SEED'] === undefined ? [BY_HAND] : [])],
    env: { TEST_LONG: '1' },
  },
});
