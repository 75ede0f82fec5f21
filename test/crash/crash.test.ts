/**
 * Kills, cuts and fills everything under load, and checks that nothing is lost and nothing is sent twice. Here in a
 * short form; `npm run crash` is the long one. What is checked and what came out is in docs/reliability.md.
 */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createReport } from './report.ts';
import { runRound } from './round.ts';
import { createWorld, type Setup } from './world.ts';

const env = process.env;
const MAIN = env['CRASH_MAIN'] ?? fileURLToPath(new URL('../../dist/main.js', import.meta.url));
/** With the short form: a few rounds of fixed seeds, and one seed that nobody has tried. */
const ROUNDS = Number(env['CRASH_ROUNDS'] ?? 3);
/** Begins no round after this time. */
const MINUTES = Number(env['CRASH_MINUTES'] ?? 1_000);
const FROM = Number(env['CRASH_FROM'] ?? 1);
const SEEDS = env['CRASH_SEED'] === undefined ? [1, Date.now() % 1_000_000] : [Number(env['CRASH_SEED'])];
const SETUPS = (['embedded', 'external', 'four'] as const).filter((setup) =>
  env['CRASH_SETUP'] === undefined ? setup !== 'four' : ['all', setup].includes(env['CRASH_SETUP']),
);
/** Every so many rounds the services are ended in order and their disks are looked through. */
const AUDIT_EVERY = 4;
/** Far above what a round takes, so that only a hang passes it. */
const ROUND_TIMEOUT_MS = 120_000;
/** The service holds no more than this, whatever happened to it before. */
const MAX_RESIDENT_BYTES = 400 * 1024 * 1024;

const print = (text: string): void => void process.stdout.write(`${text}\n`);

/** It looks at processes through /proc. */
describe.skipIf(process.platform !== 'linux').each(SETUPS)(
  'a crash test of the %s set-up',
  (setup: Setup) => {
    it.each(SEEDS)(
      'loses nothing and sends nothing twice, seed %i',
      async (seed) => {
        const world = await createWorld(setup, MAIN);
        const report = createReport();
        const violations: string[] = [];
        const acceptances = new Map<string, number>();
        if (world.nodes.some(({ disk }) => disk === null))
          print('full disk: skipped, mounting is not allowed here');
        let leaked: readonly string[] = [];
        try {
          const endAt = performance.now() + MINUTES * 60_000;
          let last = false;
          for (let round = FROM; !last; round += 1) {
            last = round === FROM + ROUNDS - 1 || performance.now() > endAt;
            const audit = last || round % AUDIT_EVERY === 0;
            const result = await runRound(world, { seed, round, audit, acceptances });
            report.add(setup, result);
            violations.push(...result.violations.map((text) => `seed ${seed} round ${round}: ${text}`));
            const { requests, accepted } = result;
            const laps = [...result.laps].map(([name, ms]) => `${name} ${ms}`).join(', ');
            print(
              `${setup} seed ${seed} round ${round}: ${result.faults.join(' + ')}; ${requests} requests, ` +
                `${accepted} accepted; ms: ${laps}`,
            );
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
        expect(violations).toEqual([]);
        expect(leaked).toEqual([]);
      },
      ROUNDS * ROUND_TIMEOUT_MS,
    );
  },
);
