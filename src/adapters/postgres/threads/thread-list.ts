/**
 * `ThreadList` on PostgreSQL. The rows of `thread_summaries` are kept by triggers, see migrations/0001_schema/thread-list.ts.
 *
 * The indexes have the facets before the time. A page is merged from the pieces of one index, one for each value of the
 * facets that fits the filter; each piece is in order, so no more is read than the page and one row of each piece.
 */
import type { Pool, PoolClient } from 'pg';
import type { AddressView } from '../../../app/emails/email-ports.ts';
import type { ThreadFilter, ThreadList, ThreadListing } from '../../../app/threads/thread-list-ports.ts';
import { SNIPPET_SOURCE_CHARS, toSnippet } from '../../../core/message/snippet.ts';
import { formatTsquery } from '../../../core/search/query.ts';
import { matches } from '../emails/email-list.ts';
import { mergePieces } from '../emails/email-pages.ts';
import { LISTED } from '../emails/listed.ts';
import { run, statement, statements, type RowOf } from '../db/statement.ts';
import { WALK_COST, type planSearch } from '../search/search-plan.ts';
import { searchPage } from '../search/search-pages.ts';
import { inTransaction } from '../db/transaction.ts';
import { createWordStatistics } from '../search/word-statistics.ts';

export function createThreadList(pool: Pool, choose?: typeof planSearch): ThreadList {
  const readStatistics = createWordStatistics(pool);
  return {
    async listThreads(request) {
      const { search, customerId, companyId, accountId, after, limit } = request;
      const choice = {
        direction: request.direction,
        unread: request.unread,
        unanswered: request.unanswered,
        ofCustomer: customerId !== null,
        ofCompany: companyId !== null,
        ofAccount: accountId !== null,
        isNext: after !== null,
      };
      const position = { afterDate: after?.date ?? null, afterId: after?.id ?? null };
      const values = { limit, customerId, companyId, accountId, ...position };
      if (search === null) return (await run(pool, LIST.of(choice), values)).map(toThreadListing);
      const words = formatTsquery(search);
      const { emails, estimate, rarest } = await readStatistics();
      const rows = await searchPage(
        { emails, share: estimate(search), limit, walkCost: WALK_COST.threads },
        {
          isNarrow: customerId !== null || companyId !== null,
          walk: (steps) => run(pool, WALK.of(choice), { ...values, words, steps }),
          async count(atMost) {
            const [row] = await run(pool, COUNT.of(choice), { ...values, limit: atMost });
            return row?.count ?? 0;
          },
          lookUp: () => run(pool, LOOK_UP.of(choice), { ...values, words, rarest: rarest(search) }),
        },
        choose,
      );
      return rows.map(toThreadListing);
    },

    markThread: (threadId, mark) =>
      inTransaction(pool, async (client) => {
        const thread = await lockThread(client, threadId);
        if (thread === null) return null;
        // A transaction that adds an email at this moment waits for this lock, or this one waits for that transaction.
        await run(client, LOCK_SUMMARY, { thread });
        await run(client, mark === 'read' ? MARK_READ : MARK_UNREAD, { thread });
        await run(client, REFRESH_SUMMARY, { thread });
        const [summary] = await run(client, READ_UNREAD_COUNT, { thread });
        return { threadId: thread, unreadCount: summary?.unread_count ?? 0 };
      }),
  };
}

/** Bits of `thread_summaries.facets`. */
const INBOUND = 1;
const UNREAD = 2;
const UNANSWERED = 4;
const ALL_FACETS = [0, 1, 2, 3, 4, 5, 6, 7] as const;

/** The newest emails of a thread whose participants are shown, and how many of these. */
const PARTICIPANT_EMAILS = 20;
const MAX_PARTICIPANTS = 10;

const MARK_READ = statement(
  'mark-thread-read',
  `delete from unread_emails u using emails e where e.thread_id = $thread and u.email_id = e.id`,
);

const MARK_UNREAD = statement(
  'mark-thread-unread',
  `insert into unread_emails (email_id)
  select e.id from emails e where e.thread_id = $thread and e.direction = 'inbound' and ${LISTED} order by e.id
  on conflict do nothing`,
);

const LOCK_SUMMARY = statement(
  'lock-summary',
  'select from thread_summaries where thread_id = $thread for update',
);

const REFRESH_SUMMARY = statement(
  'refresh-summary',
  'select refresh_thread_summaries(array[$thread::uuid]) as done',
);

const READ_UNREAD_COUNT = statement(
  'unread-count',
  'select unread_count from thread_summaries where thread_id = $thread',
);

/** The thread itself, for an alias its target. It can't be merged away until the transaction ends. */
async function lockThread(client: PoolClient, id: string): Promise<string | null> {
  const [thread] = await run(client, HOLD_THREAD, { id });
  if (thread !== undefined) return thread.id;
  // It may have become an alias while the lock was waited for.
  const [target] = await run(client, HOLD_TARGET, { id });
  return target?.id ?? null;
}

const HOLD_THREAD = statement(
  'hold-thread',
  `select id from email_threads
  where id = coalesce((select thread_id from thread_aliases where id = $id), $id::uuid)
  for key share`,
);

const HOLD_TARGET = statement(
  'hold-target-of-alias',
  'select t.id from thread_aliases a join email_threads t on t.id = a.thread_id where a.id = $id for key share of t',
);

/** The values of the facets that a filter lets through. */
function facetsOf({ direction, unread, unanswered }: Choice): readonly number[] {
  const fits = (facets: number, bit: number, wanted: boolean | null) =>
    wanted === null || ((facets & bit) !== 0) === wanted;
  return ALL_FACETS.filter(
    (facets) =>
      fits(facets, INBOUND, direction === null ? null : direction === 'inbound') &&
      fits(facets, UNREAD, unread) &&
      fits(facets, UNANSWERED, unanswered),
  );
}

/** What is asked for; each combination is a statement of its own, so that each finds its index. */
const CHOICES = {
  direction: [null, 'inbound', 'outbound'],
  unread: [null, false, true],
  unanswered: [null, false, true],
  ofCustomer: [false, true],
  ofCompany: [false, true],
  ofAccount: [false, true],
  isNext: [false, true],
} as const;

interface Choice extends Pick<ThreadFilter, 'direction' | 'unread' | 'unanswered'> {
  readonly ofCustomer: boolean;
  readonly ofCompany: boolean;
  readonly ofAccount: boolean;
  readonly isNext: boolean;
}

const ORDER = 'order by s.last_activity_at desc, s.thread_id desc';

/** But for the facets. */
const conditionsOf = ({ ofCustomer, ofCompany, ofAccount, isNext }: Choice): readonly string[] => [
  ...(ofCustomer ? ['s.customer_id = $customerId::uuid'] : []),
  ...(ofCompany ? ['s.company_id = $companyId::uuid'] : []),
  ...(ofAccount ? ['s.account_id = $accountId'] : []),
  ...(isNext ? ['(s.last_activity_at, s.thread_id) < ($afterDate::timestamptz, $afterId::uuid)'] : []),
];

/** The list in its order, at most `rows` of it. */
function list(choice: Choice, rows: string): string {
  const pieces = facetsOf(choice).map(
    (value) => `select s.* from thread_summaries s
      where ${[`s.facets = ${value}`, ...conditionsOf(choice)].join(' and ')} ${ORDER}`,
  );
  return mergePieces(pieces, 's.*', ORDER, rows);
}

/** What a list is opened with most, beside all threads. */
const isInbox = ({ direction, unread, unanswered, ofCustomer, ofCompany, ofAccount }: Choice): boolean =>
  direction === null && unread !== false && unanswered !== false && !(ofCustomer || ofCompany || ofAccount);

const PREVIEW_COLUMNS = `n.from_address as newest_from, n.date as newest_date,
  left(coalesce(nullif(n.reply_text, ''), n.text_body), ${SNIPPET_SOURCE_CHARS + 1}) as newest_text, f.subject,
  p.people`;

/** As many as are shown; an email may have thousands. */
const firstOf = (addresses: string) => `case when jsonb_array_length(${addresses}) > ${MAX_PARTICIPANTS}
  then jsonb_path_query_array(${addresses}, '$[0 to ${MAX_PARTICIPANTS}]') else ${addresses} end`;

/** What is shown of each thread beside its summary; of a long thread only its ends are read. */
const PREVIEW = `
  join emails n on n.id = s.newest_email_id
  cross join lateral (
    select e.subject from emails e where e.thread_id = s.thread_id and ${LISTED} order by e.date, e.id limit 1
  ) f
  cross join lateral (
    select coalesce(json_agg(r.people), '[]') as people from (
      select jsonb_build_array(e.from_address) || ${firstOf('e.to_addresses')} || ${firstOf('e.cc_addresses')} as people
      from emails e where e.thread_id = s.thread_id and ${LISTED}
      order by e.date desc, e.id desc limit ${PARTICIPANT_EMAILS}
    ) r
  ) p`;

/** `found` gives the summaries of a page. */
const selectThreads = (found: string) => `
  select s.thread_id, s.account_id, s.customer_id, s.company_id, s.email_count, s.unread_count, s.has_attachments,
    (s.facets & ${UNANSWERED}) <> 0 as unanswered, s.last_activity_at, s.newest_email_id, s.newest_direction,
    ${PREVIEW_COLUMNS}
  from (${found}) s ${PREVIEW}
  ${ORDER}`;

/** The summaries come from pieces, so the schema does not tell what they hold. */
interface ThreadRow {
  thread_id: string;
  account_id: string;
  email_count: number;
  unread_count: number;
  has_attachments: boolean;
  unanswered: boolean;
  last_activity_at: Date;
  newest_email_id: string;
  newest_direction: 'inbound' | 'outbound';
  newest_text: string;
  subject: string;
  /** Of the newest emails, the sender first. */
  people: AddressView[][];
}

const LIST = statements('list-threads', CHOICES, (choice) => selectThreads(list(choice, '$limit')), {
  plannedEachTime: 'kept plans take some 400 kB each, and with filters there would be hundreds',
  when: (choice) => facetsOf(choice).length < ALL_FACETS.length && !isInbox(choice),
}).narrow<ThreadRow>();

const WORDS_DECIDE = { plannedEachTime: 'the best plan depends on how common the words are' };

const WALK = statements(
  'walk-threads',
  CHOICES,
  (choice) =>
    selectThreads(`
    select s.* from (${list(choice, '$steps')}) s cross join lateral (
      select from emails e join email_search x on x.email_id = e.id
      where e.thread_id = s.thread_id and x.is_listed and ${matches('$words')} limit 1
    ) m ${ORDER} limit $limit`),
  WORDS_DECIDE,
).narrow<ThreadRow>();

const COUNT = statements(
  'count-threads',
  CHOICES,
  (choice) => `select count(*)::int as count from (${list(choice, '$limit')}) s`,
  { plannedEachTime: 'it follows a search, and is rare' },
).narrow<{ count: number }>();

/** `offset 0` keeps the two parts apart: joined freely, the whole table would be read for a few hundred threads. */
const LOOK_UP = statements(
  'look-up-threads',
  CHOICES,
  (choice) =>
    selectThreads(`
    select s.* from (
      select distinct x.thread_id from email_search x
      where x.words @@ $rarest::tsquery and x.is_listed and ${matches('$words')}
    ) f cross join lateral (
      select s.* from thread_summaries s where s.thread_id = f.thread_id offset 0
    ) s
    where ${[`s.facets in (${facetsOf(choice).join(', ')})`, ...conditionsOf(choice)].join(' and ')}
    ${ORDER} limit $limit`),
  WORDS_DECIDE,
).narrow<ThreadRow>();

function toThreadListing(row: RowOf<ReturnType<typeof LIST.of>>): ThreadListing {
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
    lastActivityAt: row.last_activity_at,
    newestEmail: {
      id: row.newest_email_id,
      direction: row.newest_direction,
      from: row.newest_from,
      date: row.newest_date,
      snippet: toSnippet(row.newest_text),
    },
  };
}

/** Senders, then the others, each address once; measured: cheaper here than in the database. */
function participantsOf(emails: readonly (readonly AddressView[])[]): readonly AddressView[] {
  const senders = emails.flatMap((people) => people.slice(0, 1));
  const others = emails.flatMap((people) => people.slice(1));
  const found = new Map<string, AddressView>();
  for (const { name, address } of [...senders, ...others]) {
    if (address === '') continue;
    const key = address.toLowerCase();
    const known = found.get(key);
    if (known === undefined) {
      if (found.size < MAX_PARTICIPANTS) found.set(key, { name, address });
    } else if (known.name === '' && name !== '') {
      found.set(key, { name, address: known.address });
    }
  }
  return [...found.values()];
}
