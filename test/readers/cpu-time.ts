import { expect } from 'vitest';

/** CPU time of this process, in milliseconds: other work of a busy machine does not count. */
export function cpuMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** The lowest of several runs: garbage collection and compilation affect only some of them. */
export function bestCpuMs(runs: number, work: () => void): number {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runs; run++) best = Math.min(best, cpuMs(work));
  return best;
}

/** The first runs compile, and garbage collection affects some: one run below the limit is enough. */
const MAX_RUNS = 5;

/** Work that is always the same: lines are found and split. */
const REFERENCE_TEXT = 'On 1 a@b <x> wrote: \n> Re: x, y; z="q"\n'.repeat(36_000);
/** CPU time of that work on a machine that does nothing else, in ms. */
const REFERENCE_MS = 27;
/** CPUs that share a core take twice as long for the same work when both are busy. */
const MAX_SLOWNESS = 3;

/** How many times as long work takes now, between 1 and `MAX_SLOWNESS`. */
function slowness(): number {
  const ms = bestCpuMs(MAX_RUNS, () => {
    let words = 0;
    for (const [, , , rest = ''] of REFERENCE_TEXT.matchAll(/^(>?)\s*(\w+)[ :](.*)$/gm))
      words += rest.split(' ').length;
    if (words === 0) throw new Error('the reference finds nothing');
  });
  return Math.min(MAX_SLOWNESS, Math.max(1, ms / REFERENCE_MS));
}

/** Fails when the work takes this much CPU or more in each of several runs, measured against work that is always the same. */
export function expectCpuBelow(limitMs: number, work: () => void): void {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < MAX_RUNS && best >= limitMs; run++) best = Math.min(best, cpuMs(work));
  expect(best).toBeLessThan(best < limitMs ? limitMs : limitMs * slowness());
}

/**
 * Fails when the large input takes this many times as much CPU as the small one or more, each at its best of several runs.
 * Less than `floorMs` counts as that much, since it is mostly noise.
 */
export function expectCpuGrowthBelow<T>(
  factor: number,
  work: (input: T) => void,
  small: T,
  large: T,
  floorMs: number,
  what = 'growth',
): void {
  let [smallMs, largeMs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  const growth = (): number => largeMs / Math.max(smallMs, floorMs);
  for (let run = 0; run < MAX_RUNS && !(growth() < factor); run++) {
    smallMs = Math.min(
      smallMs,
      cpuMs(() => work(small)),
    );
    largeMs = Math.min(
      largeMs,
      cpuMs(() => work(large)),
    );
  }
  expect(growth(), what).toBeLessThan(factor);
}
