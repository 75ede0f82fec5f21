import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Rules and use cases, without a database, a mail server or a process of their own. */
const RULES =
  'src/{core,areas,platform/{access,base,operation,reading},config,service}/**/!(*.db|*.db.prop|*.db.long|*.http|*.http.prop).test.ts';
const LONG = '**/*.long.test.ts';
/**
 * In `npm run test:long` alone; see vitest.long.config.ts. Random tests, which have more cases there, and what takes a quarter of all
 * time and seldom breaks alone: ways through the page (`page.test.ts` stays), programs that are started and stopped, whole mailboxes.
 * Single tests of other files have the tag `long` for the same reason; see vitest.tagged.config.ts.
 */
export const AT_LENGTH = [
  'test/contract/{http-fuzz,service-fuzz,three-readers}.test.ts',
  'test/fuzz/readers.test.ts',
  'test/e2e/{dkim,full-log,mail-frame,npm-start,safe-html,shutdown,stop-while-starting,thread-oracle}.test.ts',
  'test/{inbound/real-mail,import/reparse}.test.ts',
  'test/mailbox/{dovecot,leases,set-aside,spread}.test.ts',
  'test/{inbound,mailbox,model,together}/*.prop.test.ts',
  'test/page/{accounts,answer,before-sending,build,invitation,operate,send-again,send-as,templates,write}.test.ts',
  'src/api/memory.test.ts',
  'test/{client/browser,examples,erase/retention,events/historical}.test.ts',
  'test/scripts/{prepare,statements}.test.ts',
];

export const shared = {
  globalSetup: ['test/helpers/global-setup.ts'],
  setupFiles: ['test/helpers/random-seed.ts'],
  tags: [
    {
      name: 'long',
      description: 'Takes seconds alone. `npm test` leaves it out, `npm run test:long` runs it.',
    },
  ],
  reporters: ['default', './test/helpers/closing-line-reporter.ts'],
  // The runs of `.ci/run` transform the same modules one after the other.
  experimental: { fsModuleCache: true },
  // More than cores: many tests wait for a process that starts, or for a time to pass.
  maxWorkers: availableParallelism() + 2,
  // A hang ends; a machine that does much else meanwhile fails no test.
  testTimeout: 180_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 120_000 } },
};

/**
 * A process of their own: they measure the memory of their process or look at its children. All others share one for
 * each worker, since a process and modules for each file would take longer than most tests.
 */
const APART = [
  'src/connectors/reading/*.test.ts',
  'test/imap/{dovecot,hostile-server,many-sessions}.test.ts',
];

/** `npm test`: all projects. `npm run test:unit`: the first. What takes longest is in vitest.long.config.ts. */
export default defineConfig({
  test: {
    ...shared,
    isolate: false,
    // A worker ends when a file of another project is next, so one project follows the other, by name: first those that wait
    // much, and last those that are small, so that no worker is left alone at the end.
    projects: [
      { extends: true, test: { name: 'rules', include: [RULES], exclude: [LONG] } },
      {
        extends: true,
        test: {
          name: 'parts',
          include: ['{src,test}/**/*.test.ts'],
          exclude: [RULES, LONG, ...AT_LENGTH, ...APART],
        },
      },
      { extends: true, test: { name: 'apart', include: APART, isolate: true } },
    ],
  },
});
