/**
 * Emails as JSON, made by PostgreSQL as text: what only passes through is neither parsed nor formatted by this process, and
 * concurrent reads cost it little. Byte for byte what `JSON.stringify(toEmailJson(email))` gives; email-json.test.ts
 * compares the two. PostgreSQL escapes as JSON.stringify does, and stores neither U+0000 nor lone surrogates.
 */

const KIB = 1024;

/**
 * Emails of one statement have so many bytes of stored text together, in bytes, but for a single one: what this process holds
 * of one answer. As JSON a text of control characters is six times as long.
 */
export const STEP_BYTES = 1024 * KIB;

/** An email with a longer text, in bytes, is read in slices. Received texts have up to 30 MB (MAX_TEXT_BYTES, as UTF-8). */
const LARGE_TEXT_BYTES = 2048 * KIB;

/** `{"name":…,"address":…}`; a stored address may have more, or lack one. */
const address = (value: string) =>
  `'{"name":' || coalesce((${value} -> 'name')::text, 'null') ||
    ',"address":' || coalesce((${value} -> 'address')::text, 'null') || '}'`;

/** Most emails have a single recipient; a sub-select for it would cost a tenth of all. */
const TO_ADDRESSES = `case jsonb_array_length(e.to_addresses) when 1 then ${address('(e.to_addresses -> 0)')} else coalesce((
  select string_agg(${address('r.value')}, ',' order by r.ordinality)
  from jsonb_array_elements(e.to_addresses) with ordinality r
), '') end`;

const FILES = `coalesce((
  select string_agg('{"id":"' || a.id || '","filename":' || to_json(a.filename) || ',"content_type":' ||
    to_json(a.content_type) || ',"size_bytes":' || a.size_bytes || ',"storage_path":' || to_json(a.storage_path) || '}',
    ',' order by a.ordinal)
  from email_attachments a where a.email_id = e.id
), '')`;

/** With milliseconds, as `Date.toISOString`. Years have four digits: see parseMessageDate. */
const timestamp = (value: string) => `to_char(${value} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** What stands before the text of email `e`. */
export const HEAD = `'{"id":"' || e.id || '","message_id":' || to_json('<' || coalesce(e.written_message_id, e.message_id) || '>') ||
  ',"direction":"' || e.direction || '","from_address":' || ${address('e.from_address')} ||
  ',"to_addresses":[' || ${TO_ADDRESSES} || '],"subject":' || to_json(e.subject) || ',"text_body":'`;

/** What stands behind it, but for the last brace. */
const TAIL = `',"date":"' || ${timestamp('e.date')} || '","has_attachments":' ||
  case f.files when '' then 'false' else 'true' end || ',"email_attachments":[' || f.files || ']'`;

/** `offset 0`: else the sub-select would be carried out for each place that names it. */
const WITH_FILES = `cross join lateral (select ${FILES} as files offset 0) f`;

/** How emails are shown. */
export interface EmailView {
  /** For names of statements. */
  readonly name: string;
  /** What has to stand behind `emails e`. */
  readonly joins: string;
  /** What stands behind the text of an email. */
  readonly tail: string;
}

/** As the specification lists them: `toEmailJson`. */
export const EMAIL: EmailView = { name: 'email', joins: WITH_FILES, tail: `${TAIL} || '}'` };

/** In lists over all threads: `toEmailListingJson`. */
export const LISTING: EmailView = {
  name: 'listing',
  joins: `left join send_queue q on q.email_id = e.id ${WITH_FILES}`,
  tail: `${TAIL} || ',"state":"' || e.state || '","state_detail":' ||
    coalesce(to_json(e.state_detail)::text, 'null') || ',"next_attempt_at":' ||
    coalesce('"' || ${timestamp('case when q.owner is null then q.due_at end')} || '"', 'null') ||
    ',"thread_id":"' || e.thread_id || '","account_id":' || to_json(e.account_id::text) || '}'`,
};

/**
 * Measures emails without reading their texts: `size` is what each adds to a statement, in bytes, `total` that of all
 * up to it. Then `emailJson` makes the text of those that are taken.
 *
 * @param from `emails e`, or rows of it
 * @param rest conditions, order and a limit, which also keeps PostgreSQL from making the JSON twice
 * @param columns that are wanted, too
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

/** Of a measured email; null for a text that is read in slices. */
export const emailJson = (d: string) =>
  `case when not ${d}.is_large then ${d}.head || to_json(${d}.text_body) || ${d}.tail end`;
