/**
 * The clocks of the machines of a world: one for each service, and one for the database's server, by libfaketime. A jump is seen by the
 * process at its next look. The mail server and the harness keep the right time.
 */
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { createFakeClock, skipWithoutFakeClock, type FakeClock } from '../helpers/fake-clock.ts';
import type { Random } from './random.ts';

export interface Clocks {
  /** By the names of services. */
  readonly services: ReadonlyMap<string, FakeClock>;
  /** null where the server is not started through `unshare`. */
  readonly database: FakeClock | null;
  /** For PATH of the process that starts the server. */
  readonly path: string;
  heal(): Promise<void>;
  remove(): Promise<void>;
}

/** null where libfaketime is not installed. */
export async function createClocks(folder: string, services: readonly string[]): Promise<Clocks | null> {
  if (skipWithoutFakeClock()) return null;
  const clocks = new Map<string, FakeClock>();
  for (const name of services) clocks.set(name, await createFakeClock());
  // The server gets none of our environment but PATH. Root starts it by `unshare`, so another program of that name sets its clock.
  const database = process.geteuid?.() === 0 ? await createFakeClock() : null;
  const programs = join(folder, 'programs');
  if (database !== null) await writeUnshare(programs, database);
  const all = [...clocks.values(), ...(database === null ? [] : [database])];
  return {
    services: clocks,
    database,
    path: [programs, process.env['PATH'] ?? ''].join(delimiter),
    async heal() {
      for (const clock of all) await clock.shift(0);
    },
    async remove() {
      for (const clock of all) await clock.remove();
    },
  };
}

async function writeUnshare(folder: string, { env }: FakeClock): Promise<void> {
  await mkdir(folder);
  const variables = Object.entries(env).map(([name, value]) => `export ${name}='${value}'`);
  const file = join(folder, 'unshare');
  await writeFile(file, ['#!/bin/sh', ...variables, 'exec /usr/bin/unshare "$@"', ''].join('\n'));
  await chmod(file, 0o755);
}

const SECOND_MS = 1000;

/** From the smallest to the largest jump, in seconds. */
export const JUMPS = {
  minutes: [60, 3_540],
  hours: [3_600, 82_800],
  days: [86_400, 400 * 86_400],
} as const;

/** In ms, ahead or behind. */
export function pickJump(random: Random, size: keyof typeof JUMPS): number {
  const [least, most] = JUMPS[size];
  return random.integer(least, most) * SECOND_MS * (random.chance(0.5) ? 1 : -1);
}
