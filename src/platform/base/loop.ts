/** A loop that repeats one piece of work, never two rounds at once. */
import type { Logger } from './basics.ts';
import { createFailureLog } from './failure-log.ts';
import { outsideRequest } from './request-scope.ts';
import { systemTimers, type Timers } from './timers.ts';

export interface Loop {
  /** Waits for the round under way. */
  stop(): Promise<void>;
}

export interface WokenLoop extends Loop {
  /** There may be something to do: starts a round as soon as the pause after the last one is over. */
  wake(): void;
}

export interface LoopOptions {
  /** From the end of a round to the beginning of the next, in ms; the first begins at once. */
  readonly intervalMs: number;
  /** The same after a round that failed. Default: `intervalMs`. */
  readonly retryMs?: number;
  /**
   * True: after the pause, a round waits for `wake`; but a failed one is repeated anyway. Default: false, the round
   * begins when the pause is over.
   */
  readonly waitsForWake?: boolean;
  /** The shortest pause to which `wake` may cut `intervalMs`, in ms. Default: `intervalMs`, so no pause is cut. */
  readonly wokenMs?: number;
  /** A failure is logged once until a round works, and the loop continues. `stop` aborts `signal`. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  /** Logged when `run` throws. */
  readonly failure: string;
  readonly logger: Logger;
  /** Default: those of the system. */
  readonly timers?: Timers;
}

export function startLoop(options: LoopOptions): WokenLoop {
  const {
    intervalMs,
    retryMs = intervalMs,
    waitsForWake = false,
    wokenMs = intervalMs,
    run,
    failure,
    logger,
    timers = systemTimers,
  } = options;
  const failures = createFailureLog(logger, failure);
  const stopping = new AbortController();
  let cancel = () => {};
  let round = Promise.resolve();
  let isDue = true;
  /** Neither a round nor the pause after it is under way. */
  let isResting = false;
  /** When the pause under way may end early, by `Timers.now`; null: it may not, or none is under way. */
  let wakeableAt: number | null = null;

  function begin(): void {
    wakeableAt = null;
    if (stopping.signal.aborted) return;
    isResting = waitsForWake && !isDue;
    if (isResting) return;
    isDue = false;
    round = runOnce();
  }

  async function runOnce(): Promise<void> {
    let pauseMs = intervalMs;
    try {
      await run(stopping.signal);
      failures.worked();
      if (isDue) pauseMs = Math.min(wokenMs, intervalMs);
      else if (wokenMs < intervalMs) wakeableAt = timers.now() + wokenMs;
    } catch (error) {
      failures.failed(error);
      isDue = true;
      pauseMs = retryMs;
    }
    if (!stopping.signal.aborted) cancel = timers.after(pauseMs, begin);
  }

  cancel = timers.after(0, begin);
  return {
    wake() {
      isDue = true;
      if (isResting) outsideRequest(begin);
      else if (wakeableAt !== null) {
        cancel();
        cancel = timers.after(Math.max(0, wakeableAt - timers.now()), begin);
        wakeableAt = null;
      }
    },
    async stop() {
      stopping.abort();
      wakeableAt = null;
      cancel();
      await round;
    },
  };
}
