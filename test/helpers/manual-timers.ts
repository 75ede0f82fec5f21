/** Timers that a test moves forward: nothing fires between two calls of `advance`. */
import type { Timers } from '../../src/platform/base/timers.ts';

export interface ManualTimers extends Timers {
  /** Fires the timers that become due, in order, and lets the work that they start go on as far as it can without I/O. */
  advance(ms: number): Promise<void>;
}

/** The longest chain of promises before a timer is set again. */
const TURNS = 20;

export function createManualTimers(): ManualTimers {
  let nowMs = 0;
  let timers: { readonly at: number; readonly run: () => void }[] = [];
  const settle = async () => {
    for (let turn = 0; turn < TURNS; turn += 1) await Promise.resolve();
  };
  return {
    now: () => nowMs,
    after(delayMs, run) {
      const timer = { at: nowMs + delayMs, run };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    async advance(ms) {
      const end = nowMs + ms;
      for (;;) {
        await settle();
        const next = timers.toSorted((a, b) => a.at - b.at)[0];
        if (next === undefined || next.at > end) break;
        timers = timers.filter((other) => other !== next);
        nowMs = Math.max(nowMs, next.at);
        next.run();
      }
      nowMs = end;
    },
  };
}
