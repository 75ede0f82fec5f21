/** The loop that deletes old deliveries of webhooks, a whole day at a time, when the events of that day are deleted. */
import { dayOf } from '../core/event/event-id.ts';
import type { DeliveryLog } from '../app/webhooks/webhook-ports.ts';
import type { Clock, Logger } from '../app/base/basics.ts';
import { startLoop, type Loop } from './loop.ts';

const INTERVAL_MS = 3_600_000;

export interface WebhookKeeperPorts {
  readonly log: Pick<DeliveryLog, 'forgetBefore'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The number of whole days that deliveries are kept. */
  readonly eventsDays: number;
}

export function startWebhookKeeper({ log, clock, logger, eventsDays }: WebhookKeeperPorts): Loop {
  return startLoop({
    intervalMs: INTERVAL_MS,
    failure: 'old deliveries of webhooks could not be forgotten',
    logger,
    async run() {
      const days = await log.forgetBefore(dayOf(clock()) - eventsDays);
      if (days > 0) logger.info({ days }, 'old deliveries of webhooks were forgotten');
    },
  });
}
