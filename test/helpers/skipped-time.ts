/** Time for a test that skips hours while real work goes on: timers fire when their time has come, whether it passed or was skipped. */
import type { Timers } from '../../src/platform/base/timers.ts';

export interface SkippedTime extends Timers {
  readonly clock: () => Date;
  /** Moves the time forward, and fires the timers that are due by then. */
  skip(ms: number): void;
}

export function createSkippedTime(): SkippedTime {
  let skipped = 0;
  const pending = new Set<{ readonly at: number; readonly fire: () => void }>();
  const now = () => performance.now() + skipped;
  return {
    now,
    clock: () => new Date(Date.now() + skipped),
    after(delayMs, run) {
      const timer = {
        at: now() + delayMs,
        fire() {
          clearTimeout(real);
          if (pending.delete(timer)) run();
        },
      };
      const real = setTimeout(timer.fire, delayMs);
      pending.add(timer);
      return () => {
        clearTimeout(real);
        pending.delete(timer);
      };
    },
    skip(ms) {
      skipped += ms;
      for (const timer of [...pending].toSorted((a, b) => a.at - b.at)) if (timer.at <= now()) timer.fire();
    },
  };
}
