/** What the database remembers of its clock, and what waits while that is in doubt. Its row is set back instead of the clock set forward. */
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { ClockWitness } from '../base/clock-guard.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/helpers/postgres.ts';
import { createTestPool } from '../../../test/helpers/test-pool.ts';
import { createIdempotencyKeys } from '../../areas/send/idempotency-keys.ts';
import { createDatabaseClock } from './database-clock.ts';

let database: TestDatabase;
let pool: pg.Pool;
beforeAll(async () => {
  database = await createTestDatabase();
  pool = createTestPool(database, 4);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});
beforeEach(async () => {
  await pool.query(
    `update database_clock set seen_at = clock_timestamp(), expected_at = null, jumped_at = null, lasted = '0'`,
  );
  await pool.query('delete from event_inbox');
});

/** As if the clock had stepped forward since the last look. */
const step = (interval: string) =>
  pool.query('update database_clock set seen_at = seen_at - $1::interval', [interval]);
const isCertain = async () => (await pool.query('select clock_is_certain() as it')).rows[0].it as boolean;
const look = (witness: Partial<ClockWitness> = {}) =>
  createDatabaseClock(pool).look({ steadyAt: null, machineAt: null, ...witness });
const isInDoubt = async () => (await look()).jump !== null;
const told = async () =>
  (await pool.query('select (unnest(bodies)).type as type from event_inbox order by ordinal')).rows.map(
    ({ type }) => type as string,
  );

it('is in doubt after a step of more than a day, even before a process has looked, and tells it once', async () => {
  await step('23 hours');
  expect(await isInDoubt()).toBe(false);
  await step('25 hours');
  expect(await isCertain()).toBe(false);
  await Promise.all([isInDoubt(), isInDoubt(), isInDoubt()]);
  expect(await isInDoubt()).toBe(true);
  expect(await isCertain()).toBe(false);
  expect(await told()).toEqual(['clock.jumped']);
});

it('is trusted when the new time has lasted a day in which processes looked; a pause does not count, nor begin anew', async () => {
  await step('40 days');
  await isInDoubt();
  await pool.query(`update database_clock set lasted = '23:58'`);
  await step('10 hours');
  expect(await isInDoubt()).toBe(true);
  await step('3 minutes');
  expect(await isInDoubt()).toBe(false);
  expect(await isCertain()).toBe(true);
  expect(await told()).toEqual(['clock.jumped', 'clock.trusted']);
});

it('begins anew when it jumps again, and ends when it goes back to what was expected', async () => {
  await step('40 days');
  await isInDoubt();
  await pool.query(`update database_clock set lasted = '23:58'`);
  await step('2 days');
  expect((await look()).jump?.lastedMs).toBe(0);
  await pool.query(
    `update database_clock set seen_at = clock_timestamp() + interval '40 days',
      jumped_at = clock_timestamp() + interval '40 days', expected_at = clock_timestamp() - interval '1 hour'`,
  );
  expect(await isInDoubt()).toBe(false);
});

/** As if time had gone on since the last look. */
const pass = (interval: string) =>
  pool.query(
    `update database_clock set seen_at = seen_at - $1::interval, jumped_at = jumped_at - $1::interval,
      expected_at = expected_at - $1::interval`,
    [interval],
  );
const timeIn = async (interval: string) =>
  (await pool.query<{ at: Date }>('select clock_timestamp() + $1::interval as at', [interval])).rows[0]!.at;

it('is in doubt after a step of minutes while a process ran, until the new time has lasted as long', async () => {
  await look({ steadyAt: await timeIn('-4 minutes') });
  expect(await isCertain()).toBe(true);
  const { jump } = await look({ steadyAt: await timeIn('-3 hours') });
  expect(jump && Math.round((jump.jumpedAt.getTime() - jump.expectedAt.getTime()) / 60_000)).toBe(180);
  expect(await isCertain()).toBe(false);
  for (let minutes = 0; minutes < 176; minutes += 4) {
    await pass('4 minutes');
    expect(await isInDoubt()).toBe(true);
  }
  await pass('4 minutes');
  expect(await isInDoubt()).toBe(false);
  expect(await told()).toEqual(['clock.jumped', 'clock.trusted']);
});

it('is certain again when it goes back after a step of minutes', async () => {
  await look({ steadyAt: await timeIn('-3 hours') });
  await pool.query(
    'update database_clock set expected_at = clock_timestamp(), seen_at = seen_at + $1::interval',
    ['3 hours'],
  );
  expect(await isInDoubt()).toBe(false);
});

it('is not in doubt when the even clock of a machine confirms the step, and is when that differs as well', async () => {
  const steadyAt = await timeIn('-3 hours');
  expect((await look({ steadyAt, machineAt: await timeIn('30 seconds') })).jump).toBeNull();
  expect((await look({ steadyAt, machineAt: steadyAt })).jump).not.toBeNull();
});

it('goes back without doubt, and the next look goes on from there', async () => {
  await step('-40 days');
  expect(await isInDoubt()).toBe(false);
  await step('1 hour');
  expect(await isInDoubt()).toBe(false);
  expect(await told()).toEqual([]);
});

it('is trusted at once by an operator, and a repeat tells nothing', async () => {
  await step('40 days');
  await createDatabaseClock(pool).trust(null);
  await createDatabaseClock(pool).trust(null);
  expect(await isCertain()).toBe(true);
  expect(await told()).toEqual(['clock.jumped', 'clock.trusted']);
});

it('lets nothing expire while it is in doubt, and never drops the partition of today', async () => {
  await pool.query(
    'select make_event_partition(event_day(now()) - 40), make_event_partition(event_day(now()))',
  );
  await pool.query(
    `insert into idempotency_keys (key, fingerprint, email_id, instance_id, queued, created_at)
    values ('old', sha256(''), gen_random_uuid(), gen_random_uuid(), false, now() - interval '50 hours')`,
  );
  const keys = createIdempotencyKeys(pool, '00000000-0000-4000-8000-000000000000');
  const drop = async (days: number) =>
    (await pool.query(`select drop_days('events', $1) as dropped`, [days])).rows[0].dropped as number;
  await step('2 days');
  expect(await drop(1)).toBe(0);
  expect(await keys.deleteExpired(10)).toBe(0);
  await createDatabaseClock(pool).trust(null);
  expect(await keys.deleteExpired(10)).toBe(1);
  expect(await drop(-40)).toBe(1);
  const { rows } = await pool.query(
    `select to_regclass('events_' || to_char(now() at time zone 'UTC', 'YYYYMMDD')) as name`,
  );
  expect(rows[0].name).not.toBeNull();
});
