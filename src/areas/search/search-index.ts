/**
 * `SearchIndex` on PostgreSQL: makes the words of the emails in `search_queue`.
 *
 * One instance at a time does this, in one transaction per batch: it reads an email as it is at that moment, and a later change of the
 * email puts it into the queue again, so the last one to write its words has seen all changes.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Pool, PoolClient } from 'pg';
import type { AddressView } from '../../core/address/address-view.ts';
import type { Logger } from '../../platform/base/basics.ts';
import { MAX_BODY_CHARS, MAX_FILES, toSearchDocument } from '../../core/search/document.ts';
import { isAway, isRetryable } from '../../platform/db/pool.ts';
import { inTransaction } from '../../platform/db/transaction.ts';
import { run, statement, type RowOf } from '../../platform/db/statement.ts';

export interface SearchIndex {
  /** Indexes the words of some waiting emails, newest first. Throws `ServiceError('database_unavailable')`. */
  indexSome(): Promise<IndexedSome>;
}

export interface IndexedSome {
  /** Emails; 0 when none waits, or another instance works on them. */
  readonly count: number;
  /** Some of them were written after those of the last call: emails are still being written. */
  readonly isBusy: boolean;
}

/** Emails of a batch: some ten milliseconds, and with the longest bodies some ten megabytes. */
const BATCH = 100;

/** Rows of the queue that are read for a batch; each has one or more emails. */
const MAX_QUEUE_ROWS = 100;

/** Characters after which other work gets its turn. */
const CHARS_IN_A_TURN = 50_000;

/** Any constant that no other user of the same database uses; `pg_locks` shows it. */
const INDEX_LOCK = 0x73656172;

type EmailRow = RowOf<typeof READ>;

/** Learns other data from emails that are new or have changed, in the transaction that makes them searchable. */
export type LearnFrom = (client: PoolClient, emailIds: readonly string[]) => Promise<void>;

export function createSearchIndex(pool: Pool, logger: Logger, learnFrom: LearnFrom): SearchIndex {
  let newestTaken = 0;
  return {
    indexSome: () =>
      inTransaction(pool, async (client) => {
        const { ids, newest } = await takeSome(client);
        if (ids.length === 0) return { count: 0, isBusy: false };
        // A deletion locks emails before all rows that depend on them, and so does this.
        await run(client, KEEP, { ids: [...ids] });
        for (let start = 0; start < ids.length; start += BATCH) {
          const rows = await run(client, READ, { ids: ids.slice(start, start + BATCH) });
          await write(client, rows, logger);
        }
        // After the words of all emails: learning locks rows that others lock after those of emails.
        await learnFrom(client, ids);
        const isBusy = newest > newestTaken;
        newestTaken = Math.max(newest, newestTaken);
        return { count: ids.length, isBusy };
      }),
  };
}

/** Takes the newest rows of the queue, at least one, and as many as make a batch. */
async function takeSome(
  client: PoolClient,
): Promise<{ readonly ids: readonly string[]; readonly newest: number }> {
  const rows = await run(client, TAKE);
  return {
    ids: [...new Set(rows.flatMap(({ email_ids }) => email_ids))],
    newest: Math.max(0, ...rows.map(({ id }) => Number(id))),
  };
}

/** Words that the database refuses must not hold up the emails behind them: no search finds such an email then. */
async function write(client: PoolClient, rows: readonly EmailRow[], logger: Logger): Promise<void> {
  const columns = await toColumns(rows);
  await run(client, SAVE_BATCH);
  try {
    await run(client, WRITE, columns);
  } catch (err) {
    if (isAway(err) || isRetryable(err)) throw err;
    await run(client, UNDO_BATCH);
    const [row] = rows;
    if (rows.length > 1) {
      for (const one of rows) await write(client, [one], logger);
    } else if (row !== undefined) {
      logger.error({ err, emailId: row.id }, 'an email could not be indexed; searches do not find it');
    }
  }
}

async function toColumns(rows: readonly EmailRow[]) {
  const documents: string[] = [];
  let chars = 0;
  for (const { subject, event, body, sender, recipients, files } of rows) {
    documents.push(
      toSearchDocument({
        subject,
        from: sender === null ? [] : [inWords(sender)],
        to: recipients.map(inWords),
        files,
        event,
        body,
      }),
    );
    chars += body.length;
    if (chars > CHARS_IN_A_TURN) {
      chars = 0;
      await nextTurn();
    }
  }
  return {
    ids: rows.map(({ id }) => id),
    threadIds: rows.map(({ thread_id }) => thread_id),
    dates: rows.map(({ date }) => date),
    areListed: rows.map(({ is_listed }) => is_listed),
    documents,
  };
}

const inWords = ({ name, address }: AddressView): string => `${name} ${address}`;

const SAVE_BATCH = statement('search-save-batch', 'savepoint batch');

const UNDO_BATCH = statement('search-undo-batch', 'rollback to savepoint batch');

const TAKE = statement(
  'search-take',
  `delete from search_queue where id = any(array(
    select id from (
      select id, sum(cardinality(email_ids)) over (order by id desc) - cardinality(email_ids) as before
      from (select * from search_queue order by id desc limit ${MAX_QUEUE_ROWS}) newest
    ) counted
    where before < ${BATCH} and (select pg_try_advisory_xact_lock(${INDEX_LOCK}))
  ))
  returning id, email_ids`,
);

const KEEP = statement(
  'search-keep-emails',
  'select id from emails where id = any($ids::uuid[]) order by id for key share',
);

const READ = statement(
  'search-read',
  `select e.id, e.thread_id, e.date, email_is_listed(e.state) as is_listed, e.subject,
    left(e.text_body, ${MAX_BODY_CHARS}) as body, concat_ws(E'\\n', e.invitation ->> 'summary', e.invitation ->> 'location') as event,
    e.from_address as sender, e.to_addresses || e.cc_addresses || e.bcc_addresses as recipients,
    array(
      select a.filename from email_attachments a where a.email_id = e.id order by a.ordinal limit ${MAX_FILES}
    ) as files
  from emails e where e.id = any($ids::uuid[])`,
).narrow<{ is_listed: boolean; body: string; event: string; recipients: AddressView[]; files: string[] }>();

const WRITE = statement(
  'search-write',
  `insert into email_search (email_id, thread_id, date, is_listed, words)
  select * from unnest($ids::uuid[], $threadIds::uuid[], $dates::timestamptz[], $areListed::boolean[], $documents::tsvector[])
  on conflict (email_id) do update set
    thread_id = excluded.thread_id, date = excluded.date, is_listed = excluded.is_listed, words = excluded.words`,
);
