/** The loop that prepares the feed for the next day, and deletes old events, a whole day at a time. */
import type { EventFeed } from './event-ports.ts';
import type { Logger } from '../../platform/base/basics.ts';
import type { ClockGuard } from '../../platform/base/clock-guard.ts';
import { startLoop, type Loop } from '../../platform/base/loop.ts';

/** A day has some hundred tries to find a moment in which no long transaction, such as a backup, reads events. */
const INTERVAL_MS = 600_000;

export interface EventKeeperPorts {
  readonly feed: Pick<EventFeed, 'keep'>;
  readonly guard: Pick<ClockGuard, 'check'>;
  readonly logger: Logger;
  /** The number of whole days that events are kept. */
  readonly eventsDays: number;
}

export function startEventKeeper({ feed, guard, logger, eventsDays }: EventKeeperPorts): Loop {
  return startLoop({
    intervalMs: INTERVAL_MS,
    failure: 'the feed could not be made ready for the next day',
    logger,
    async run() {
      const days = await feed.keep((await guard.check()) === null ? eventsDays : null);
      if (days !== null && days > 0) logger.info({ days }, 'old events were deleted');
    },
  });
}
