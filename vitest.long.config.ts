import { BaseSequencer, type TestSpecification } from 'vitest/node';
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

/** Of AT_LENGTH: they measure the memory or the time of their process. */
const MEASURING = ['src/api/memory.test.ts', 'test/fuzz/readers.test.ts', 'test/mailbox/leases.test.ts'];

const exclude = [
  ...configDefaults.exclude,
  ...(process.env['RUN_ALL'] === undefined ? [...BY_HAND, ...POOLED] : []),
];

/** What takes a worker for more than a minute begins before the rest of its project, so that nothing waits for it at the end. */
const LONGEST = [
  'test/crash/crash.long.test.ts',
  'test/sent-copies/dovecot.long.test.ts',
  'test/e2e/poison-mail.long.test.ts',
  'test/hosting/package.long.test.ts',
  'test/e2e/rolling.long.test.ts',
  'test/page/rich-text.long.test.ts',
  'test/contract/service-fuzz.test.ts',
  'test/mailbox/dovecot.test.ts',
  'test/together/together.prop.test.ts',
  'test/e2e/mail-frame.test.ts',
  'src/areas/threads/threads.db.prop.test.ts',
  'test/page/write.test.ts',
  'test/page/accounts.test.ts',
  'src/areas/events/event-feed.db.prop.test.ts',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification) => {
      const place = LONGEST.findIndex((file) => moduleId.endsWith(`/${file}`));
      return place === -1 ? LONGEST.length : place;
    };
    // One project follows the other, by name.
    return sorted.toSorted((a, b) => a.project.name.localeCompare(b.project.name) || rank(a) - rank(b));
  }
}

/**
 * `npm run test:length`: all that random tests try, what costs take minutes to measure, the large mailbox, and what goes from end to end and takes
 * longest: whole backups, erasures, starts and kills, packages. With RUN_ALL=1 it leaves out nothing.
 */
export default defineConfig({
  test: {
    ...shared,
    env: { TEST_LONG: '1' },
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: { name: 'apart', include: ['{src,test}/**/*.long.test.ts', ...MEASURING], exclude },
      },
      // As in `npm test`: one process for the files of a worker, since these need none of their own.
      {
        extends: true,
        test: {
          name: 'together',
          include: [
            '{src,test}/**/*.prop.test.ts',
            'src/areas/receive/record-inbound.db.test.ts',
            ...AT_LENGTH,
          ],
          exclude: [...exclude, ...MEASURING],
          isolate: false,
        },
      },
    ],
  },
});
