/**
 * `GET /api/emails`: emails of all threads, newest first, also those that a query finds.
 *
 * In the indexes the state comes before the date: a page is merged from the pieces of one index, one for each state, each
 * in order (see thread-list.ts). So rare states are found as fast as the others.
 */
import type { Pool } from 'pg';
import type { EmailPage } from '../../../app/emails/email-ports.ts';
import type { EmailsQuery } from '../../../app/emails/email-ports.ts';
import { EMAIL_STATES } from '../../../core/delivery/states.ts';
import { formatTsquery } from '../../../core/search/query.ts';
import { LISTING } from './email-json.ts';
import { selectPage, toPage, type PageRow } from './email-pages.ts';
import { createNamedQuery } from '../db/named-query.ts';
import { guard } from '../db/pool.ts';
import { WALK_COST, type planSearch } from '../search/search-plan.ts';
import { searchPage } from '../search/search-pages.ts';
import { createWordStatistics } from '../search/word-statistics.ts';

type EmailList = (request: EmailsQuery) => Promise<EmailPage>;

export function createEmailList(pool: Pool, choose?: typeof planSearch): EmailList {
  const query = createNamedQuery(pool);
  const readStatistics = createWordStatistics(query);
  // Without a name, so that each is planned for its words.
  const run = async <Row extends object>({ text, values }: Statement) =>
    (await guard(pool.query<Row>(text, values))).rows;

  return async (asked) => {
    // One more tells whether there is another page.
    const request = { ...asked, limit: asked.limit + 1 };
    const { search, limit } = request;
    if (search === null) {
      const { name, text, values } = listEmails(request);
      return toPage(query, LISTING, await query<PageRow>(name, text, values), asked.limit);
    }
    const words = formatTsquery(search);
    const { emails, estimate, rarest } = await readStatistics();
    const rows = await searchPage(
      { emails, share: estimate(search), limit, walkCost: WALK_COST.emails },
      {
        isNarrow: request.defect !== null || (request.state !== null && !COMMON_STATES.has(request.state)),
        walk: (steps) => run<PageRow>(walkEmails(request, words, steps)),
        async count(atMost) {
          const [row] = await run<{ count: number }>(countEmails(request, atMost));
          return row?.count ?? 0;
        },
        lookUp: () => run<PageRow>(lookUpEmails(request, words, rarest(search))),
      },
      choose,
    );
    return toPage(query, LISTING, rows, asked.limit);
  };
}

/** Few emails have any other state. */
const COMMON_STATES: ReadonlySet<string> = new Set(['sent', 'received']);

interface Statement {
  readonly text: string;
  readonly values: unknown[];
}

const ORDER = 'order by e.date desc, e.id desc';

/** $1 is the limit. */
function startStatement(request: EmailsQuery) {
  const values: unknown[] = [request.limit];
  const parameter = (value: unknown) => `$${values.push(value)}`;
  const { accountId, after, state, defect } = request;
  const conditions = [
    // In the words of the index that has only these.
    ...(defect === null ? [] : [`e.defects @> '{${defect}}'`]),
    ...(accountId === null ? [] : [`e.account_id = ${parameter(accountId)}`]),
    ...(after === null ? [] : [`(e.date, e.id) < (${parameter(after.date)}, ${parameter(after.id)}::uuid)`]),
  ];
  const all = defect === null ? EMAIL_STATES : [null];
  const states = state === null ? all : [state];
  return {
    values,
    parameter,
    /** All that is asked for. */
    conditions: [...conditions, ...(state === null ? [] : [`e.state = '${state}'`])],
    /** The list in its order, at most `rows` of it; only what the index has. */
    list: (rows: string) => {
      const pieces = states.map(
        (one) => `(select e.id, e.date from emails e
          where ${[...(one === null ? [] : [`e.state = '${one}'`]), ...conditions].join(' and ')}
          ${ORDER} limit ${rows})`,
      );
      return `select e.id, e.date from (${pieces.join(' union all ')}) e ${ORDER} limit ${rows}`;
    },
  };
}

/** `found` gives identifiers and dates of a page. */
const selectEmails = (found: string) =>
  selectPage(LISTING, `(${found}) p join emails e on e.id = p.id`, '$1');

function listEmails(request: EmailsQuery): Statement & { readonly name: string } {
  const { list, values } = startStatement(request);
  const asked = [
    request.accountId === null ? '' : '-account',
    request.after === null ? '' : '-after',
    request.defect === null ? '' : `-${request.defect}`,
  ].join('');
  return { name: `list-emails-${request.state ?? 'all'}${asked}`, text: selectEmails(list('$1')), values };
}

function walkEmails(request: EmailsQuery, words: string, steps: number): Statement {
  const { list, values, parameter } = startStatement(request);
  const [step, query] = [parameter(steps), parameter(words)];
  const text = selectEmails(`
    select e.id, e.date from (${list(step)}) e cross join lateral (
      select from email_search x where x.email_id = e.id and ${matches(query)} limit 1
    ) m ${ORDER} limit $1`);
  return { text, values };
}

function countEmails(request: EmailsQuery, atMost: number): Statement {
  const { list, values } = startStatement({ ...request, limit: atMost });
  return { text: `select count(*)::int as count from (${list('$1')}) e`, values };
}

/** `offset 0`: see lookUpThreads. */
function lookUpEmails(request: EmailsQuery, words: string, rarest: string): Statement {
  const { values, parameter, conditions } = startStatement(request);
  const found = `select x.email_id as id, x.date from email_search x
    where x.words @@ ${parameter(rarest)}::tsquery and ${matches(parameter(words))}`;
  const filter = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`;
  // The emails themselves are large, and only asked for what the rows of the search don't know.
  const isPlain = request.accountId === null && request.state === null && request.defect === null;
  const text = selectEmails(`
    select e.id, e.date from ${
      isPlain
        ? `(${found}) e`
        : `(${found}) f cross join lateral (select e.* from emails e where e.id = f.id offset 0) e`
    }
    ${filter} ${ORDER} limit $1`);
  return { text, values };
}

/** Written so that no index is used for it: the row is at hand. */
export const matches = (query: string) => `(x.words @@ ${query}::tsquery) is true`;
