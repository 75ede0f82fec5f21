/** Refuses an email that would continue an automatic exchange for too long. */
import type { LoopLimit } from '../../core/delivery/loop-guard.ts';
import { ServiceError } from '../../core/errors.ts';
import type { Logger } from '../../platform/base/basics.ts';

export interface LoopGuardPorts {
  /** null: no limit; then the database is not asked. */
  readonly loopLimit: LoopLimit | null;
  readonly exchanges: ExchangeStore;
  readonly logger: Logger;
}

export interface ExchangeStore {
  /**
   * How long ago the account's nth newest email of an automatic exchange with the address (lower case) was recorded, in ms;
   * null when there are fewer within `windowMs`. Throws `database_unavailable`.
   */
  nthNewest(accountId: string, address: string, windowMs: number, nth: number): Promise<number | null>;
}

/**
 * Throws `loop_suspected`. Sends at the same moment may pass it together. Without the database the email goes out
 * unchecked: nothing is received then either, so no loop continues.
 */
export async function refuseLoop(
  { loopLimit, exchanges, logger }: LoopGuardPorts,
  accountId: string,
  address: string,
): Promise<void> {
  if (loopLimit === null) return;
  const { windowMs, maxEmails } = loopLimit;
  let oldestMs: number | null;
  try {
    oldestMs = await exchanges.nthNewest(accountId, address, windowMs, maxEmails);
  } catch (err) {
    if (!(err instanceof ServiceError && err.code === 'database_unavailable')) throw err;
    logger.warn({ err, accountId }, 'an automatic exchange is not checked for a loop');
    return;
  }
  if (oldestMs === null) return;
  logger.warn(
    { code: 'loop_suspected', accountId, address, limit: maxEmails },
    'a send was refused: two programs seem to answer each other',
  );
  throw new ServiceError('loop_suspected', {
    values: { value: address },
    retryAfterSeconds: Math.max(1, Math.ceil((windowMs - oldestMs) / 1000)),
  });
}
