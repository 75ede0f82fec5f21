/** Finds out which accounts have recorded data. */
import type { Pool } from 'pg';
import { run, statement } from '../../platform/db/statement.ts';

export function createUsedAccounts(pool: Pool): (accountId: string) => Promise<boolean> {
  return async (accountId) => (await run(pool, IS_USED, { accountId })).length > 0;
}

/** In the order of an index: otherwise a million emails would be read to find that there is none. */
const IS_USED = statement(
  'used-account',
  `(select 1 as one from emails where account_id = $accountId order by message_id limit 1)
  union all
  select 1 from mailbox_accounts where account_id = $accountId
  limit 1`,
);
