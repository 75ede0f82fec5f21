/** The loop that deletes expired idempotency keys. */
import type { IdempotencyKeys } from './idempotency.ts';
import type { Logger } from '../../platform/base/basics.ts';
import type { RequireTime } from '../../platform/base/clock-guard.ts';
import { startLoop, type Loop } from '../../platform/base/loop.ts';

const INTERVAL_MS = 3_600_000;
/** Keys deleted by one statement: some milliseconds, so that other statements do not wait. */
const BATCH = 1000;

export function startKeyCleaner(
  keys: Pick<IdempotencyKeys, 'deleteExpired'>,
  requireTime: RequireTime,
  logger: Logger,
): Loop {
  return startLoop({
    intervalMs: INTERVAL_MS,
    failure: 'idempotency keys could not be deleted; the next try is in an hour',
    logger,
    async run() {
      let deleted = BATCH;
      while (deleted === BATCH) {
        await requireTime();
        deleted = await keys.deleteExpired(BATCH);
      }
    },
  });
}
