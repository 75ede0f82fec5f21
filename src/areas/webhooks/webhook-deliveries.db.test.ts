import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/helpers/postgres.ts';
import { createTestPool } from '../../../test/helpers/test-pool.ts';
import type { Delivery } from './webhook-ports.ts';
import { createWebhookDeliveries } from './webhook-deliveries.ts';

let database: TestDatabase;
let pool: pg.Pool;
beforeAll(async () => {
  database = await createTestDatabase();
  pool = createTestPool(database, 2);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const delivery = (): Delivery => ({
  id: randomUUID(),
  eventId: '000512b000000004',
  type: 'email.received',
  attempt: 1,
  startedAt: new Date(),
  durationMs: 5,
  outcome: 'delivered',
  status: 200,
  error: null,
  answer: '',
});

it('are stored again after one failure when the table of the day is missing', async () => {
  const log = createWebhookDeliveries(pool);
  const webhookId = randomUUID();
  await log.add(webhookId, delivery());
  const { rows } = await pool.query(
    `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'webhook_deliveries'::regclass`,
  );
  for (const { name } of rows) await pool.query(`drop table ${name}`);
  await expect(log.add(webhookId, delivery())).rejects.toThrow('no partition');
  await log.add(webhookId, delivery());
  expect(await log.list(webhookId, null, null, 10)).toHaveLength(1);
});

it('of today are kept, however few days are', async () => {
  const log = createWebhookDeliveries(pool);
  const webhookId = randomUUID();
  await log.add(webhookId, delivery());
  for (const days of [1, 0, -40]) expect(await log.forget(days)).toBe(0);
  await log.add(webhookId, delivery());
  expect(await log.list(webhookId, null, null, 10)).toHaveLength(2);
});
