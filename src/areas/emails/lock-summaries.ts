/** Locks the rows of `thread_summaries` before the rows that they count. */
import { run, statement, type Executor } from '../../platform/db/statement.ts';

/**
 * Call it before emails are rewritten or removed, or read marks are changed: marking a thread locks its summary first, then its emails and
 * marks (thread-list.ts); the triggers alone would lock the summary last.
 */
export async function lockSummariesOf(trx: Executor, emailIds: readonly string[]): Promise<void> {
  await run(trx, LOCK_SUMMARIES, { emailIds });
}

const LOCK_SUMMARIES = statement(
  'lock-summaries',
  `select from thread_summaries
    where thread_id = any (array(select thread_id from emails where id = any ($emailIds::uuid[])))
    order by thread_id for update`,
);
