import { configDefaults, defineConfig } from 'vitest/config';
import { AT_LENGTH, shared } from './vitest.config.ts';

/** With RUN_ALL alone: these take minutes more, and try at random, or time, what others try as well. */
const BY_HAND = [
  'test/backup/{killed,while-sending}.long.test.ts',
  'test/e2e/longest-turn.long.test.ts',
  'test/scripts/bench.long.test.ts',
];

/** In vitest.pooler.config.ts, whose server and pooler ask more of them. */
const POOLED = ['test/backup/backup.long.test.ts', 'test/queue/processes.long.test.ts'];

/** As in `npm test`: one process for the files of a worker, since these need none of their own. */
const RANDOM = 'src/**/*.prop.test.ts';

const exclude = [
  ...configDefaults.exclude,
  ...(process.env['RUN_ALL'] === undefined ? [...BY_HAND, ...POOLED] : []),
];

/**
 * `npm run test:length`: all that random tests try, what costs take minutes to measure, the large mailbox, and what goes from end to end and takes
 * longest: whole backups, erasures, starts and kills, packages. With RUN_ALL=1 it leaves out nothing.
 */
export default defineConfig({
  test: {
    ...shared,
    env: { TEST_LONG: '1' },
    projects: [
      {
        extends: true,
        test: {
          name: 'length',
          include: [
            '{src,test}/**/*.{prop,long}.test.ts',
            'src/adapters/postgres/receive/record-inbound.test.ts',
            ...AT_LENGTH,
          ],
          exclude: [...exclude, RANDOM],
        },
      },
      {
        extends: true,
        test: { name: 'random', include: [RANDOM], exclude, isolate: false, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
