/**
 * Real and hostile mails, mutated, through all readers: none throws, and none takes longer than its deadline. Two seconds in `npm test`, 20 in
 * `npm run test:long` (docs/decisions/0062-cost-of-tests.md), and as long as wanted by `npm run fuzz -- --minutes 60`.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { BOUNCE_CASES } from '../helpers/bounce-table.ts';
import { EML_FIXTURES } from '../helpers/eml-fixtures.ts';
import { hasMailArchive, readMailArchive } from '../helpers/mail-archive.ts';
import { IS_LONG } from '../helpers/runs.ts';
import { cpuMs } from '../readers/cpu-time.ts';
import { READERS } from '../readers/readers.ts';
import type { ReaderName } from '../readers/readers.ts';
import { mutate, randomFrom } from './mutate.ts';
import { startWatchdog } from './watchdog.ts';

/** CPU time in ms for one reader and one input. */
const DEADLINE_MS = 2000;
const RUN_MS = Number(process.env.FUZZ_MINUTES ?? (IS_LONG ? 0.33 : 0.03)) * 60_000;
const SEED = Number(process.env.FUZZ_SEED ?? 1);
const FOLDER = path.join(tmpdir(), 'email-worker-fuzz');
/** Each time, the other readers get a part of the mail, and the reader of whole mails gets all of it. */
const OTHERS = (Object.keys(READERS) as ReaderName[]).filter((name) => name !== 'mail');

it(
  'no reader throws or passes its deadline, whatever it reads',
  async () => {
    mkdirSync(FOLDER, { recursive: true });
    const watchdog = startWatchdog(path.join(FOLDER, `stuck-${SEED}.eml`));
    const mails = [...EML_FIXTURES, ...BOUNCE_CASES]
      .map(({ raw }) => raw)
      .concat(hasMailArchive() ? readMailArchive() : []);
    const faults: string[] = [];
    const began = Date.now();
    let inputs = 0;
    let slowestMs = 0;
    for (let seed = SEED * 1_000_000; Date.now() - began < RUN_MS && faults.length < 20; seed++) {
      const random = randomFrom(seed);
      const mail = mutate(mails, random);
      const at = Math.floor(random() * mail.length);
      const piece = mail.subarray(at, at + Math.ceil(random() ** 3 * mail.length));
      const other = OTHERS[Math.floor(random() * OTHERS.length)] ?? 'mail';
      for (const [name, input] of [
        ['mail', mail],
        [other, piece],
      ] as const) {
        inputs++;
        watchdog.begin(input);
        const fault = read(name, input);
        slowestMs = Math.max(slowestMs, fault.ms);
        if (fault.text === null) continue;
        const file = path.join(FOLDER, `${seed}-${name.replaceAll(' ', '-')}.bin`);
        writeFileSync(file, input);
        faults.push(`${name}, seed ${seed}: ${fault.text}; the input is in ${file}`);
      }
    }
    await watchdog.stop();
    process.stdout.write(
      `fuzz: ${inputs} inputs, ${faults.length} faults, the slowest took ${Math.round(slowestMs)} ms\n`,
    );
    expect(faults).toEqual([]);
  },
  RUN_MS + 300_000,
);

function read(name: ReaderName, input: Buffer): { readonly ms: number; readonly text: string | null } {
  try {
    const ms = cpuMs(() => READERS[name](input));
    return { ms, text: ms > DEADLINE_MS ? `took ${Math.round(ms)} ms for ${input.length} bytes` : null };
  } catch (error) {
    return {
      ms: 0,
      text: `threw ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    };
  }
}
