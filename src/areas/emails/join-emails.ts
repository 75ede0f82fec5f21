/** The emails of a response as pieces of JSON, with one piece in memory at a time; see email-json.ts. */
import { ServiceError } from '../../core/errors.ts';
import { HEAD, VIEWS, type EmailView } from './email-json.ts';
import { run, statement, statements, type Executor } from '../../platform/db/statement.ts';

export interface EmailPiece {
  readonly id: string;
  /** null for a text that is read in slices. */
  readonly json: string | null;
}

/** A slice of a large text, in characters: up to 4 MB as stored. For each slice PostgreSQL decompresses the whole text again. */
const SLICE_CHARS = 1_000_000;

/** With commas between the emails. */
export async function* joinEmails(
  pool: Executor,
  view: EmailView,
  pages: AsyncIterable<readonly EmailPiece[]>,
): AsyncGenerator<string, void, void> {
  let separator = '';
  for await (const rows of pages) {
    let ready = '';
    for (const { id, json } of rows) {
      if (json !== null) {
        ready += separator + json;
      } else {
        const large = await openLargeEmail(pool, view, id);
        // The email was merged into another record meanwhile.
        if (large === null) continue;
        yield `${ready}${separator}${large.head}"`;
        yield* large.slices;
        ready = `"${large.tail}`;
      }
      separator = ',';
    }
    if (ready !== '') yield ready;
  }
}

interface LargeEmail {
  readonly head: string;
  /** Slices of the text, escaped, without quotes around them. */
  readonly slices: AsyncIterable<string>;
  readonly tail: string;
}

async function openLargeEmail(pool: Executor, view: EmailView, id: string): Promise<LargeEmail | null> {
  const [row] = await run(pool, OPEN_LARGE.of({ view: view.name }), { id });
  if (row === undefined) return null;
  const { head, tail, chars, digest } = row;
  return { head, tail, slices: readSlices(pool, id, chars, digest) };
}

async function* readSlices(
  pool: Executor,
  id: string,
  chars: number,
  digest: string,
): AsyncGenerator<string, void, void> {
  for (let from = 1; from <= chars; from += SLICE_CHARS) {
    const [row] = await run(pool, READ_SLICE, { id, from, digest });
    // The email was parsed anew, or was merged into another record: the part that was already sent does not fit the rest.
    if (row === undefined)
      throw new ServiceError('database_unavailable', { cause: new Error(`email ${id} changed`) });
    yield row.json.slice(1, -1);
  }
}

const OPEN_LARGE = statements(
  'open-large-email',
  { view: ['email', 'listing'] },
  ({ view }) => `
  select ${HEAD} as head, ${VIEWS[view].tail} as tail, char_length(e.text_body) as chars, md5(e.text_body) as digest
  from emails e ${VIEWS[view].joins} where e.id = $id`,
).narrow<{ tail: string; chars: number; digest: string }>();

const READ_SLICE = statement(
  'read-text-slice',
  `select to_json(substr(e.text_body, $from::int, ${SLICE_CHARS}))::text as json
  from emails e where e.id = $id and md5(e.text_body) = $digest`,
).narrow<{ json: string }>();
