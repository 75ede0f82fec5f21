/** `ExchangeStore` on PostgreSQL: the partial index emails_exchange has only emails of automatic exchanges. */
import type { Pool } from 'pg';
import type { ExchangeStore } from './refuse-loop.ts';
import { fromNow } from '../../platform/db/from-now.ts';
import { run, statement } from '../../platform/db/statement.ts';

export function createExchangeStore(pool: Pool): ExchangeStore {
  return {
    async nthNewest(accountId, address, windowMs, nth) {
      const [row] = await run(pool, NTH_NEWEST, { accountId, address, windowMs, newer: nth - 1 });
      return row?.age_ms ?? null;
    },
  };
}

/** By the time of recording: the sender may write any Date. */
const NTH_NEWEST = statement(
  'nth-newest-exchange',
  `select (extract(epoch from now() - created_at) * 1000)::float8 as age_ms from emails
  where account_id = $accountId and exchange_with = $address and created_at > ${fromNow('-$windowMs::float8')}
    and state not in ('failed', 'cancelled')
  order by created_at desc offset $newer::int limit 1`,
).narrow<{ age_ms: number }>();
