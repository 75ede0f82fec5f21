/**
 * Finds statements that read a whole table that grows with the mail. A batch of a few emails must not: its cost would grow with each email.
 */

import path from 'node:path';

import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { inboundRecord } from '../../../test/helpers/inbound-record.ts';
import { sqlSources } from '../../../test/helpers/sources.ts';
import { outboundRecord } from '../../../test/helpers/outbound-record.ts';
import { openMailStores, type MailStores } from '../../../test/helpers/mail-stores.ts';
import { allStatements } from './statement.ts';

/** Each thread has two emails. The planner may well read a much smaller table whole, and would never do so with a much larger one. */
const THREADS = 8000;
/** Reading a table of fewer rows is fine. */
const SMALL = 1000;

/** Statements that concern all rows, by their names. */
const ABOUT_ALL = new Map([
  ['contents-of-target', 'a move compares both databases once'],
  ['count-quiet-threads', 'deleting what is old looks at all threads'],
  ['find-quiet-threads', 'deleting what is old looks at all threads'],
  ['rethread-emails', 'threads are worked out anew from all emails, page by page'],
  ['rethread-message-ids', 'threads are worked out anew from all Message-IDs, page by page'],
  ['threads-under', 'a new rule may be about the mail of thousands of threads'],
]);

let stores: MailStores;
let pool: pg.Pool;

beforeAll(async () => {
  // One connection, because the test looks at its counters.
  stores = await openMailStores(1);
  ({ pool } = stores);
  await pool.query(
    `insert into email_threads (id, account_id) select gen_random_uuid(), 'default' from generate_series(1, $1::int)`,
    [THREADS],
  );
  await pool.query(
    `insert into emails (
      id, account_id, thread_id, direction, message_id, in_reply_to, reference_ids, from_address, to_addresses,
      cc_addresses, bcc_addresses, subject, text_body, date, state, placement_rule, raw_size_bytes, raw
    )
    select gen_random_uuid(), 'default', t.id, 'outbound', i || '-' || t.id || '@example.com', '{}', '{}', '{}', '[]', '[]', '[]',
      '', '', now() - random() * interval '1000 days', 'sent', 'new', 0, ''
    from email_threads t, generate_series(1, 2) i`,
  );
  await pool.query(
    `insert into thread_message_ids (account_id, message_id, thread_id) select account_id, message_id, thread_id from emails`,
  );
  await pool.query(
    `insert into email_deliveries (email_id, ordinal, address, state) select id, 0, 'ada@example.org', 'accepted' from emails`,
  );
  await pool.query('vacuum analyze');
});
afterAll(() => stores.end());

interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly Plans?: readonly Plan[];
}

function* tablesReadWhole(plan: Plan): Generator<string> {
  if (plan['Node Type'] === 'Seq Scan' && plan['Relation Name'] !== undefined) yield plan['Relation Name'];
  for (const part of plan.Plans ?? []) yield* tablesReadWhole(part);
}

async function loadStatements() {
  for (const { file } of sqlSources()) await import(path.join(import.meta.dirname, '../..', file));
  return [...allStatements()].flatMap(([name, all]) =>
    all().map((statement) => ({ ...statement, of: name })),
  );
}

async function largeTables(): Promise<readonly string[]> {
  const { rows } = await pool.query<{ relname: string }>(
    `select relname from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace and reltuples > $1`,
    [SMALL],
  );
  return rows.map(({ relname }) => relname);
}

it('is no statement that deals with a few emails or threads', async () => {
  const large = new Set(await largeTables());
  expect(large).toContain('email_threads');
  expect(large).toContain('email_json');
  const found: string[] = [];
  for (const { name, of, text, isPlannedEachTime, isJson } of await loadStatements()) {
    // A statement that is planned for its values has no values here. Text that is no query has no plan; a part of a statement is in its plan.
    if (
      isPlannedEachTime ||
      isJson === true ||
      ABOUT_ALL.has(of) ||
      !/^\s*(with|select|insert|update|delete)\b/.test(text)
    )
      continue;
    const explained = await pool.query<{ 'QUERY PLAN': readonly { readonly Plan: Plan }[] }>(
      `explain (generic_plan, format json) ${text}`,
    );
    for (const { Plan: plan } of explained.rows[0]!['QUERY PLAN'])
      for (const table of tablesReadWhole(plan)) if (large.has(table)) found.push(`${name}: ${table}`);
  }
  expect(found).toEqual([]);
});

it('is none that a trigger carries out for a send, a received email or its answer', async () => {
  const readWhole = async () => {
    await pool.query('select pg_stat_force_next_flush()');
    const { rows } = await pool.query<{ relname: string; read: string }>(
      'select relname, seq_tup_read as read from pg_stat_user_tables where relname = any ($1) order by relname',
      [await largeTables()],
    );
    return rows;
  };
  const { store, inbound } = stores;
  const before = await readWhole();
  expect(before.length).toBeGreaterThan(5);
  // More often than PostgreSQL plans for the actual values
  for (let round = 0; round < 10; round += 1) {
    const sends = Array.from({ length: 5 }, () => outboundRecord());
    await Promise.all(sends.map((send) => store.recordOutbound(send)));
    const received = Array.from({ length: 5 }, () => inboundRecord());
    await Promise.all(received.map((email) => inbound.recordInbound(email)));
    await Promise.all(sends.map(({ messageId }) => inbound.recordInbound(inboundRecord({}, [messageId]))));
  }
  expect(await readWhole()).toEqual(before);
});
