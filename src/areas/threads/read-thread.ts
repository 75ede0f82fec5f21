/**
 * Reads threads as JSON, each email from the row of `email_json` that triggers maintain. Small threads share statements: requests that come
 * while four are under way are served by the next one. The statement returns no emails if the version of a thread is the one that the
 * caller has, or that is cached here. A large thread is read in pieces, each by its own statement once the piece before was taken, so that
 * a slow reader holds no connection and no snapshot.
 */
import type { ThreadReader } from './thread-list-ports.ts';
import { createBatches } from '../../platform/db/batches.ts';
import { EMAIL, emailJson, measureEmails, STEP_BYTES } from '../emails/email-json.ts';
import { joinEmails, type EmailPiece } from '../emails/join-emails.ts';
import { LISTED } from '../emails/listed.ts';
import { threadIdOf } from '../emails/thread-rows.ts';
import { run, statement, type Executor, type RowOf } from '../../platform/db/statement.ts';
import { ThreadCache } from './thread-cache.ts';

/** Most threads in one statement: with more, each gains little, and the first one waits for the last. */
const THREADS_AT_ONCE = 32;
/** While PostgreSQL executes some statements, the answers of others are written. With fewer, both sides wait for each other. */
const STATEMENTS_AT_ONCE = 4;

/** A thread with more emails, or more bytes of JSON, is read in pieces: bounds the result of one shared statement. */
const SMALL_THREAD_EMAILS = 100;
const SMALL_JSON_BYTES = 512 * 1024;

/** Emails from which a piece of a large thread is chosen. They are measured even when they do not fit any more. */
const FIRST_CANDIDATES = 8;
const MAX_CANDIDATES = 256;

/** A place before any email. */
const BEGINNING = { date: '-infinity', id: '00000000-0000-0000-0000-000000000000' } as const;

/** The version of a thread that shows no emails; no other thread has it, see thread_summaries. */
const NO_EMAILS = '0';

interface Asked {
  readonly threadId: string;
  /** A version whose emails are not needed. */
  readonly known: string | null;
}

interface Found {
  readonly version: string;
  /** null for a large thread, and where the version is the known one. */
  readonly json: string | null;
}

export function createThreadReader(
  pool: Executor,
  cache: ThreadCache = new ThreadCache(),
): ThreadReader['readThread'] {
  const read = createBatches<Asked, Found | null>(
    {
      name: 'read-thread',
      items: THREADS_AT_ONCE,
      bytes: Infinity,
      failTogether: true,
      atOnce: STATEMENTS_AT_ONCE,
      collectsTurn: true,
    },
    () => 0,
    (asked) => readTogether(pool, asked),
  );
  return async (threadId, known) => {
    const kept = cache.find(threadId);
    const found = await read({ threadId, known: kept?.version ?? known });
    if (found === null) return null;
    const { version, json } = found;
    if (version === known) return { version, emails: null };
    if (version === kept?.version) {
      cache.touch(threadId, kept);
      return { version, emails: { kind: 'whole', json: kept.json } };
    }
    if (version === NO_EMAILS) return { version, emails: { kind: 'whole', json: '' } };
    if (json === null)
      return {
        version,
        emails: { kind: 'pieces', pieces: joinEmails(pool, EMAIL, readPieces(pool, threadId)) },
      };
    cache.add(threadId, version, json);
    return { version, emails: { kind: 'whole', json } };
  };
}

async function readTogether(pool: Executor, asked: readonly Asked[]): Promise<readonly (Found | null)[]> {
  // Many requests may ask for the same thread.
  const keyOf = ({ threadId, known }: Asked) => `${threadId} ${known}`;
  const different = new Map(asked.map((one) => [keyOf(one), one]));
  const [first] = different.values();
  if (different.size === 1 && first !== undefined) {
    const [alone] = await run(pool, READ_THREAD, { ...first });
    // Otherwise it is another thread's alias, has no emails, or does not exist.
    if (alone !== undefined) return asked.map(() => alone);
  }
  const threads = [...different.values()];
  const rows = await run(pool, READ_THREADS, {
    threadIds: threads.map(({ threadId }) => threadId),
    known: threads.map(({ known }) => known),
  });
  const byKey = new Map(
    rows.map((row) => [keyOf(threads[Number(row.place) - 1] as Asked), row.found ? row : null]),
  );
  return asked.map((one) => byKey.get(keyOf(one)) ?? null);
}

async function* readPieces(
  pool: Executor,
  threadId: string,
): AsyncGenerator<readonly EmailPiece[], void, void> {
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

/** As `json`: the emails of the thread of the summary `s`; null for a large thread, and for one whose version is `known`. */
const smallThread = (known: string) => `
  select case when s.email_count = 0 then ''
    when count(*) = count(d.json) and sum(octet_length(d.json)) <= ${SMALL_JSON_BYTES}
    then string_agg(d.json, '},') || '}' end as json
  from (
    select j.json from email_json j
    where j.thread_id = s.thread_id and j.is_listed and s.email_count <= ${SMALL_THREAD_EMAILS}
      and s.version is distinct from ${known}
    order by j.date, j.email_id limit ${SMALL_THREAD_EMAILS}
  ) d`;

/** For a single thread it costs half as much as the statement for many, whose cost is mostly its start. */
const READ_THREAD = statement(
  'read-thread',
  `select s.version, x.json from thread_summaries s cross join lateral (${smallThread('$known::bigint')}) x
  where s.thread_id = $threadId`,
);

/**
 * `(select …)` hides the number of threads from the planner: a plan for each number would be made anew each time, which takes three times
 * as long as the statement.
 */
const READ_THREADS = statement(
  'read-threads',
  `select n.place, coalesce(s.version, 0) as version,
    s.thread_id is not null or exists (select from email_threads t where t.id = coalesce(l.thread_id, n.id)) as found, x.json
  from rows from (unnest((select $threadIds::uuid[])), unnest((select $known::bigint[])))
    with ordinality n (id, known, place)
  left join thread_aliases l on l.id = n.id
  left join thread_summaries s on s.thread_id = coalesce(l.thread_id, n.id)
  cross join lateral (${smallThread('n.known')}) x`,
).narrow<{ place: string; version: string; found: boolean }>();

/** The thread may have become an alias since then. */
const READ_PIECE = statement(
  'read-thread-piece',
  `select d.id, d.date::text as date, ${emailJson('d')} as json
  from (${measureEmails(
    EMAIL,
    'emails e',
    `
    where e.thread_id = ${threadIdOf('$threadId::uuid')} and ${LISTED} and (e.date, e.id) > ($afterDate::timestamptz, $afterId::uuid)
    order by e.date, e.id limit $candidates`,
  )}
  ) d
  where d.total <= ${STEP_BYTES} or d.total = d.size
  order by d.date, d.id`,
).narrow<{ date: string }>();
