/** Signals that events were written, and their moments. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type pg from 'pg';
import { createTestDatabase, type TestDatabase } from '../../../test/helpers/postgres.ts';
import { createTestPool } from '../../../test/helpers/test-pool.ts';
import { inPlannedTransaction } from '../../platform/db/transaction.ts';
import { onEventsWritten } from './event-signal.ts';

let database: TestDatabase;
let pool: pg.Pool;
let told = 0;
beforeAll(async () => {
  database = await createTestDatabase();
  pool = createTestPool(database, 1);
  // Opens the connection beforehand.
  await pool.query('select 1');
  onEventsWritten(pool, () => (told += 1));
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const ADD = `insert into event_inbox (bodies)
  values (array[row('thread.updated', clock_timestamp(), null, null, null, null, null, false, '{}', null, null)::event_body])`;

it('tells of each transaction that wrote some, after it, and of no other', async () => {
  await pool.query('select 1');
  await pool.query('insert into event_inbox (bodies) select array[]::event_body[] where false');
  expect(told).toBe(0);

  await pool.query(ADD);
  expect(told).toBe(1);

  const client = await pool.connect();
  await client.query('begin');
  await client.query(ADD);
  await client.query(ADD);
  await client.query('commit');
  expect(told).toBe(1);
  client.release();
  expect(told).toBe(2);
  await pool.query('select 1');
  expect(told).toBe(2);
});

it('is told by the commit of a planned transaction, and the server wakes no client in the middle of it', async () => {
  const before = told;
  const notices: unknown[] = [];
  const client = await pool.connect();
  client.on('notice', (notice) => notices.push(notice));
  client.release();
  await inPlannedTransaction(pool, async (transaction) => {
    await transaction.run({ name: 'add', text: ADD, values: [], givesRows: false });
    expect(told).toBe(before);
  });
  expect(told).toBe(before + 1);
  expect(notices).toEqual([]);
  await expect(
    inPlannedTransaction(pool, () => Promise.reject(new Error('it writes nothing'))),
  ).rejects.toThrow('it writes nothing');
  expect(told).toBe(before + 1);
});
