/** `RefusedMergeStore` on PostgreSQL. Threads that were joined since, in whatever way, no longer count as refused. */
import { accountIdsOf, type AccountFilter } from '../../platform/base/account-filter.ts';
import { threadOfLink } from './message-ids.ts';
import { namedLinksOf } from './thread-graph.ts';
import { threadById } from '../emails/thread-rows.ts';
import { run, statements, type Executor, type RowOf } from '../../platform/db/statement.ts';
import type { LinkRule } from '../../core/thread/place-inbound.ts';
import type { Place } from '../../platform/base/paging.ts';

/**
 * An email names a Message-ID of another customer's thread. It is listed until the two are one thread, or nothing ties
 * them.
 */
export interface RefusedMerge {
  readonly id: string;
  readonly accountId: string;
  readonly emailId: string;
  /** The thread of the email. */
  readonly threadId: string;
  readonly customerId: string | null;
  /** The thread of the Message-ID. */
  readonly otherThreadId: string;
  readonly otherCustomerId: string | null;
  readonly rule: LinkRule;
  readonly messageId: string;
  readonly refusedAt: Date;
}

export interface RefusedMergeStore {
  /** Newest first. Throws `ServiceError('database_unavailable')`. */
  list(
    request: AccountFilter & { readonly after: Place | null; readonly limit: number },
  ): Promise<readonly RefusedMerge[]>;
}

export function createRefusedMergeStore(db: Executor): RefusedMergeStore {
  return {
    async list({ after, limit, ...filter }) {
      const accountIds = accountIdsOf(filter);
      const list = LIST_REFUSED.of({
        ofEmail: false,
        ofAccounts: accountIds !== null,
        isNext: after !== null,
      });
      const values = { limit, accountIds, afterDate: after?.date ?? null, afterId: after?.id ?? null };
      return (await run(db, list, values)).map(toRefusedMerge);
    },
  };
}

/** The threads that this email alone would have joined, the newest refusal first. */
export async function refusedOf(
  trx: Executor,
  emailId: string,
  limit: number,
): Promise<readonly RefusedMerge[]> {
  const list = LIST_REFUSED.of({ ofEmail: true, ofAccounts: false, isNext: false });
  return (await run(trx, list, { limit, emailId })).map(toRefusedMerge);
}

const LIST_REFUSED = statements(
  'list-refused',
  { ofEmail: [false, true], ofAccounts: [false, true], isNext: [false, true] },
  ({ ofEmail, ofAccounts, isNext }) => `
    select r.id, e.account_id, r.email_id, e.thread_id, t.customer_id, o.id as other_thread_id,
      o.customer_id as other_customer_id, r.message_id, r.refused_at, e.in_reply_to, e.reference_ids,
      e.bounced_message_id, e.placement_rule, e.placement_message_id, e.ignored_ids
    from refused_links r
    join emails e on e.id = r.email_id
    join email_threads t on t.id = e.thread_id
    join lateral ${threadById(threadOfLink('e', 'r.message_id', 'elsewhere'))} o on true
    where o.id <> e.thread_id
      ${ofEmail ? 'and r.email_id = $emailId' : ''} ${ofAccounts ? 'and e.account_id = any ($accountIds::text[])' : ''}
      ${isNext ? 'and (r.refused_at, r.id) < ($afterDate::timestamptz, $afterId::uuid)' : ''}
    order by r.refused_at desc, r.id desc limit $limit`,
).narrow<{ other_thread_id: string }>();

function toRefusedMerge(row: RowOf<ReturnType<typeof LIST_REFUSED.of>>): RefusedMerge {
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
