/** A loop that does one thing again and again, never two rounds at once. */
import type { Logger } from '../app/base/basics.ts';
import { systemTimers, type Timers } from '../app/base/timers.ts';

export interface Loop {
  /** Waits for the round under way. */
  stop(): Promise<void>;
}

export interface LoopOptions {
  /** From the end of a round to the beginning of the next, in ms; the first begins at once. */
  readonly intervalMs: number;
  /** What it throws is logged, and the loop continues. */
  readonly run: () => Promise<void>;
  /** Logged when `run` throws. */
  readonly failure: string;
  readonly logger: Logger;
  /** Default: those of the system. */
  readonly timers?: Timers;
}

export function startLoop({ intervalMs, run, failure, logger, timers = systemTimers }: LoopOptions): Loop {
  let cancel = () => {};
  let stopped = false;
  let round = Promise.resolve();

  const next = (delayMs: number) => {
    if (stopped) return;
    cancel = timers.after(delayMs, () => {
      round = runOnce();
    });
  };

  async function runOnce(): Promise<void> {
    try {
      await run();
    } catch (err) {
      logger.error({ err }, failure);
    }
    next(intervalMs);
  }

  next(0);
  return {
    async stop() {
      stopped = true;
      cancel();
      await round;
    },
  };
}
