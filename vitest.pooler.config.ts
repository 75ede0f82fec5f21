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
          'src/**/*.db.{test,long.test}.ts',
          'test/backup/backup.long.test.ts',
          'test/contract/accounts.test.ts',
          'test/e2e/{send,threads}.test.ts',
          'test/events/feed.test.ts',
          'test/import/import.test.ts',
          'test/queue/processes.long.test.ts',
          'test/webhooks/webhooks.test.ts',
        ],
    exclude: [
      'src/areas/search/search.db.test.ts',
      // It starts poolers of its own.
      'src/platform/db/replica-reads.db.long.test.ts',
      // They set what their sessions are to have, or vacuum, which no transaction can.
      'src/areas/addresses/addresses.db.test.ts',
      'src/areas/emails/{pages,filtered-emails,filter-pairs}.db.{test,long.test}.ts',
      // It asks for plans that PostgreSQL 15 can't give yet.
      'src/platform/db/whole-tables.db.long.test.ts',
    ],
  },
});
