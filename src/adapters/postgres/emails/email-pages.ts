/** Pages of lists of emails, as JSON: what fits comes with the first statement, the rest is read as the reader takes it. */
import type { EmailPage } from '../../../app/emails/email-ports.ts';
import { splitPage } from '../../../app/base/paging.ts';
import { emailJson, measureEmails, STEP_BYTES, type EmailView } from './email-json.ts';
import { joinEmails, type EmailRow } from './join-emails.ts';
import type { NamedQuery } from '../db/named-query.ts';

export interface PageRow extends EmailRow {
  readonly date: Date;
}

/** Emails that a piece of the rest is chosen from. */
const CANDIDATES = 32;

/** A statement that gives PageRows, newest first. `from` gives rows of emails as `e`; $n are its parameters. */
export const selectPage = (view: EmailView, from: string, limit: string) => `
  select d.id, d.date, case when d.total <= ${STEP_BYTES} then ${emailJson('d')} end as json
  from (${measureEmails(view, from, `order by e.date desc, e.id desc limit ${limit}`)}) d
  order by d.date desc, d.id desc`;

/** @param rows one more than `limit` tells that there is another page */
export function toPage(
  query: NamedQuery,
  view: EmailView,
  rows: readonly PageRow[],
  limit: number,
): EmailPage {
  const { page, last } = splitPage(rows, limit);
  const next = last === null ? null : { date: last.date, id: last.id };
  const fitting = page.findIndex(({ json }) => json === null);
  if (fitting < 0) return { emails: { kind: 'whole', json: page.map(({ json }) => json).join() }, next };
  const pages = readRest(query, view, page.slice(0, fitting), page.slice(fitting));
  return { emails: { kind: 'pieces', pieces: joinEmails(query, view, pages) }, next };
}

async function* readRest(
  query: NamedQuery,
  view: EmailView,
  first: readonly EmailRow[],
  rest: readonly EmailRow[],
): AsyncGenerator<readonly EmailRow[], void, void> {
  yield first;
  let ids = rest.map(({ id }) => id);
  while (ids.length > 0) {
    const rows = await query<EmailRow & { id: string }>(`read-${view.name}-piece`, readPiece(view), [ids]);
    const last = rows.at(-1);
    // Those that are left were merged into other records meanwhile.
    if (last === undefined) return;
    yield rows;
    ids = ids.slice(ids.indexOf(last.id) + 1);
  }
}

const readPiece = (view: EmailView) => `
  select d.id, ${emailJson('d')} as json
  from (${measureEmails(
    view,
    'unnest((select $1::uuid[])) with ordinality n (email_id, place) join emails e on e.id = n.email_id',
    `order by n.place limit ${CANDIDATES}`,
    ', n.place',
  )}) d
  where d.total <= ${STEP_BYTES} or d.total = d.size
  order by d.place`;
