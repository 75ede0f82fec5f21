/**
 * Emails as JSON, made by PostgreSQL as text: this process neither parses nor formats data that only passes through it, and concurrent
 * reads cost it little. The result is byte for byte that of `JSON.stringify(toEmailJson(email))`; email-json.test.ts compares the two. The
 * JSON around the text is stored (json_before_text and json_after_text of `emails`). PostgreSQL escapes as JSON.stringify does, and stores
 * neither U+0000 nor lone surrogates.
 */

const KIB = 1024;

/**
 * Bytes of stored text that the emails of one statement have together; a single email may have more. It bounds the memory that one response
 * takes in this process. As JSON, a text of control characters is six times as long.
 */
export const STEP_BYTES = 1024 * KIB;

/** An email with a longer text, in bytes, is read in slices. Received texts have up to 30 MB (MAX_TEXT_BYTES, as UTF-8). */
const LARGE_TEXT_BYTES = 2048 * KIB;

const FILES = `(select string_agg(a.json, ',' order by a.ordinal) from email_attachments a where a.email_id = e.id)`;

/** With milliseconds, as `Date.toISOString`. Years have four digits: see parseMessageDate. */
const timestamp = (value: string) => `to_char(${value} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** The JSON before the text of email `e`. */
export const HEAD = 'e.json_before_text';

/** The JSON after it, without the last brace. */
const TAIL = `e.json_after_text ||
  coalesce('true,"email_attachments":[' || ${FILES} || ']', 'false,"email_attachments":[]')`;

/** A representation of emails. */
export interface EmailView {
  /** Used in the names of statements. */
  readonly name: 'email' | 'listing';
  /** Joins that must follow `emails e`. */
  readonly joins: string;
  /** The JSON after the stored JSON. */
  readonly more: string;
  /** The JSON after the text of an email. */
  readonly tail: string;
}

/** As `toEmailJson` of the HTTP adapter makes it. */
export const EMAIL: EmailView = view('email', '', `'}'`);

/** As `AUTHOR` of email-detail.ts. */
const AUTHOR_JSON = `case when e.author_key is null then 'null' else '{"id":' || to_json(e.author_key::text) || ',"name":' ||
    to_json(coalesce((select k.name from api_keys k where k.id = e.author_key), e.author_key)::text) || '}' end`;

/** In lists over all threads: `toListingJson` of test/helpers/emails-json.ts. */
export const LISTING: EmailView = view(
  'listing',
  'left join send_queue q on q.email_id = e.id',
  `',"state":"' || e.state || '","state_detail":' ||
    coalesce(to_json(e.state_detail)::text, 'null') || ',"next_attempt_at":' ||
    coalesce('"' || ${timestamp('case when q.owner is null then q.due_at end')} || '"', 'null') ||
    ',"thread_id":"' || e.thread_id || '","account_id":' || to_json(e.account_id::text) ||
    ',"authentication":' || coalesce('{"verdict":"' || (e.authentication ->> 'verdict') || '"}', 'null') ||
    ',"tags":' || array_to_json(e.tags) || ',"metadata":' || coalesce(e.metadata, '{}') ||
    ',"list_id":' || coalesce(to_json(e.list_id)::text, 'null') ||
    ',"author":' || ${AUTHOR_JSON} || '}'`,
);

function view(name: EmailView['name'], joins: string, more: string): EmailView {
  return { name, joins, more, tail: `${TAIL} || ${more}` };
}

export const VIEWS = { email: EMAIL, listing: LISTING } as const;

/**
 * Measures emails without reading their texts: `size` is what each adds to a statement, in bytes, `total` the sum of all up to it. Then
 * `emailJson` makes the text of the emails that are taken.
 *
 * @param from `emails e`, or rows of it
 * @param rest conditions, order and a limit, which also keeps PostgreSQL from making the JSON twice
 * @param columns further columns
 */
export const measureEmails = (view: EmailView, from: string, rest: string, columns = '') => `
  select d.*, sum(d.size) over (rows unbounded preceding) as total
  from (
    select b.*, octet_length(b.head) + octet_length(b.tail) +
      case when b.is_large then 0 else octet_length(b.text_body) end as size
    from (
      select e.id, e.date, e.text_body, octet_length(e.text_body) > ${LARGE_TEXT_BYTES} as is_large, ${HEAD} as head,
        ${view.tail} as tail${columns}
      from ${from} ${view.joins} ${rest}
    ) b
  ) d`;

/** The JSON of a measured email; null for a text that is read in slices. */
export const emailJson = (d: string) =>
  `case when not ${d}.is_large then ${d}.head || to_json(${d}.text_body) || ${d}.tail end`;
