/** `RefusedMergeStore` on PostgreSQL. Threads that were joined since, by hand or by a decision, no longer count as refused. */
import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { RefusedMerge, RefusedMergeStore } from '../../../app/threads/refused-merge-ports.ts';
import type { Database } from '../db/database.ts';
import { guard } from '../db/pool.ts';
import { namedLinksOf, type NamedIdsRow } from './thread-graph.ts';

export function createRefusedMergeStore(db: Kysely<Database>): RefusedMergeStore {
  return {
    async list({ accountId, after, limit }) {
      const ofAccount = accountId === null ? sql`` : sql`and e.account_id = ${accountId}`;
      const behind =
        after === null
          ? sql``
          : sql`and (r.refused_at, r.id) < (${after.date}::timestamptz, ${after.id}::uuid)`;
      const { rows } = await guard(refusedQuery(sql`${ofAccount} ${behind}`, limit).execute(db));
      return rows.map(toRefusedMerge);
    },
  };
}

export interface RefusedRow extends NamedIdsRow {
  id: string;
  account_id: string;
  email_id: string;
  thread_id: string;
  customer_id: string | null;
  other_thread_id: string;
  other_customer_id: string | null;
  message_id: string;
  refused_at: Date;
}

export function refusedQuery(conditions: RawBuilder<unknown>, limit: number): RawBuilder<RefusedRow> {
  return sql<RefusedRow>`
    select r.id, e.account_id, r.email_id, e.thread_id, t.customer_id, m.thread_id as other_thread_id,
      o.customer_id as other_customer_id, r.message_id, r.refused_at, e.in_reply_to, e.reference_ids,
      e.bounced_message_id, e.placement_rule, e.placement_message_id, e.ignored_ids
    from refused_links r
    join emails e on e.id = r.email_id
    join email_threads t on t.id = e.thread_id
    join thread_message_ids m on m.account_id = e.account_id and m.message_id = r.message_id
    join email_threads o on o.id = m.thread_id
    where m.thread_id <> e.thread_id ${conditions}
    order by r.refused_at desc, r.id desc limit ${limit}`;
}

export function toRefusedMerge(row: RefusedRow): RefusedMerge {
  const link = namedLinksOf(row).find(({ messageId }) => messageId === row.message_id);
  return {
    id: row.id,
    accountId: row.account_id,
    emailId: row.email_id,
    threadId: row.thread_id,
    customerId: row.customer_id,
    otherThreadId: row.other_thread_id,
    otherCustomerId: row.other_customer_id,
    rule: link?.rule ?? 'message_id',
    messageId: row.message_id,
    refusedAt: row.refused_at,
  };
}
