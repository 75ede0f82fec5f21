/**
 * Kills, cuts and fills everything under load, and checks that nothing is lost and nothing is sent twice. Here in a short form, longer in
 * `npm run test:long`; `npm run crash` goes on as long as wanted. docs/reliability.md lists the checks and the results.
 */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createReport } from './report.ts';
import { type RoundResult, runRound } from './round.ts';
import { createWorld, type Setup } from './world.ts';

const env = process.env;
const MAIN = env['CRASH_MAIN'] ?? fileURLToPath(new URL('../../dist/bundle/main.js', import.meta.url));
const ROUNDS = Number(env['CRASH_ROUNDS'] ?? 3);
/** Begins no round after this many minutes. */
const MINUTES = Number(env['CRASH_MINUTES'] ?? 1_000);
const FROM = Number(env['CRASH_FROM'] ?? 1);
const CHOSEN = env['CRASH_SETUP'] !== undefined || env['CRASH_STARVED'] !== undefined;

interface Run {
  readonly setup: Setup;
  /** The services hardly get to run. */
  readonly starved: boolean;
  readonly seed: number;
}

const RUNS: readonly Run[] = CHOSEN ? chosenRuns() : longRuns();

/** From fixed seeds, so that a change does not fail by chance; `npm run crash` tries new ones. */
function longRuns(): readonly Run[] {
  return [
    { setup: 'embedded', starved: false, seed: 1 },
    { setup: 'external', starved: false, seed: 1 },
    { setup: 'external', starved: true, seed: 1 },
  ];
}

function chosenRuns(): readonly Run[] {
  const wanted = env['CRASH_SETUP'] ?? 'all';
  const setups = (['embedded', 'external', 'four'] as const).filter((setup) =>
    ['all', setup].includes(wanted),
  );
  const seed = Number(env['CRASH_SEED'] ?? Date.now() % 1_000_000);
  return setups.map((setup) => ({ setup, starved: env['CRASH_STARVED'] === '1', seed }));
}

/** After this many rounds the services are stopped in order and their disks are checked. */
const AUDIT_EVERY = 4;
/** Far longer than a round takes, so that only a hang exceeds it. */
const ROUND_TIMEOUT_MS = 120_000;
/** The service never holds more than this, whatever happened to it before. */
const MAX_RESIDENT_BYTES = 400 * 1024 * 1024;

const print = (text: string): void => void process.stdout.write(`${text}\n`);

/** Processes are found through /proc. */
describe.skipIf(process.platform !== 'linux')('a crash test', () => {
  it.each(RUNS)(
    'loses nothing and sends nothing twice: $setup, starved $starved, seed $seed',
    async ({ setup, starved, seed }) => {
      const world = await createWorld({ setup, main: MAIN, starved, seed });
      const name = `${setup}${starved ? ' starved' : ''}`;
      const report = createReport();
      const violations: string[] = [];
      const acceptances = new Map<string, number>();
      if (world.nodes.some(({ disk }) => disk === null))
        print('full disk: skipped, mounting is not allowed here');
      if (!starved && (world.clocks?.database ?? null) === null)
        print('wrong clocks of the database: skipped, they need libfaketime, and root');
      let leaked: readonly string[] = [];
      try {
        const endAt = performance.now() + MINUTES * 60_000;
        let last = false;
        for (let round = FROM; !last; round += 1) {
          last = round === FROM + ROUNDS - 1 || performance.now() > endAt;
          const audit = last || round % AUDIT_EVERY === 0;
          const result = await runRound(world, { seed, round, audit, acceptances });
          report.add(name, result);
          violations.push(...result.violations.map((text) => `seed ${seed} round ${round}: ${text}`));
          print(`${name} seed ${seed} round ${round}: ${formatResult(result)}`);
          for (const text of result.violations) print(`  VIOLATION ${text}`);
        }
      } finally {
        leaked = await world.stop();
        print(report.format());
      }
      for (const node of world.nodes) {
        print(`memory of service ${node.name}: at most ${Math.round(node.maxResidentBytes / 2 ** 20)} MiB`);
        expect(node.maxResidentBytes).toBeLessThan(MAX_RESIDENT_BYTES);
      }
      // A single service with its database beside it rarely loses a claim.
      if (starved && setup !== 'embedded' && report.total('claims released') === 0) {
        violations.push('no claim was released: the starving has no effect');
      }
      expect(violations).toEqual([]);
      expect(leaked).toEqual([]);
    },
    ROUNDS * ROUND_TIMEOUT_MS,
  );
});

function formatResult({ faults, requests, accepted, claims, laps }: RoundResult): string {
  const list = (items: Iterable<readonly [string, number]>) =>
    [...items].map(([name, count]) => `${name} ${count}`).join(', ');
  const happened = faults.length === 0 ? 'no other fault' : faults.join(' + ');
  const ended = list(Object.entries(claims));
  return `${happened}; ${requests} requests, ${accepted} accepted; claims: ${ended}; ms: ${list(laps)}`;
}
