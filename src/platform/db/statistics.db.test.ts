import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createManualTimers } from '../../../test/helpers/manual-timers.ts';
import { createMessageStore } from '../../../test/helpers/mail-stores.ts';
import { outboundRecord } from '../../../test/helpers/outbound-record.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/helpers/postgres.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { createTestPool } from '../../../test/helpers/test-pool.ts';
import { keepStatistics } from './statistics.ts';

let database: TestDatabase;
let pool: pg.Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  // One connection, because the test looks at its plans and counters.
  pool = createTestPool(database, 1);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const PAUSE_MS = 250;

/** Rows of `emails` that scans of the whole table have read. */
async function scannedRows(): Promise<number> {
  await pool.query('select pg_stat_force_next_flush()');
  const { rows } = await pool.query<{ n: string }>(
    `select seq_tup_read n from pg_stat_user_tables where relname = 'emails'`,
  );
  return Number(rows[0]?.n);
}

it('has no send read the emails before it, also in the first minute of a database', async () => {
  const store = createMessageStore(pool);
  const sends = (count: number) =>
    Promise.all(Array.from({ length: count }, () => store.recordOutbound(outboundRecord())));
  const timers = createManualTimers();
  const keeper = keepStatistics(pool, silentLogger, timers);
  // The plans are those of an empty database.
  for (let round = 0; round < 20; round += 1) await sends(16);
  const first = await scannedRows();
  expect(first).toBeGreaterThan(0);
  await timers.advance(PAUSE_MS);
  await keeper.stop();
  for (let round = 0; round < 20; round += 1) await sends(16);
  expect((await scannedRows()) - first).toBe(0);
});

it('asks nothing while nothing is written', async () => {
  const timers = createManualTimers();
  const keeper = keepStatistics(pool, silentLogger, timers);
  const acquired: unknown[] = [];
  pool.on('acquire', (client) => acquired.push(client));
  // As the loops of a service without work do
  const seconds = 60;
  for (let second = 0; second < seconds; second += 1) {
    await pool.query('select 1');
    await timers.advance(1000);
  }
  await keeper.stop();
  expect(acquired).toHaveLength(seconds);
});
