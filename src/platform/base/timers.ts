/** The passing of time, as loops see it: injected, so that a test decides when timers fire and in which order. */
import { outsideRequest } from './request-scope.ts';

export interface Timers {
  /** Milliseconds since some moment; never goes back, and continues while the process is stopped. */
  now(): number;
  /** Calls `run` once, `delayMs` or more from now, outside of any request. Returns a function that cancels it. */
  after(delayMs: number, run: () => void): () => void;
}

export const systemTimers: Timers = {
  now: () => performance.now(),
  after(delayMs, run) {
    const timer = setTimeout(() => outsideRequest(run), delayMs);
    return () => clearTimeout(timer);
  },
};
