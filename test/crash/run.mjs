/**
 * The long form of the crash test, by hand: `npm run crash -- --rounds 300 --seed 7 --setup embedded|external|four|all`.
 * `--starved` lets the services hardly run, with short leases and slow lines. `--minutes` ends it early; `--from` begins
 * with a later round of the seed; `--main` names another built program than dist/bundle/main.js.
 */
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '300' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    setup: { type: 'string', default: 'all' },
    minutes: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    starved: { type: 'boolean', default: false },
    main: { type: 'string', default: '' },
  },
});
const { status } = spawnSync(
  process.execPath,
  [
    'node_modules/vitest/vitest.mjs',
    'run',
    '--config',
    'vitest.long.config.ts',
    'test/crash/crash.long.test.ts',
    '--disable-console-intercept',
  ],
  {
    stdio: 'inherit',
    env: {
      ...process.env,
      CRASH_ROUNDS: values.rounds,
      CRASH_SEED: values.seed,
      CRASH_SETUP: values.setup,
      CRASH_MINUTES: values.minutes,
      CRASH_FROM: values.from,
      CRASH_STARVED: values.starved ? '1' : '0',
      ...(values.main === '' ? {} : { CRASH_MAIN: values.main }),
    },
  },
);
process.exitCode = status ?? 1;
