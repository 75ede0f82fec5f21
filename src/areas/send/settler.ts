/**
 * A loop that settles interrupted work: at the start, after a request for a round, and once a minute anyway, since a
 * statement on a broken connection may still be carried out later.
 */
import type { Logger } from '../../platform/base/basics.ts';
import { systemTimers, type Timers } from '../../platform/base/timers.ts';
import { startLoop, type Loop } from '../../platform/base/loop.ts';

/** The time between two checks for a due round, in ms: a request waits no longer. A check costs no statement. */
const INTERVAL_MS = 1000;
/** After this many checks a round is due without a request. */
const LOOKS_BETWEEN_ROUNDS = 60;

export interface SettlerOptions {
  /** True once after a round was requested. */
  readonly takeRequest: () => boolean;
  readonly settle: () => Promise<void>;
  /** Called when the round failed and has to be repeated. */
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
