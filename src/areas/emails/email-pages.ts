/** Pages of lists of emails, as JSON: the emails that fit come with the first statement, the rest is read as the reader takes it. */
import type { EmailPage } from './email-ports.ts';
import { splitPage } from '../../platform/base/paging.ts';
import { emailJson, measureEmails, STEP_BYTES, VIEWS, type EmailView } from './email-json.ts';
import { joinEmails, type EmailPiece } from './join-emails.ts';
import { run, statements, type Executor } from '../../platform/db/statement.ts';

export interface PageColumns extends EmailPiece {
  readonly date: Date;
}

export type RowBound = 'page' | `$${string}`;

/** Rows of the largest page, plus one. */
const MAX_PAGE_ROWS = 201;

/**
 * At most `rows` rows of several ranges of an index, merged in their order; each range is already in this order.
 *
 * Inside the requested limit, a page has a fixed one too. PostgreSQL assumes that an unknown limit takes a tenth of all rows. If the plan
 * for that seems more expensive than the one for the actual value, it makes a plan for the value each time, which takes longer than the
 * statement. Rows that no page asks for are not read.
 *
 * @param pieces each a query that ends before its `limit`
 * @param columns of `s`, as they are in the pieces
 * @param rows a page, of `$limit` rows; or an expression that bounds them, such as `$steps`, which may be more than a page has
 */
export function mergePieces(
  pieces: readonly string[],
  columns: string,
  order: string,
  rows: RowBound,
): string {
  const most = rows === 'page' ? String(MAX_PAGE_ROWS) : rows;
  const all = pieces.map((piece) => `(${piece} limit ${most})`).join(' union all ');
  const merged = `select ${columns} from (${all}) s ${order} limit ${most}`;
  return rows === 'page' ? `select ${columns} from (${merged}) s ${order} limit $limit` : merged;
}

/** Emails of the rest from which the next piece is chosen. */
const CANDIDATES = 32;

/**
 * A statement that returns PageColumns, newest first. `from` supplies emails as `e`: the columns that `view.more` uses, and at least their
 * `id` and `date`. An email whose JSON is not stored belongs to the rest, and so do those after it.
 *
 * @param flag a column of `p` in `from` that the rows have as well
 */
export const selectPage = (view: EmailView, from: string, limit: string, flag?: string) => `
  select d.id, d.date, ${flag === undefined ? '' : `d.${flag}, `}case when d.total <= ${STEP_BYTES} then d.json || d.more end as json
  from (
    select b.*, sum(octet_length(b.json)) over (rows unbounded preceding) as total
    from (
      select e.id, e.date, ${flag === undefined ? '' : `p.${flag}, `}j.json, ${view.more} as more
      from ${from} left join email_json j on j.email_id = e.id ${view.joins}
      order by e.date desc, e.id desc limit ${limit}
    ) b
  ) d
  order by d.date desc, d.id desc`;

/** @param rows one more than `limit` shows that there is another page */
export function toPage(
  pool: Executor,
  view: EmailView,
  rows: readonly PageColumns[],
  limit: number,
): EmailPage {
  const { page, last } = splitPage(rows, limit);
  const next = last === null ? null : { date: last.date, id: last.id };
  const fitting = page.findIndex(({ json }) => json === null);
  if (fitting < 0) return { emails: { kind: 'whole', json: page.map(({ json }) => json).join() }, next };
  const pages = readRest(pool, view, page.slice(0, fitting), page.slice(fitting));
  return { emails: { kind: 'pieces', pieces: joinEmails(pool, view, pages) }, next };
}

async function* readRest(
  pool: Executor,
  view: EmailView,
  first: readonly EmailPiece[],
  rest: readonly EmailPiece[],
): AsyncGenerator<readonly EmailPiece[], void, void> {
  yield first;
  let ids = rest.map(({ id }) => id);
  while (ids.length > 0) {
    const rows = await run(pool, READ_PIECE.of({ view: view.name }), { ids });
    const last = rows.at(-1);
    // The remaining emails were merged into other records meanwhile.
    if (last === undefined) return;
    yield rows;
    ids = ids.slice(ids.indexOf(last.id) + 1);
  }
}

const READ_PIECE = statements(
  'read-emails-piece',
  { view: ['email', 'listing'] },
  ({ view }) => `
  select d.id, ${emailJson('d')} as json
  from (${measureEmails(
    VIEWS[view],
    'unnest((select $ids::uuid[])) with ordinality n (email_id, place) join emails e on e.id = n.email_id',
    `order by n.place limit ${CANDIDATES}`,
    ', n.place',
  )}) d
  where d.total <= ${STEP_BYTES} or d.total = d.size
  order by d.place`,
);
