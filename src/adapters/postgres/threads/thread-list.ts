/**
 * `ThreadList` on PostgreSQL. The rows of `thread_summaries` are kept by triggers, see migrations/0001_schema/thread-list.ts.
 *
 * The indexes have the facets before the time. A page is merged from the pieces of one index, one for each value of the
 * facets that fits the filter; each piece is in order, so no more is read than the page and one row of each piece.
 */
import type { Pool, PoolClient } from 'pg';
import type { AddressView } from '../../../app/emails/email-ports.ts';
import type {
  ThreadFilter,
  ThreadList,
  ThreadListing,
  ThreadsQuery,
} from '../../../app/threads/thread-list-ports.ts';
import { SNIPPET_SOURCE_CHARS, toSnippet } from '../../../core/message/snippet.ts';
import { formatTsquery } from '../../../core/search/query.ts';
import { matches } from '../emails/email-list.ts';
import { LISTED } from '../emails/listed.ts';
import { createNamedQuery } from '../db/named-query.ts';
import { guard } from '../db/pool.ts';
import { WALK_COST, type planSearch } from '../search/search-plan.ts';
import { searchPage } from '../search/search-pages.ts';
import { inTransaction } from '../db/transaction.ts';
import { createWordStatistics } from '../search/word-statistics.ts';

export function createThreadList(pool: Pool, choose?: typeof planSearch): ThreadList {
  const query = createNamedQuery(pool);
  const readStatistics = createWordStatistics(query);
  // A search has no name, so that each is planned for its words.
  const run = async <Row extends object>(statement: Statement) =>
    (await guard(pool.query<Row>(statement))).rows;
  return {
    async listThreads(request) {
      const { search, limit } = request;
      if (search === null) {
        return (await run<ThreadRow>(listThreads(request))).map(toThreadListing);
      }
      const words = formatTsquery(search);
      const { emails, estimate, rarest } = await readStatistics();
      const rows = await searchPage(
        { emails, share: estimate(search), limit, walkCost: WALK_COST.threads },
        {
          isNarrow: request.customerId !== null || request.companyId !== null,
          walk: (steps) => run<ThreadRow>(walkThreads(request, words, steps)),
          async count(atMost) {
            const [row] = await run<{ count: number }>(countThreads(request, atMost));
            return row?.count ?? 0;
          },
          lookUp: () => run<ThreadRow>(lookUpThreads(request, words, rarest(search))),
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
        await client.query('select from thread_summaries where thread_id = $1 for update', [thread]);
        await client.query(mark === 'read' ? MARK_READ : MARK_UNREAD, [thread]);
        await client.query('select refresh_thread_summaries(array[$1::uuid])', [thread]);
        const { rows } = await client.query<{ unread_count: number }>(
          'select unread_count from thread_summaries where thread_id = $1',
          [thread],
        );
        return { threadId: thread, unreadCount: rows[0]?.unread_count ?? 0 };
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

const MARK_READ = `
  delete from unread_emails u using emails e where e.thread_id = $1 and u.email_id = e.id`;

const MARK_UNREAD = `
  insert into unread_emails (email_id)
  select e.id from emails e where e.thread_id = $1 and e.direction = 'inbound' and ${LISTED} order by e.id
  on conflict do nothing`;

/** The thread itself, for an alias its target. It can't be merged away until the transaction ends. */
async function lockThread(client: PoolClient, id: string): Promise<string | null> {
  const { rows } = await client.query<{ id: string }>(
    `select id from email_threads
    where id = coalesce((select thread_id from thread_aliases where id = $1), $1::uuid)
    for key share`,
    [id],
  );
  if (rows[0] !== undefined) return rows[0].id;
  // It may have become an alias while the lock was waited for.
  const { rows: targets } = await client.query<{ id: string }>(
    `select t.id from thread_aliases a join email_threads t on t.id = a.thread_id where a.id = $1 for key share of t`,
    [id],
  );
  return targets[0]?.id ?? null;
}

/** The values of the facets that a filter lets through. */
function facetsOf({ direction, unread, unanswered }: ThreadFilter): readonly number[] {
  const fits = (facets: number, bit: number, wanted: boolean | null) =>
    wanted === null || ((facets & bit) !== 0) === wanted;
  return ALL_FACETS.filter(
    (facets) =>
      fits(facets, INBOUND, direction === null ? null : direction === 'inbound') &&
      fits(facets, UNREAD, unread) &&
      fits(facets, UNANSWERED, unanswered),
  );
}

interface Statement {
  readonly text: string;
  readonly values: unknown[];
}

const ORDER = 'order by s.last_activity_at desc, s.thread_id desc';

/** $1 is the limit. The text holds only the conditions that are asked for, so that each finds its index. */
function startStatement(request: ThreadsQuery) {
  const { customerId, companyId, accountId, after, limit } = request;
  const values: unknown[] = [limit];
  const parameter = (value: unknown) => `$${values.push(value)}`;
  const conditions = [
    ...(customerId === null ? [] : [`s.customer_id = ${parameter(customerId)}::uuid`]),
    ...(companyId === null ? [] : [`s.company_id = ${parameter(companyId)}::uuid`]),
    ...(accountId === null ? [] : [`s.account_id = ${parameter(accountId)}`]),
    ...(after === null
      ? []
      : [`(s.last_activity_at, s.thread_id) < (${parameter(after.date)}, ${parameter(after.id)}::uuid)`]),
  ];
  const facets = facetsOf(request);
  return {
    values,
    parameter,
    /** All that is asked for. */
    filter: [`s.facets in (${facets.join(', ')})`, ...conditions].join(' and '),
    /** The list in its order, at most `rows` of it. */
    list: (rows: string) => {
      const pieces = facets.map(
        (value) => `(select s.* from thread_summaries s
          where ${[`s.facets = ${value}`, ...conditions].join(' and ')} ${ORDER} limit ${rows})`,
      );
      return `select s.* from (${pieces.join(' union all ')}) s ${ORDER} limit ${rows}`;
    },
  };
}

/** `found` gives the summaries of a page. */
const selectThreads = (found: string) => `
  select s.thread_id, s.account_id, s.customer_id, s.company_id, s.email_count, s.unread_count, s.has_attachments,
    (s.facets & ${UNANSWERED}) <> 0 as unanswered, s.last_activity_at, s.newest_email_id, s.newest_direction,
    ${PREVIEW_COLUMNS}
  from (${found}) s ${PREVIEW}
  ${ORDER}`;

/** Without a name when it filters by facets: kept plans take some 400 kB each, and there would be hundreds. */
function listThreads(request: ThreadsQuery): Statement & { readonly name?: string } {
  const { customerId, companyId, accountId, after } = request;
  const { list, values } = startStatement(request);
  const asked = [customerId, companyId, accountId, after].map((value) => (value === null ? '0' : '1'));
  const isPlain = facetsOf(request).length === ALL_FACETS.length;
  return {
    ...(isPlain ? { name: `list-threads-${asked.join('')}` } : {}),
    text: selectThreads(list('$1')),
    values,
  };
}

function walkThreads(request: ThreadsQuery, words: string, steps: number): Statement {
  const { list, values, parameter } = startStatement(request);
  const [step, query] = [parameter(steps), parameter(words)];
  const text = selectThreads(`
    select s.* from (${list(step)}) s cross join lateral (
      select from emails e join email_search x on x.email_id = e.id
      where e.thread_id = s.thread_id and x.is_listed and ${matches(query)} limit 1
    ) m ${ORDER} limit $1`);
  return { text, values };
}

function countThreads(request: ThreadsQuery, atMost: number): Statement {
  const { list, values } = startStatement({ ...request, limit: atMost });
  return { text: `select count(*)::int as count from (${list('$1')}) s`, values };
}

/** `offset 0` keeps the two parts apart: joined freely, the whole table would be read for a few hundred threads. */
function lookUpThreads(request: ThreadsQuery, words: string, rarest: string): Statement {
  const { values, parameter, filter } = startStatement(request);
  const text = selectThreads(`
    select s.* from (
      select distinct x.thread_id from email_search x
      where x.words @@ ${parameter(rarest)}::tsquery and x.is_listed and ${matches(parameter(words))}
    ) f cross join lateral (
      select s.* from thread_summaries s where s.thread_id = f.thread_id offset 0
    ) s
    where ${filter} ${ORDER} limit $1`);
  return { text, values };
}

interface ThreadRow {
  thread_id: string;
  account_id: string;
  customer_id: string | null;
  company_id: string | null;
  email_count: number;
  unread_count: number;
  has_attachments: boolean;
  unanswered: boolean;
  last_activity_at: Date;
  newest_email_id: string;
  newest_direction: 'inbound' | 'outbound';
  newest_from: AddressView;
  newest_date: Date;
  newest_text: string;
  subject: string;
  /** Of the newest emails, the sender first. */
  people: AddressView[][];
}

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

function toThreadListing(row: ThreadRow): ThreadListing {
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
