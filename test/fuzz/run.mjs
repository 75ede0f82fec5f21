/**
 * The long form of the fuzz test of all readers, run by hand: `npm run fuzz -- --minutes 60 --seed 7`. Real mail comes from MAIL_ARCHIVE,
 * or from .ci/fetch-mail.sh. Ends early when 20 faults are found.
 */
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const { status } = spawnSync(
  process.execPath,
  [
    'node_modules/vitest/vitest.mjs',
    'run',
    '--config',
    'vitest.long.config.ts',
    'test/fuzz/readers.test.ts',
    '--disable-console-intercept',
  ],
  { stdio: 'inherit', env: { ...process.env, FUZZ_MINUTES: values.minutes, FUZZ_SEED: values.seed } },
);
process.exitCode = status ?? 1;
