/** Changes to tables while a snapshot begins. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type pg from 'pg';
import { createTestDatabase, type TestDatabase } from '../../../test/helpers/postgres.ts';
import { createTestPool } from '../../../test/helpers/test-pool.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntil } from '../../../test/helpers/wait-until.ts';
import { createBackupSource } from './snapshot.ts';

let database: TestDatabase;
let pool: pg.Pool;
let other: pg.PoolClient;

beforeEach(async () => {
  database = await createTestDatabase();
  pool = createTestPool(database);
  await pool.query('create table passing (id int)');
  other = await pool.connect();
  await other.query('begin');
});
afterEach(async () => {
  other.release();
  await pool.end();
  await database.drop();
});

/** The names of the snapshot's tables, when `other` commits while the snapshot waits for a lock. */
async function snapshotMeanwhile(): Promise<readonly string[]> {
  const source = createBackupSource(() => createTestPool(database, 1));
  const names = source.withSnapshot(({ tables }) => Promise.resolve(tables.map(({ name }) => name)));
  await waitUntil('it waits', async () => {
    const { rows } = await pool.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows.length > 0;
  });
  await other.query('commit');
  return names;
}

it('begins again without a table that is dropped meanwhile', async () => {
  await other.query('drop table passing');
  const names = await snapshotMeanwhile();
  expect(names).not.toContain('passing');
  expect(names).toContain('emails');
});

it('begins again with a table that is made meanwhile', async () => {
  await other.query('lock table passing in access exclusive mode');
  await other.query('create table come (id int)');
  expect(await snapshotMeanwhile()).toEqual(expect.arrayContaining(['come', 'emails', 'passing']));
});

it('is dated before everything that it lacks', async () => {
  let late = new Date(0);
  const source = createBackupSource(() => {
    const own = createTestPool(database, 1);
    own.on('connect', (client) => {
      const query = client.query.bind(client) as (...parts: unknown[]) => unknown;
      Object.assign(client, {
        query: async (...parts: unknown[]) => {
          if (Object(parts[0])['name'] === 'facts-of-snapshot') {
            await sleep(5);
            const { rows } = await pool.query(
              'insert into passing values (1) returning clock_timestamp() as at',
            );
            late = (rows[0] as { at: Date }).at;
            await sleep(5);
          }
          return query(...parts);
        },
      });
    });
    return own;
  });
  const takenAt = await source.withSnapshot((snapshot) => Promise.resolve(snapshot.takenAt));
  expect(takenAt.getTime()).toBeLessThan(late.getTime());
});
