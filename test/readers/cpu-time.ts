/** CPU time of this process, in milliseconds: what a busy machine does meanwhile does not count. */
export function cpuMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** The least of several runs: garbage collection and compilation fall into some of them only. */
export function bestCpuMs(runs: number, work: () => void): number {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runs; run++) best = Math.min(best, cpuMs(work));
  return best;
}

/**
 * How many times as much CPU the large input takes as the small one, each at its best of five runs in turns: garbage collection
 * and compilation fall into some of them only. Less than `floorMs` counts as that much, since it is mostly noise.
 */
export function cpuGrowth<T>(work: (input: T) => void, small: T, large: T, floorMs: number): number {
  let [smallMs, largeMs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let run = 0; run < 5; run++) {
    smallMs = Math.min(
      smallMs,
      cpuMs(() => work(small)),
    );
    largeMs = Math.min(
      largeMs,
      cpuMs(() => work(large)),
    );
  }
  return largeMs / Math.max(smallMs, floorMs);
}
