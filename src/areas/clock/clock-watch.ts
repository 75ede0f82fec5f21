/** The loop that compares the clocks of this process and of the database. */
import type { Logger } from '../../platform/base/basics.ts';
import type { ClockGuard } from '../../platform/base/clock-guard.ts';
import { startLoop, type Loop } from '../../platform/base/loop.ts';

/** Each irreversible act measures anew, so that this is for readiness and the time of records. An idle service asks little. */
const INTERVAL_MS = 30_000;

export function startClockWatch(guard: Pick<ClockGuard, 'measure' | 'shortenLeases'>, logger: Logger): Loop {
  return startLoop({
    intervalMs: INTERVAL_MS,
    failure: 'the clock of this process could not be compared with that of the database',
    logger,
    async run() {
      await guard.measure();
      await guard.shortenLeases();
    },
  });
}
