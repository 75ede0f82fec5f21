/** The loop that deletes old deliveries of webhooks, a whole day at a time, when the events of that day are deleted. */
import type { DeliveryLog } from './webhook-ports.ts';
import type { Logger } from '../../platform/base/basics.ts';
import type { RequireTime } from '../../platform/base/clock-guard.ts';
import { startLoop, type Loop } from '../../platform/base/loop.ts';

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
