/**
 * Reads threads as JSON. Small ones share statements: requests that come while four are under way are served by the next
 * one. A large one is read in pieces, each by its own statement once the piece before was taken, so that a slow reader
 * holds no connection and no snapshot.
 */
import type { Pool } from 'pg';
import type { EmailsJson } from '../../../app/emails/email-ports.ts';
import { createBatches } from '../db/batches.ts';
import { EMAIL, EMAIL_JSON, emailJson, measureEmails, STEP_BYTES } from '../emails/email-json.ts';
import { joinEmails, type EmailRow } from '../emails/join-emails.ts';
import { LISTED } from '../emails/listed.ts';
import { run, statement, type Executor, type RowOf } from '../db/statement.ts';

/** Threads in one statement at most: with more, each gains little, and the first one waits for the last. */
const THREADS_AT_ONCE = 32;
/** While PostgreSQL carries some statements out, the answers of others are written. With less, both wait for each other. */
const STATEMENTS_AT_ONCE = 4;

/**
 * A thread with more emails, more bytes of text as stored, or more bytes of JSON is read in pieces: bounds what one statement of
 * many makes and gives.
 */
const SMALL_THREAD_EMAILS = 100;
const SMALL_THREAD_BYTES = 256 * 1024;
const SMALL_JSON_BYTES = 512 * 1024;

/** Emails that a piece of a large thread is chosen from. They are measured even when they do not fit any more. */
const FIRST_CANDIDATES = 8;
const MAX_CANDIDATES = 256;

/** Before any email. */
const BEGINNING = { date: '-infinity', id: '00000000-0000-0000-0000-000000000000' } as const;

export function createThreadReader(pool: Pool): (threadId: string) => Promise<EmailsJson | null> {
  const readSmall = createBatches<string, SmallThread>(
    {
      items: THREADS_AT_ONCE,
      bytes: Infinity,
      failTogether: true,
      atOnce: STATEMENTS_AT_ONCE,
      collectsTurn: true,
    },
    () => 0,
    (threadIds) => readTogether(pool, threadIds),
  );
  return async (threadId) => {
    const { found, json } = await readSmall(threadId);
    if (!found) return null;
    return json === null
      ? { kind: 'pieces', pieces: joinEmails(pool, EMAIL, readPieces(pool, threadId)) }
      : { kind: 'whole', json };
  };
}

interface SmallThread {
  readonly found: boolean;
  /** null for a large one. */
  readonly json: string | null;
}

async function readTogether(pool: Executor, threadIds: readonly string[]): Promise<readonly SmallThread[]> {
  // Many may ask for the same.
  const places = new Map([...new Set(threadIds)].map((id, index) => [id, index]));
  if (places.size === 1) {
    const [alone] = await run(pool, READ_THREAD, { threadId: threadIds[0] ?? null });
    // An empty text is of no email: of a thread without any, or of none.
    if (alone !== undefined && alone.json !== '') return threadIds.map(() => alone);
  }
  const rows = await run(pool, READ_THREADS, { threadIds: [...places.keys()] });
  const byPlace = new Map(rows.map((row) => [Number(row.place) - 1, row]));
  return threadIds.map((id) => byPlace.get(places.get(id) ?? -1) ?? { found: false, json: null });
}

async function* readPieces(
  pool: Executor,
  threadId: string,
): AsyncGenerator<readonly EmailRow[], void, void> {
  let after: { readonly date: string; readonly id: string } = BEGINNING;
  let candidates = FIRST_CANDIDATES;
  for (;;) {
    const rows: RowOf<typeof READ_PIECE>[] = await run(pool, READ_PIECE, {
      threadId,
      afterDate: after.date,
      afterId: after.id,
      candidates,
    });
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    after = last;
    candidates = Math.min(2 * rows.length, MAX_CANDIDATES);
  }
}

const THREAD = (id: string) => `coalesce((select thread_id from thread_aliases where id = ${id}), ${id})`;

/** The emails of a thread as JSON; null for a large one. */
const smallThread = (id: string) => `
  select case when octet_length(s.json) <= ${SMALL_JSON_BYTES} then s.json end as json
  from (
    select case when count(*) <= ${SMALL_THREAD_EMAILS} and count(*) = count(d.json) then coalesce(string_agg(d.json, ','), '') end
      as json
    from (
      select case when sum(octet_length(e.text_body)) over (order by e.date, e.id rows unbounded preceding) <= ${SMALL_THREAD_BYTES}
        then ${EMAIL_JSON} end as json
      from emails e
      where e.thread_id = ${id} and ${LISTED} order by e.date, e.id limit ${SMALL_THREAD_EMAILS + 1}
    ) d
  ) s`;

/** Of a single one it costs half of what the statement for many does, most of which is its start. */
const READ_THREAD = statement(
  'read-thread',
  `select true as found, x.json from (${smallThread(THREAD('$threadId::uuid'))}) x`,
).narrow<{ found: boolean }>();

/**
 * `(select …)` keeps their number from the planner: a plan for each number would be made anew each time, which takes three
 * times as long as the statement.
 */
const READ_THREADS = statement(
  'read-threads',
  `select n.place, t.id is not null as found, x.json
  from unnest((select $threadIds::uuid[])) with ordinality n (id, place)
  left join thread_aliases l on l.id = n.id
  left join email_threads t on t.id = coalesce(l.thread_id, n.id)
  left join lateral (${smallThread('t.id')}) x on true`,
).narrow<{ place: string; found: boolean }>();

/** The thread may have become an alias since then. */
const READ_PIECE = statement(
  'read-thread-piece',
  `select d.id, d.date::text as date, ${emailJson('d')} as json
  from (${measureEmails(
    EMAIL,
    'emails e',
    `
    where e.thread_id = ${THREAD('$threadId::uuid')} and ${LISTED} and (e.date, e.id) > ($afterDate::timestamptz, $afterId::uuid)
    order by e.date, e.id limit $candidates`,
  )}
  ) d
  where d.total <= ${STEP_BYTES} or d.total = d.size
  order by d.date, d.id`,
).narrow<{ date: string }>();
