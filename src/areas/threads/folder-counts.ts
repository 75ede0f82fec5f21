/**
 * `FolderCounter` on PostgreSQL: each count walks an index up to MAX_FOLDER_COUNT, so that it costs the same for a hundred threads and a
 * million. With counters maintained by triggers, all incoming mail would wait for the same few rows.
 */
import { accountIdsOf, type AccountFilter } from '../../platform/base/account-filter.ts';
import type { EmailState } from '../../core/delivery/states.ts';
import { jsonObjects, type JsonOf } from '../../platform/db/json.ts';
import { run, statements, type Executor } from '../../platform/db/statement.ts';
import { facetsOf } from './thread-list-rows.ts';

/** Each count ends here: it then means "this many or more", and costs the same however much there is. */
export const MAX_FOLDER_COUNT = 1000;

/** Labels and accounts that are counted, in alphabetical order; each costs an index lookup. */
export const MAX_COUNTED_LABELS = 100;
export const MAX_COUNTED_ACCOUNTS = 50;

export interface FolderCountsQuery extends AccountFilter {
  /** The assignee whose threads are counted as `mine`; null: none are counted. */
  readonly assignee: string | null;
}

interface OpenThreads {
  readonly open: number;
  /** Open threads with unread emails, and those that wait for an answer. */
  readonly unread: number;
  readonly unanswered: number;
}

export interface FolderCounts {
  readonly threads: OpenThreads & {
    /** Threads with something that was not delivered. */
    readonly undelivered: number;
    readonly done: number;
    readonly spam: number;
    /** Those of them that have a customer: perhaps by mistake. */
    readonly spamOfCustomers: number;
    /** Open threads. */
    readonly mine: number;
    readonly unassigned: number;
  };
  readonly emails: {
    readonly received: number;
    readonly sent: number;
    /** Emails to be sent at a later time. */
    readonly scheduled: number;
    /** Emails in the queue, including scheduled ones. */
    readonly queued: number;
    readonly deferred: number;
    readonly failed: number;
    readonly unknown: number;
  };
  /** Emails that are being written. */
  readonly drafts: number;
  /** Open threads by label. */
  readonly labels: readonly { readonly label: string; readonly open: number }[];
  /** Empty when one account is requested. */
  readonly accounts: readonly ({ readonly accountId: string } & OpenThreads)[];
}

/** Throws `ServiceError('database_unavailable')`. */
export interface FolderCounter {
  /** In one round trip. */
  countFolders(query: FolderCountsQuery): Promise<FolderCounts>;
}

export function createFolderCounter(pool: Executor): FolderCounter {
  return {
    async countFolders(query) {
      const { assignee } = query;
      const accountIds = accountIdsOf(query);
      const own = accountIds === null ? 'all' : query.accountId === null ? 'some' : 'one';
      const [row] = await run(pool, COUNT.of({ own, hasAssignee: assignee !== null }), {
        accountIds,
        assignee,
      });
      if (row === undefined) throw new Error('counts are one row');
      return row;
    },
  };
}

const ANY = { direction: null, unread: null, unanswered: null, status: null } as const;
/** Conditions on the facets. */
const OPEN = facetList({ ...ANY, status: 'open' });
const DONE = facetList({ ...ANY, status: 'done' });
const SPAM = facetList({ ...ANY, status: 'spam' });
const UNREAD = facetList({ ...ANY, status: 'open', unread: true });
const UNANSWERED = facetList({ ...ANY, status: 'open', unanswered: true });

function facetList(filter: Parameters<typeof facetsOf>[0]): string {
  return `facets = any ('{${facetsOf(filter).join(',')}}'::smallint[])`;
}

const count = (from: string) =>
  `(select count(*)::int from (select from ${from} limit ${MAX_FOLDER_COUNT}) n)`;

/** The first values of a column of an index, each found from the one before. */
const distinct = (column: string, table: string, condition: string, most: number) => `
    with recursive found as (
      (select ${column} as value, 1 as place from ${table} where ${condition} order by ${column} limit 1)
      union all
      select (
        select ${column} from ${table} where ${condition} and ${column} > f.value order by ${column} limit 1
      ), f.place + 1
      from found f where f.value is not null and f.place < ${most}
    )
    select value from found where value is not null`;

const openThreads = (condition: string) => ({
  open: count(`thread_summaries where ${condition} and ${OPEN}`),
  unread: count(`thread_summaries where ${condition} and ${UNREAD}`),
  unanswered: count(`thread_summaries where ${condition} and ${UNANSWERED}`),
});

const OF = { own: ['all', 'some', 'one'] } as const;
type Own = (typeof OF.own)[number];

/** Conditions that select the threads to count: of all accounts, of some, or of one. */
const IS_OWN: Readonly<Record<Own, string>> = {
  all: 'true',
  some: 'account_id = any ($accountIds::text[])',
  one: 'account_id = ($accountIds::text[])[1]',
};

const THREADS = jsonObjects(
  'folder-threads-json',
  { ...OF, hasAssignee: [false, true] },
  ({ own, hasAssignee }) => ({
    columns: {
      ...openThreads(IS_OWN[own]),
      undelivered: count(`thread_summaries where ${IS_OWN[own]} and undelivered > 0`),
      done: count(`thread_summaries where ${IS_OWN[own]} and ${DONE}`),
      spam: count(`thread_summaries where ${IS_OWN[own]} and ${SPAM}`),
      // In the terms of its index
      spamOfCustomers: count(
        `thread_summaries where ${IS_OWN[own]} and facets = 16 and customer_id is not null`,
      ),
      mine: hasAssignee
        ? count(`thread_summaries where ${IS_OWN[own]} and assignee = $assignee and ${OPEN}`)
        : '0',
      unassigned: count(`thread_summaries where ${IS_OWN[own]} and assignee is null and ${OPEN}`),
    },
  }),
).narrow<FolderCounts['threads']>();

const EMAILS = jsonObjects('folder-emails-json', OF, ({ own }) => {
  const emails = (state: EmailState) => count(`emails where ${IS_OWN[own]} and state = '${state}'`);
  return {
    columns: {
      received: emails('received'),
      sent: emails('sent'),
      scheduled: count(
        `send_queue where ${IS_OWN[own]} and owner is null and attempts = 0 and due_at > now()`,
      ),
      queued: count(`emails where ${IS_OWN[own]} and state in ('queued', 'sending')`),
      deferred: emails('deferred'),
      failed: emails('failed'),
      unknown: emails('unknown'),
    },
  };
}).narrow<FolderCounts['emails']>();

const LABEL = jsonObjects('folder-label-json', OF, ({ own }) => ({
  from: `(${distinct('label', 'thread_labels', IS_OWN[own], MAX_COUNTED_LABELS)}) l`,
  columns: {
    label: 'l.value',
    open: count(`thread_labels t where ${IS_OWN[own]} and t.label = l.value and ${OPEN}`),
  },
})).narrow<FolderCounts['labels'][number]>();

const ACCOUNT = jsonObjects('folder-account-json', OF, ({ own }) => ({
  from: `(${distinct('account_id', 'thread_summaries', IS_OWN[own], MAX_COUNTED_ACCOUNTS)}) a`,
  columns: { accountId: 'a.value', ...openThreads('account_id = a.value') },
})).narrow<FolderCounts['accounts'][number]>();

const COUNT = statements(
  'count-folders',
  { ...OF, hasAssignee: [false, true] },
  ({ own, hasAssignee }) => `
  select ${THREADS.of({ own, hasAssignee }).object} as threads, ${EMAILS.of({ own }).object} as emails,
    ${count(`drafts where ${IS_OWN[own]}`)} as drafts,
    ${LABEL.of({ own }).array('', 'l.value')} as labels,
    ${own === 'one' ? `'[]'::json` : ACCOUNT.of({ own }).array('', 'a.value')} as accounts`,
  { plannedEachTime: 'a bounded count of a rare value has another plan' },
).narrow<{
  threads: JsonOf<typeof THREADS>;
  emails: JsonOf<typeof EMAILS>;
  drafts: number;
  labels: JsonOf<typeof LABEL>[];
  accounts: JsonOf<typeof ACCOUNT>[];
}>();
