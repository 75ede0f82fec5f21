/** The loop that deletes old deliveries of webhooks, a whole day at a time, when the events of that day are deleted. */
import type { DeliveryLog } from '../app/webhooks/webhook-ports.ts';
import type { Logger } from '../app/base/basics.ts';
import type { RequireTime } from '../app/base/clock-guard.ts';
import { startLoop, type Loop } from './loop.ts';

const INTERVAL_MS = 3_600_000;

export interface WebhookKeeperPorts {
  readonly log: Pick<DeliveryLog, 'forget'>;
  readonly requireTime: RequireTime;
  readonly logger: Logger;
  /** The number of whole days that deliveries are kept. */
  readonly eventsDays: number;
}

export function startWebhookKeeper({ log, requireTime, logger, eventsDays }: WebhookKeeperPorts): Loop {
  return startLoop({
    intervalMs: INTERVAL_MS,
    failure: 'old deliveries of webhooks could not be forgotten',
    logger,
    async run() {
      await requireTime();
      const days = await log.forget(eventsDays);
      if (days > 0) logger.info({ days }, 'old deliveries of webhooks were deleted');
    },
  });
}
