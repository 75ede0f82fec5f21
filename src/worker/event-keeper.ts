/** The loop that forgets old events, a whole day at a time. */
import { dayOf } from '../core/event/event-id.ts';
import type { EventFeed } from '../app/events/event-ports.ts';
import type { Clock, Logger } from '../app/base/basics.ts';
import { startLoop, type Loop } from './loop.ts';

const INTERVAL_MS = 3_600_000;

export interface EventKeeperPorts {
  readonly feed: Pick<EventFeed, 'forgetBefore'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How many whole days events are kept. */
  readonly eventsDays: number;
}

export function startEventKeeper({ feed, clock, logger, eventsDays }: EventKeeperPorts): Loop {
  return startLoop({
    intervalMs: INTERVAL_MS,
    failure: 'old events could not be forgotten',
    logger,
    async run() {
      const days = await feed.forgetBefore(dayOf(clock()) - eventsDays);
      if (days > 0) logger.info({ days }, 'old events were forgotten');
    },
  });
}
