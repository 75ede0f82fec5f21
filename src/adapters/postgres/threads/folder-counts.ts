/**
 * `FolderCounter` on PostgreSQL: each count walks an index up to MAX_FOLDER_COUNT, so that it costs the same for a hundred threads and a
 * million. Counters kept by triggers would make all mail that comes in wait for the same few rows.
 */
import {
  MAX_COUNTED_ACCOUNTS,
  MAX_COUNTED_LABELS,
  MAX_FOLDER_COUNT,
  type FolderCounter,
  type FolderCounts,
} from '../../../app/threads/folder-counts-ports.ts';
import { accountIdsOf } from '../../../app/base/account-filter.ts';
import { run, statements, type Executor } from '../db/statement.ts';
import { facetsOf } from './thread-list-rows.ts';

export function createFolderCounter(pool: Executor): FolderCounter {
  return {
    async countFolders(query) {
      const { assignee } = query;
      const accountIds = accountIdsOf(query);
      const choice = {
        ofAccounts: accountIds !== null,
        ofOne: query.accountId !== null,
        hasAssignee: assignee !== null,
      };
      const [row] = await run(pool, COUNT.of(choice), { accountIds, assignee });
      if (row === undefined) throw new Error('counts are one row');
      return row;
    },
  };
}

const ANY = { direction: null, unread: null, unanswered: null, status: null } as const;
/** Conditions on the facets. */
const OPEN = facetList({ ...ANY, status: 'open' });
const DONE = facetList({ ...ANY, status: 'done' });
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

const openThreads = (
  condition: string,
) => `'open', ${count(`thread_summaries where ${condition} and ${OPEN}`)},
    'unread', ${count(`thread_summaries where ${condition} and ${UNREAD}`)},
    'unanswered', ${count(`thread_summaries where ${condition} and ${UNANSWERED}`)}`;

const COUNT = statements(
  'count-folders',
  { ofAccounts: [false, true], ofOne: [false, true], hasAssignee: [false, true] },
  ({ ofAccounts, ofOne, hasAssignee }) => {
    const ofSome = ofOne ? 'account_id = ($accountIds::text[])[1]' : 'account_id = any ($accountIds::text[])';
    const own = ofAccounts ? ofSome : 'true';
    const emails = (state: string) => count(`emails where ${own} and state = '${state}'`);
    return `
  select json_build_object(
    ${openThreads(own)},
    'done', ${count(`thread_summaries where ${own} and ${DONE}`)},
    'mine', ${hasAssignee ? count(`thread_summaries where ${own} and assignee = $assignee and ${OPEN}`) : '0'},
    'unassigned', ${count(`thread_summaries where ${own} and assignee is null and ${OPEN}`)}
  ) as threads, json_build_object(
    'received', ${emails('received')}, 'sent', ${emails('sent')},
    'scheduled', ${count(`send_queue where ${own} and owner is null and attempts = 0 and due_at > now()`)},
    'queued', ${count(`emails where ${own} and state in ('queued', 'sending')`)},
    'deferred', ${emails('deferred')}, 'failed', ${emails('failed')}, 'unknown', ${emails('unknown')}
  ) as emails, ${count(`drafts where ${own}`)} as drafts, (
    select coalesce(json_agg(json_build_object(
      'label', l.value, 'open', ${count(`thread_labels t where ${own} and t.label = l.value and ${OPEN}`)}
    ) order by l.value), '[]')
    from (${distinct('label', 'thread_labels', own, MAX_COUNTED_LABELS)}) l
  ) as labels, ${
    ofOne
      ? `'[]'::json`
      : `(
    select coalesce(json_agg(json_build_object(
      'accountId', a.value, ${openThreads('account_id = a.value')}
    ) order by a.value), '[]')
    from (${distinct('account_id', 'thread_summaries', own, MAX_COUNTED_ACCOUNTS)}) a
  )`
  } as accounts`;
  },
  { plannedEachTime: 'a bounded count of a rare value has another plan' },
).narrow<FolderCountsRow>();

interface FolderCountsRow {
  threads: FolderCounts['threads'];
  emails: FolderCounts['emails'];
  drafts: number;
  labels: FolderCounts['labels'];
  accounts: FolderCounts['accounts'];
}
