/** A mailbox made by search-data.sql, with the search index that the service itself makes, and the arguments of a list of its threads. */
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { knowCustomersOf } from '../dist/areas/customers/known-customers.js';
import { migrateToLatest } from '../dist/platform/db/migrate.js';
import { createSearchIndex } from '../dist/areas/search/search-index.js';

export const logger = { debug() {}, info() {}, warn: console.warn, error: console.error };

/** All threads, with the arguments of `listThreads` for a first page of 50. */
export const ANY_THREAD = {
  search: null,
  customerId: null,
  companyId: null,
  accountId: null,
  direction: null,
  unread: null,
  unanswered: null,
  status: null,
  assignee: null,
  isAssigned: null,
  label: null,
  hasAttachments: null,
  activeSince: null,
  activeUntil: null,
  limit: 51,
  after: null,
};

/**
 * Migrates a database, and fills it unless it has emails.
 * @param connection for `pg`, with the search path of the service
 */
export async function fillLargeMailbox(connection, emails) {
  const pool = new pg.Pool({ ...connection, max: 2 });
  try {
    await migrateToLatest(pool);
    const { rows } = await pool.query('select count(*)::int as n from (select from emails limit 1) e');
    if (rows[0].n > 0) return;
    console.error(`filling with ${emails} emails …`);
    const file = new URL('search-data.sql', import.meta.url);
    const sql = readFileSync(file, 'utf8').replaceAll(':emails', emails);
    const client = await pool.connect();
    try {
      for (const statement of sql.split(/;\s*$/m).filter((text) => text.trim() !== ''))
        await client.query(statement);
      // A single row of the queue would become one large transaction.
      await client.query(`insert into search_queue (email_ids)
        select array_agg(id) from (select id, row_number() over (order by date) / 100 as part from emails) e group by part`);
    } finally {
      // The connection's settings must not reach other users of the pool.
      client.release(true);
    }
    console.error('indexing …');
    const index = createSearchIndex(pool, logger, knowCustomersOf);
    const started = performance.now();
    while ((await index.indexSome()).count > 0);
    const seconds = (performance.now() - started) / 1000;
    console.error(`indexed ${(emails / seconds).toFixed(0)} emails/s`);
    await pool.query('vacuum analyze');
  } finally {
    await pool.end();
  }
}
