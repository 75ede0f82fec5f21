/**
 * A loop that settles what was cut off: at the start, when a round was asked for, and once a minute anyway, since what a broken
 * connection was to store may be stored later.
 */
import type { Logger } from '../app/base/basics.ts';
import { systemTimers, type Timers } from '../app/base/timers.ts';
import { startLoop, type Loop } from './loop.ts';

/** Between two looks whether a round is due, in ms: what is asked for waits no longer. A look costs no statement. */
const INTERVAL_MS = 1000;
/** After so many looks a round is due unasked. */
const LOOKS_BETWEEN_ROUNDS = 60;

export interface SettlerOptions {
  /** True once after a round was asked for. */
  readonly takeRequest: () => boolean;
  readonly settle: () => Promise<void>;
  /** The round failed, and has to be repeated. */
  readonly askAgain: () => void;
  /** Logged when a round fails. */
  readonly failure: string;
  readonly logger: Logger;
  /** Default: those of the system. */
  readonly timers?: Timers;
}

export function startSettler(options: SettlerOptions): Loop {
  const { takeRequest, settle, askAgain, failure, logger, timers = systemTimers } = options;
  let looks = 0;
  return startLoop({
    intervalMs: INTERVAL_MS,
    failure,
    logger,
    timers,
    async run() {
      looks = (looks + 1) % LOOKS_BETWEEN_ROUNDS;
      if (!takeRequest() && looks !== 0) return;
      try {
        await settle();
      } catch (error) {
        askAgain();
        throw error;
      }
    },
  });
}
