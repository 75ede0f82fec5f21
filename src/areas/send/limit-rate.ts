/** The rate limits of accounts, for sends that do not go through the queue. */
import type { RateLimit } from '../../core/delivery/rate-window.ts';
import { ServiceError } from '../../core/errors.ts';
import type { Logger } from '../../platform/base/basics.ts';
import type { SendQueue } from './queue-ports.ts';

export interface RateLimitPorts {
  readonly queue: Pick<SendQueue, 'takeRoom'>;
  /** null when the account has no limit: then the database is not asked. */
  readonly rateOf: (accountId: string) => RateLimit | null;
  readonly logger: Logger;
}

/**
 * Counts one message of the account. Throws `rate_limited` when the limit is reached. Without the database it goes out
 * uncounted: a send that works is worth more then, and the provider counts, too.
 */
export async function useRoomOf(ports: RateLimitPorts, accountId: string): Promise<void> {
  const rate = ports.rateOf(accountId);
  if (rate === null) return;
  let waitMs = 0;
  try {
    waitMs = await ports.queue.takeRoom(accountId, rate);
  } catch (err) {
    if (!(err instanceof ServiceError && err.code === 'database_unavailable')) throw err;
    ports.logger.warn({ err, accountId }, 'a send is not counted against the rate limits of its account');
  }
  if (waitMs > 0) throw new ServiceError('rate_limited', { retryAfterSeconds: Math.ceil(waitMs / 1000) });
}
