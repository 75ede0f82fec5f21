/**
 * A clock of processes that a test sets, also while they run: libfaketime of Debian. Only the time of day is changed; the monotonic clock,
 * and so every timer, runs on as it is.
 */
import { existsSync } from 'node:fs';
import { chmod, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { skipFor } from './skip.ts';
import { makeTempFolder } from './temp-folder.ts';

const LIBRARIES = ['x86_64-linux-gnu', 'aarch64-linux-gnu'].map(
  (machine) => `/usr/lib/${machine}/faketime/libfaketime.so.1`,
);

export interface FakeClock {
  /** Environment variables of the processes that have this clock, and of the processes that they start. */
  readonly env: Readonly<Record<string, string>>;
  /** From now on the clock differs by that much from the machine's, in ms; positive: it is ahead. */
  shift(offsetMs: number): Promise<void>;
  remove(): Promise<void>;
}

/** For `describe.skipIf`; see skip.ts. */
export const skipWithoutFakeClock = (): boolean =>
  skipFor(
    'tests with wrong clocks',
    LIBRARIES.some((library) => existsSync(library))
      ? null
      : 'libfaketime is missing: run .ci/install-servers.sh',
  );

/** @param offsetMs see `FakeClock.shift` */
export async function createFakeClock(offsetMs = 0): Promise<FakeClock> {
  const library = LIBRARIES.find((file) => existsSync(file));
  if (library === undefined) throw new Error('libfaketime is not installed');
  const folder = await makeTempFolder();
  // Servers of databases run as a user of their own.
  await chmod(folder.path, 0o755);
  const file = path.join(folder.path, 'offset');
  let shifts = 0;
  const shift = async (ms: number) => {
    // Read at every look at the clock, so it must never be half written; two faults of one round may set one clock at the same moment.
    const written = `${file}.${(shifts += 1)}`;
    await writeFile(written, `${ms < 0 ? '-' : '+'}${(Math.abs(ms) / 1000).toFixed(3)}\n`);
    await rename(written, file);
  };
  await shift(offsetMs);
  return {
    env: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      NO_FAKE_STAT: '1',
    },
    shift,
    remove: () => folder.remove(),
  };
}
