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

/** Fails when the work takes this much CPU or more in each of several runs. */
export function expectCpuBelow(limitMs: number, work: () => void): void {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < MAX_RUNS && best >= limitMs; run++) best = Math.min(best, cpuMs(work));
  expect(best).toBeLessThan(limitMs);
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
  expect(growth()).toBeLessThan(factor);
}
