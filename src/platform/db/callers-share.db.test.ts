/** What callers hold of a pool, and what is left of it. */
import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/helpers/postgres.ts';
import { createTestPool } from '../../../test/helpers/test-pool.ts';
import { callersShareOf, createCallersShare } from './callers-share.ts';

let database: TestDatabase;
let pool: pg.Pool;
beforeAll(async () => {
  database = await createTestDatabase();
  pool = createTestPool(database, 3);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

let asker: string | undefined;
const share = (most: number, patienceMs = 60_000) =>
  createCallersShare(pool, { most, patienceMs, asker: () => asker });

it.each([
  [1, 1],
  [2, 1],
  [3, 2],
  [10, 6],
  [100, 66],
])('is a part of %i connections, at least one, at most two thirds: %i', (size, most) => {
  expect(callersShareOf(size)).toBe(most);
});

it('leaves the rest to those who use the pool itself, however much callers ask for', async () => {
  const callers = share(2);
  const held = [await callers.connect(), await callers.connect()];
  const waiting = [callers.query('select 1 as it'), callers.connect()] as const;
  expect((await pool.query('select 2 as it')).rows).toEqual([{ it: 2 }]);
  for (const client of held) client.release();
  expect((await waiting[0]).rows).toEqual([{ it: 1 }]);
  (await waiting[1]).release();
});

it('goes round the callers: one that asks once does not wait for all that another one asks for', async () => {
  const callers = share(1);
  const holder = await callers.connect();
  const order: string[] = [];
  const ask = async (name: string) => {
    asker = name;
    const answer = callers.query('select');
    asker = undefined;
    await answer;
    order.push(name);
  };
  const asked = [...Array.from({ length: 20 }, () => ask('greedy')), ask('modest')];
  holder.release();
  await Promise.all(asked);
  expect(order.indexOf('modest')).toBe(1);
});

it('leaves a connection for another caller, however slow one is, and gives the first one no more meanwhile', async () => {
  const callers = share(3);
  asker = 'greedy';
  const held = [await callers.connect(), await callers.connect()];
  const waiting = callers.connect();
  asker = 'modest';
  expect((await callers.query('select 1 as it')).rows).toEqual([{ it: 1 }]);
  asker = undefined;
  for (const client of held) client.release();
  (await waiting).release();
});

it('is given back by what fails and by what is given back broken, and once by each', async () => {
  const callers = share(1);
  await expect(callers.query('select 1 / 0')).rejects.toThrow('division by zero');
  (await callers.connect()).release(true);
  const client = await callers.connect();
  client.release();
  expect(() => client.release()).toThrow('Release called on client which has already been released');
  const last = await callers.connect();
  const next = callers.connect();
  last.release();
  (await next).release();
});

it('fails as the pool does for a caller who has waited too long, who then takes nothing', async () => {
  const callers = share(1, 20);
  const client = await callers.connect();
  await expect(callers.query('select')).rejects.toThrow('timeout exceeded when trying to connect');
  client.release();
  expect((await callers.query('select 1 as it')).rows).toEqual([{ it: 1 }]);
});
