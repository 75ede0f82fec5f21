import { defineConfig } from 'vitest/config';
import { shared } from './vitest.config.ts';
import { skipWithoutExternalPostgres } from './test/helpers/external-postgres.ts';
import { skipWithoutPgBouncer } from './test/helpers/pgbouncer.ts';

// For the server of the run as well, which this process starts.
process.env['TEST_POOLER'] = '1';
const isSkipped = skipWithoutExternalPostgres() || skipWithoutPgBouncer();

/**
 * A part of `npm run test:long`: what is about the database, through a real PgBouncer in transaction mode with three sessions, and on
 * the oldest PostgreSQL. Random tests, and
 * those that take longest, use nothing of a session that the others do not.
 */
export default defineConfig({
  test: {
    ...shared,
    isolate: false,
    passWithNoTests: true,
    include: isSkipped
      ? []
      : [
          'src/adapters/postgres/**/*.test.ts',
          'test/backup/backup.long.test.ts',
          'test/contract/accounts.test.ts',
          'test/e2e/{send,threads}.test.ts',
          'test/events/feed.test.ts',
          'test/import/import.test.ts',
          'test/queue/processes.long.test.ts',
          'test/webhooks/webhooks.test.ts',
        ],
    exclude: [
      'src/adapters/postgres/embedded/**',
      'src/adapters/postgres/**/*.prop.test.ts',
      'src/adapters/postgres/search/search.test.ts',
      // It starts poolers of its own.
      'src/adapters/postgres/db/replica-reads.long.test.ts',
      // They set what their sessions are to have, or vacuum, which no transaction can.
      'src/adapters/postgres/addresses/addresses.test.ts',
      'src/adapters/postgres/emails/{pages,filtered-emails,filter-pairs.long}.test.ts',
      // It asks for plans that PostgreSQL 15 can't give yet.
      'src/adapters/postgres/whole-tables.long.test.ts',
    ],
  },
});
