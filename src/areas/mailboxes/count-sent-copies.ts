/** Copies in Sent mailboxes that are not stored, by account. */
import type { Pool } from 'pg';
import { run, statement } from '../../platform/db/statement.ts';
import type { SentCopyCounts } from './mailbox-status-ports.ts';

/**
 * The counts of accounts that have copies to be stored, or copies that failed.
 *
 * @param accountId null: of all accounts
 */
export async function countSentCopies(
  pool: Pool,
  accountId: string | null,
): Promise<readonly SentCopyCounts[]> {
  return (await run(pool, COUNT_OPEN, { accountId })).map((row) => {
    const { last_error: reason, last_error_at: at } = row;
    return {
      accountId: row.account_id,
      pending: Number(row.pending),
      failed: Number(row.failed),
      lastError: reason === null || at === null ? null : { reason, at },
    };
  });
}

const COUNT_OPEN = statement(
  'count-open-sent-copies',
  `select account_id, count(*) filter (where state = 'pending') as pending,
    count(*) filter (where state = 'failed') as failed, max(last_error_at) as last_error_at,
    (array_agg(last_error order by last_error_at desc nulls last))[1] as last_error
  from sent_copies where state <> 'stored' and ($accountId::text is null or account_id = $accountId) group by account_id order by account_id`,
).narrow<{ pending: string; failed: string }>();
