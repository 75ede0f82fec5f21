/** Finds out which accounts have recorded data. */
import type { Pool } from 'pg';
import { run, statement } from '../../platform/db/statement.ts';

/** The number of emails that are recorded under the id. */
export function createEmailCounter(pool: Pool): (accountId: string) => Promise<number> {
  return async (accountId) => Number((await run(pool, COUNT_EMAILS, { accountId }))[0]?.emails ?? 0);
}

export function createUsedAccounts(pool: Pool): (accountId: string) => Promise<boolean> {
  return async (accountId) => (await run(pool, IS_USED, { accountId })).length > 0;
}

const COUNT_EMAILS = statement(
  'count-emails-of-account',
  'select count(*) as emails from emails where account_id = $accountId',
);

/** In the order of an index: otherwise a million emails would be read to find that there is none. */
const IS_USED = statement(
  'used-account',
  `(select 1 as one from emails where account_id = $accountId order by message_id limit 1)
  union all
  select 1 from mailbox_accounts where account_id = $accountId
  limit 1`,
);
