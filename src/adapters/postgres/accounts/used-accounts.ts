/** Tells which accounts have recorded data. */
import type { Pool } from 'pg';
import { createNamedQuery } from '../db/named-query.ts';

export function createUsedAccounts(pool: Pool): (accountId: string) => Promise<boolean> {
  const query = createNamedQuery(pool);
  return async (accountId) => (await query('used-account', IS_USED, [accountId])).length > 0;
}

/** In the order of an index: otherwise a million emails would be read to find that none is there. */
const IS_USED = `
  (select 1 from emails where account_id = $1 order by message_id limit 1)
  union all
  select 1 from mailbox_accounts where account_id = $1
  limit 1`;
