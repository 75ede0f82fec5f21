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
