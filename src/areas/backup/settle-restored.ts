/**
 * Settles what must not go on as it stood in a restored database: claims of processes that are gone, sessions, and sends that may have gone
 * out since.
 */
import type { LoadResult, WaitingSendsPolicy } from './backup-ports.ts';
import type { Executor } from '../../platform/db/statement.ts';
import { dropAbsences } from '../absence/absence-store.ts';
import { keepPositions, skipPositions } from '../events/skip-positions.ts';
import { closeOpenKeys } from '../send/idempotency-keys.ts';
import { holdSends } from '../send/queue-rows.ts';
import { endEverySession } from '../sessions/session-store.ts';

/**
 * Claims with a lease, such as those of mailboxes and webhooks, run out by themselves. Triggers are in force, so that the feed reports what
 * becomes of sends.
 */
export async function settleRestored(
  executor: Executor,
  takenAt: Date,
  policy: WaitingSendsPolicy,
): Promise<Omit<LoadResult, 'rows'>> {
  if (policy === 'keep') {
    await keepPositions(executor);
    return { heldSends: 0, closedKeys: 0 };
  }
  await endEverySession(executor);
  await dropAbsences(executor);
  const closedKeys = await closeOpenKeys(executor);
  const detail = `restored from a backup of ${takenAt.toISOString()}: it may have been sent since`;
  const heldSends = await holdSends(executor, detail, policy === 'hold');
  await skipPositions(executor);
  return { heldSends, closedKeys };
}
