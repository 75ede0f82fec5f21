import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/helpers/postgres.ts';
import { createTestPool } from '../../../test/helpers/test-pool.ts';
import type { Call } from './statement.ts';
import { BeginAgain, inPlannedTransaction } from './transaction.ts';

let database: TestDatabase;
let pool: pg.Pool;
beforeAll(async () => {
  database = await createTestDatabase();
  pool = createTestPool(database, 1);
  await pool.query('create table numbers (n int primary key)');
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});
beforeEach(() => pool.query('truncate numbers'));

const call = (name: string, text: string, ...values: unknown[]): Call<{ n: number }> => ({
  name,
  text,
  values,
  givesRows: true,
});
const add = (n: number) => call('add', 'insert into numbers values ($1) returning n', n);
const list = () => call('list', 'select n from numbers order by n');
/** PostgreSQL parses it and refuses to execute it. */
const divide = (by: number) => call('divide', 'select 1 / $1::int as n', by);
const stored = async () => (await pool.query<{ n: number }>(list().text)).rows.map(({ n }) => n);

/** Counts the messages that a connection sends and waits for. */
async function countQueries(work: () => Promise<unknown>): Promise<number> {
  let count = 0;
  const client = await pool.connect();
  const query = client.query;
  Object.assign(client, {
    query: (...args: unknown[]) => {
      count += 1;
      return Reflect.apply(query, client, args);
    },
  });
  client.release();
  await work();
  Object.assign(client, { query });
  return count;
}

it('begins with the first statement and commits with the last', async () => {
  const count = await countQueries(() =>
    inPlannedTransaction(pool, async (transaction) => {
      const [first, second] = await transaction.run(add(1), list());
      expect([first, second]).toEqual([[{ n: 1 }], [{ n: 1 }]]);
      await transaction.runLast(add(2));
    }),
  );
  expect(count).toBe(2);
  expect(await stored()).toEqual([1, 2]);
});

it('carries out nothing behind a statement that fails, and commits nothing', async () => {
  const failing = inPlannedTransaction(pool, (transaction) => transaction.runLast(add(1), divide(0), add(2)));
  await expect(failing).rejects.toMatchObject({ code: '22012' });
  expect(await stored()).toEqual([]);
});

it('leaves a connection that knows which statements the server has parsed', async () => {
  for (const text of ['a', 'b']) {
    const wrong = call(`wrong ${text}`, 'select nothing from nowhere');
    const failing = inPlannedTransaction(pool, (transaction) => transaction.run(wrong, list()));
    await expect(failing).rejects.toMatchObject({ code: '42P01' });
    await expect(
      inPlannedTransaction(pool, (transaction) => transaction.run(divide(0), add(1))),
    ).rejects.toMatchObject({ code: '22012' });
    const rows = await inPlannedTransaction(pool, (transaction) =>
      transaction.run(divide(1), add(1), add(2)),
    );
    expect(rows).toEqual([[{ n: 1 }], [{ n: 1 }], [{ n: 2 }]]);
    await pool.query('delete from numbers');
  }
});

it('commits what was not committed with a statement, and begins again when asked to', async () => {
  let tries = 0;
  await inPlannedTransaction(pool, async (transaction) => {
    tries += 1;
    await transaction.run(add(tries));
    if (tries === 1) throw new BeginAgain();
  });
  expect(await stored()).toEqual([2]);
});

it('sends no value that has no form in the database, and goes on', async () => {
  const endless: { self?: unknown } = {};
  endless.self = endless;
  await expect(
    inPlannedTransaction(pool, (transaction) => transaction.run(call('add', add(1).text, endless))),
  ).rejects.toThrow(/circular/);
  await inPlannedTransaction(pool, (transaction) => transaction.runLast(add(3)));
  expect(await stored()).toEqual([3]);
});

it('plans its statements once, and those of others as ever', async () => {
  const setting = call('setting', `select current_setting('plan_cache_mode') = 'force_generic_plan' as n`);
  const inside = await inPlannedTransaction(pool, (transaction) => transaction.run(setting));
  expect(inside).toEqual([[{ n: true }]]);
  expect((await pool.query<{ n: boolean }>(setting.text)).rows).toEqual([{ n: false }]);
});
