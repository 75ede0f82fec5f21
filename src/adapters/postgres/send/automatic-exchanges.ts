/** `ExchangeStore` on PostgreSQL: the partial index emails_exchange has only emails of automatic exchanges. */
import type { Pool } from 'pg';
import type { ExchangeStore } from '../../../app/send/refuse-loop.ts';
import { run, statement } from '../db/statement.ts';

export function createExchangeStore(pool: Pool): ExchangeStore {
  return {
    async nthNewest(accountId, address, since, nth) {
      const [row] = await run(pool, NTH_NEWEST, { accountId, address, since, newer: nth - 1 });
      return row?.created_at ?? null;
    },
  };
}

/** By the time of recording: the sender may write any Date. */
const NTH_NEWEST = statement(
  'nth-newest-exchange',
  `select created_at from emails
  where account_id = $accountId and exchange_with = $address and created_at > $since
    and state not in ('failed', 'cancelled')
  order by created_at desc offset $newer::int limit 1`,
);
