/** Refuses an email that would continue an automatic exchange for too long. */
import type { LoopLimit } from '../../core/delivery/loop-guard.ts';
import { ServiceError } from '../../core/errors.ts';
import type { Clock, Logger } from '../base/basics.ts';

export interface LoopGuardPorts {
  /** null: no limit; then the database is not asked. */
  readonly loopLimit: LoopLimit | null;
  readonly exchanges: ExchangeStore;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface ExchangeStore {
  /**
   * The time when the account's nth newest email of an automatic exchange with the address (lower case) was recorded;
   * null when there are fewer since then. Throws `database_unavailable`.
   */
  nthNewest(accountId: string, address: string, since: Date, nth: number): Promise<Date | null>;
}

/**
 * Throws `loop_suspected`. Sends at the same moment may pass it together. Without the database the email goes out
 * unchecked: nothing is received then either, so no loop continues.
 */
export async function refuseLoop(
  { loopLimit, exchanges, clock, logger }: LoopGuardPorts,
  accountId: string,
  address: string,
): Promise<void> {
  if (loopLimit === null) return;
  const since = new Date(clock().getTime() - loopLimit.windowMs);
  let oldest: Date | null;
  try {
    oldest = await exchanges.nthNewest(accountId, address, since, loopLimit.maxEmails);
  } catch (err) {
    if (!(err instanceof ServiceError && err.code === 'database_unavailable')) throw err;
    logger.warn({ err, accountId }, 'an automatic exchange is not checked for a loop');
    return;
  }
  if (oldest === null) return;
  logger.warn(
    { code: 'loop_suspected', accountId, address, limit: loopLimit.maxEmails },
    'a send was refused: two machines seem to answer each other',
  );
  const waitMs = oldest.getTime() - since.getTime();
  throw new ServiceError('loop_suspected', {
    values: { value: address },
    retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
  });
}
