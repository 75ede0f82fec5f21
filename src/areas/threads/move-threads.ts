/** Threads that end by a merge. */
import type { Executor } from '../../platform/db/statement.ts';
import { endThreads } from '../emails/thread-rows.ts';
import { handOverMessageIds } from './message-ids.ts';
import { handOverEmails } from './place-emails.ts';
import { uniteWork } from './thread-work.ts';

/**
 * Moves everything in the threads to the survivor, and makes their identifiers lead to it for ever. For a transaction that holds
 * `lockLinks`, and that works out the customers of the threads at its end (relink-customers.ts).
 */
export async function absorbThreads(
  executor: Executor,
  survivorId: string,
  endingIds: readonly string[],
): Promise<void> {
  if (endingIds.length === 0) return;
  await uniteWork(executor, survivorId, endingIds);
  await handOverMessageIds(executor, survivorId, endingIds);
  await handOverEmails(executor, survivorId, endingIds);
  await endThreads(executor, survivorId, endingIds);
}
