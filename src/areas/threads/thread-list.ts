/** `ThreadList` on PostgreSQL. Triggers maintain the rows of `thread_summaries`, see migrations/0001_schema/thread-list.ts. */
import type { Pool } from 'pg';
import { accountIdsOf, howMany } from '../../platform/base/account-filter.ts';
import type { ThreadList, ThreadListing, ThreadsQuery } from './thread-list-ports.ts';
import { toSnippet } from '../../core/message/snippet.ts';
import { formatTsquery } from '../../core/search/query.ts';
import { holdThread, markLockedThread } from './thread-marks.ts';
import { participantsOf } from './participants.ts';
import { facetsOf, type ListedThreadColumns } from './thread-list-rows.ts';
import { COUNT, LIST, LOOK_UP, WALK } from './thread-list-statements.ts';
import { WORK_COUNT, WORK_LIST, WORK_LOOK_UP, WORK_WALK } from './thread-work-list.ts';
import { run, type Executor, type RowOf } from '../../platform/db/statement.ts';
import { WALK_COST, type planSearch } from '../search/search-plan.ts';
import { searchPage } from '../search/search-pages.ts';
import { nameAuthor } from '../../platform/db/name-author.ts';
import { inTransaction } from '../../platform/db/transaction.ts';
import { createWordStatistics } from '../search/word-statistics.ts';

/** @param reads executes read-only statements */
export function createThreadList(pool: Pool, reads: Executor = pool, choose?: typeof planSearch): ThreadList {
  const readStatistics = createWordStatistics(reads);
  return {
    async listThreads(request) {
      const { search, customerId, companyId, limit } = request;
      const pages = hasWorkFilter(request) ? workPages(reads, request) : plainPages(reads, request);
      if (search === null) return (await pages.list()).map(toThreadListing);
      const words = formatTsquery(search);
      const { emails, estimate, rarest } = await readStatistics();
      const rows = await searchPage(
        { emails, share: estimate(search), limit, walkCost: WALK_COST.threads },
        {
          isNarrow:
            [customerId, companyId, request.assignee, request.label].some((value) => value !== null) ||
            howMany(accountIdsOf(request)) === 'one',
          walk: (steps) => pages.walk(words, steps),
          count: async (atMost) => (await pages.count(atMost))[0]?.count ?? 0,
          lookUp: () => pages.lookUp(words, rarest(search)),
        },
        choose,
      );
      return rows.map(toThreadListing);
    },

    markThread: (threadId, mark, keyId) =>
      inTransaction(pool, async (client) => {
        await nameAuthor(client, keyId);
        const thread = await holdThread(client, threadId);
        if (thread === null) return null;
        const { unreadCount } = await markLockedThread(client, thread, mark);
        return { threadId: thread, unreadCount };
      }),
  };
}

/** The statements of one request. */
interface Pages {
  list(): Promise<readonly Row[]>;
  walk(words: string, steps: number): Promise<readonly Row[]>;
  count(atMost: number): Promise<readonly { readonly count: number }[]>;
  lookUp(words: string, rarest: string): Promise<readonly Row[]>;
}

type Row = RowOf<ReturnType<typeof LIST.of>> & ListedThreadColumns;

const hasWorkFilter = (query: ThreadsQuery): boolean =>
  [query.status, query.assignee, query.isAssigned, query.label].some((value) => value !== null) ||
  [query.undelivered, query.hasAttachments, query.activeSince, query.activeUntil].some(
    (value) => value !== null,
  );

const conditionsOf = ({ customerId, companyId, after, ...filter }: ThreadsQuery) => ({
  ofCustomer: customerId !== null,
  ofCompany: companyId !== null,
  ofAccounts: howMany(accountIdsOf(filter)),
  isNext: after !== null,
});

const valuesOf = ({ limit, customerId, companyId, after, ...filter }: ThreadsQuery) => ({
  limit,
  customerId,
  companyId,
  accountIds: accountIdsOf(filter),
  afterDate: after?.date ?? null,
  afterId: after?.id ?? null,
});

function plainPages(pool: Executor, request: ThreadsQuery): Pages {
  const { direction, unread, unanswered } = request;
  const choice = { direction, unread, unanswered, ...conditionsOf(request) };
  const values = valuesOf(request);
  return {
    list: () => run(pool, LIST.of(choice), values),
    walk: (words, steps) => run(pool, WALK.of(choice), { ...values, words, steps }),
    count: (atMost) => run(pool, COUNT.of(choice), { ...values, atMost }),
    lookUp: (words, rarest) => run(pool, LOOK_UP.of(choice), { ...values, words, rarest }),
  };
}

const NO_SPAM = { direction: null, unread: null, unanswered: null };

function workPages(pool: Executor, request: ThreadsQuery): Pages {
  const { assignee, isAssigned, label, undelivered, hasAttachments, activeSince, activeUntil } = request;
  const anyAssignee = isAssigned === null ? null : isAssigned ? ('any' as const) : ('none' as const);
  const choice = {
    assignee: assignee === null ? anyAssignee : ('one' as const),
    byLabel: label !== null,
    ...conditionsOf(request),
  };
  const { direction, unread, unanswered, status } = request;
  const asked = { assignee, label, undelivered, hasAttachments, activeSince, activeUntil };
  // The facets of spam do not contain these.
  const ofSpam = status === 'spam' ? { direction, unread, unanswered } : NO_SPAM;
  const values = { ...valuesOf(request), ...asked, ...ofSpam, facets: facetsOf(request) };
  return {
    list: () => run(pool, WORK_LIST.of(choice), values),
    walk: (words, steps) => run(pool, WORK_WALK.of(choice), { ...values, words, steps }),
    count: (atMost) => run(pool, WORK_COUNT.of(choice), { ...values, limit: atMost }),
    lookUp: (words, rarest) => run(pool, WORK_LOOK_UP.of(choice), { ...values, words, rarest }),
  };
}

function toThreadListing(row: Row): ThreadListing {
  return {
    id: row.thread_id,
    accountId: row.account_id,
    subject: row.subject,
    customerId: row.customer_id,
    companyId: row.company_id,
    participants: participantsOf(row.people),
    emailCount: row.email_count,
    unreadCount: row.unread_count,
    hasAttachments: row.has_attachments,
    unanswered: row.unanswered,
    undelivered: row.undelivered,
    status: row.is_spam ? 'spam' : row.is_done ? 'done' : 'open',
    assignee: row.assignee,
    assigneeName: row.assignee_name,
    labels: row.labels,
    lastActivityAt: row.last_activity_at,
    newestEmail: {
      id: row.newest_email_id,
      direction: row.newest_direction,
      from: row.newest_from,
      verdict: row.newest_verdict,
      to: row.newest_to,
      automatic: row.newest_automatic,
      date: row.newest_date,
      snippet: toSnippet(row.newest_text),
    },
  };
}
