/** `ExchangeStore` on PostgreSQL: the partial index emails_exchange has emails of automatic exchanges alone. */
import type { Pool } from 'pg';
import type { ExchangeStore } from '../../../app/send/refuse-loop.ts';
import { createNamedQuery } from '../db/named-query.ts';

export function createExchangeStore(pool: Pool): ExchangeStore {
  const query = createNamedQuery(pool);
  return {
    async nthNewest(accountId, address, since, nth) {
      const [row] = await query<{ created_at: Date }>('nth-newest-exchange', NTH_NEWEST, [
        accountId,
        address,
        since,
        nth - 1,
      ]);
      return row?.created_at ?? null;
    },
  };
}

/** By the time of recording: what Date says is the sender's word. */
const NTH_NEWEST = `
  select created_at from emails
  where account_id = $1 and exchange_with = $2 and created_at > $3 and state not in ('failed', 'cancelled')
  order by created_at desc offset $4 limit 1`;
