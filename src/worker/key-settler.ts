/** The loop that settles open idempotency keys: at the start, when one is left open, and once in a while anyway. */
import type { KeyWork } from '../app/send/idempotency.ts';
import type { Logger } from '../app/base/basics.ts';
import { systemTimers, type Timers } from '../app/base/timers.ts';
import { startLoop, type Loop } from './loop.ts';

/** How often to look whether settling is due, in ms: a caller who repeats its request waits no longer than this. */
const INTERVAL_MS = 1000;
/** Rounds after which the keys are checked unasked: a claim may be stored after its connection was given up. */
const ROUNDS_BETWEEN_LOOKS = 60;

export function startKeySettler(
  work: KeyWork,
  settle: () => Promise<void>,
  logger: Logger,
  timers: Timers = systemTimers,
): Loop {
  let rounds = 0;
  return startLoop({
    intervalMs: INTERVAL_MS,
    failure: 'idempotency keys could not be settled',
    logger,
    timers,
    async run() {
      rounds = (rounds + 1) % ROUNDS_BETWEEN_LOOKS;
      if (!work.takeSettlingRequest() && rounds !== 0) return;
      try {
        await settle();
      } catch (error) {
        work.needsSettling();
        throw error;
      }
    },
  });
}
