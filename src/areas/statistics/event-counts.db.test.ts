/** The counts of events, and how they add up to steps. */
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/helpers/postgres.ts';
import { createTestPool } from '../../../test/helpers/test-pool.ts';
import { createStatistics, type StatisticsPoint, type StatisticsRequest } from './use-cases.ts';
import { createEventFeed } from '../events/event-feed.ts';
import { createStatisticsReader } from './event-counts.ts';

const NOW = new Date('2026-10-27T12:00:00Z');
const UNTIMED = { sendLatency: null, receiveLatency: null };
const NONE = { received: 0, sent: 0, failed: 0, unknown: 0, bounced: 0, complained: 0, ...UNTIMED };

let database: TestDatabase;
let pool: pg.Pool;
beforeAll(async () => {
  database = await createTestDatabase();
  pool = createTestPool(database);
});
afterEach(async () => {
  await pool.query('delete from event_counts');
  await pool.query('delete from latency_counts');
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

interface Happened {
  readonly type: string;
  readonly at: string;
  readonly accountId?: string | null;
  readonly isHistorical?: boolean;
  readonly data?: object;
  readonly tookMs?: number;
}

/** As triggers write them: all events of one statement in one row. */
async function happen(events: readonly Happened[]): Promise<void> {
  await pool.query(
    `insert into event_inbox (bodies)
    select array_agg(row(e.type, e.at, e.account_id, null, null, null, null, e.is_historical, e.data, null, e.took_ms)::event_body)
    from jsonb_to_recordset($1) as e (type text, at timestamptz, account_id text, is_historical boolean, data text, took_ms int)`,
    [
      JSON.stringify(
        events.map(({ type, at, accountId = 'main', isHistorical = false, data = {}, tookMs }) => ({
          type,
          at,
          account_id: accountId,
          is_historical: isHistorical,
          data: JSON.stringify(data),
          took_ms: tookMs,
        })),
      ),
    ],
  );
  while ((await createEventFeed(pool).number(10)) === 10);
}

const received = (at: string, accountId = 'main'): Happened => ({ type: 'email.received', at, accountId });

const readWhole = (request: Partial<StatisticsRequest>) =>
  createStatistics(createStatisticsReader(pool), () => NOW).readStatistics({
    since: null,
    until: null,
    step: 'day',
    timeZone: 'UTC',
    accountId: null,
    ...request,
  });

const read = async (request: Partial<StatisticsRequest>) => (await readWhole(request)).points;

/** The beginnings of the steps, and the number of received emails in each. */
const shown = (points: readonly StatisticsPoint[]) =>
  points.map((point) => [point.at.toISOString(), point.received]);

const span = (since: string, until: string) => ({ since: new Date(since), until: new Date(until) });

describe('what happens to emails', () => {
  it('is counted once, by its kind, when it is numbered', async () => {
    const at = '2026-10-26T10:20:00Z';
    await happen([
      ...['received', 'received', 'sent', 'failed', 'unknown', 'bounced', 'complained'].map((kind) => ({
        type: `email.${kind}`,
        at,
      })),
      ...['email.queued', 'email.deferred', 'email.updated', 'thread.created'].map((type) => ({ type, at })),
      { type: 'suppression.added', at, accountId: null },
    ]);
    await happen([received('2026-10-26T10:59:59.999Z')]);
    expect(await createEventFeed(pool).number(10)).toBe(0);
    const hour = { step: 'hour', ...span('2026-10-26T10:30:00Z', '2026-10-26T11:30:00Z') } as const;
    expect(await read(hour)).toEqual([
      {
        at: new Date('2026-10-26T10:00:00Z'),
        received: 3,
        sent: 1,
        failed: 1,
        unknown: 1,
        bounced: 1,
        complained: 1,
        ...UNTIMED,
      },
      { at: new Date('2026-10-26T11:00:00Z'), ...NONE },
    ]);
  });

  it('counts again when an unknown outcome is settled', async () => {
    const settled = (state: string) => ({
      type: 'email.settled',
      at: '2026-10-26T12:00:00Z',
      data: { state, previous_state: 'unknown' },
    });
    await happen([
      { type: 'email.unknown', at: '2026-10-25T12:00:00Z' },
      settled('sent'),
      settled('failed'),
      settled('deferred'),
    ]);
    const [first, second] = await read(span('2026-10-25T00:00:00Z', '2026-10-27T00:00:00Z'));
    expect([first, second]).toEqual([
      { ...NONE, at: new Date('2026-10-25T00:00:00Z'), unknown: 1 },
      { ...NONE, at: new Date('2026-10-26T00:00:00Z'), sent: 1, failed: 1 },
    ]);
  });

  it('has one step for each day that a zone had', async () => {
    await happen([received('2011-12-30T12:00:00Z'), received('2011-12-30T09:00:00Z')]);
    // Samoa went from 29 to 31 December.
    const days = await read({
      timeZone: 'Pacific/Apia',
      ...span('2011-12-29T10:00:00Z', '2012-01-01T10:00:00Z'),
    });
    expect(shown(days)).toEqual([
      ['2011-12-29T10:00:00.000Z', 1],
      ['2011-12-30T10:00:00.000Z', 1],
      ['2011-12-31T10:00:00.000Z', 0],
    ]);
  });

  it('is not counted when it is of the past', async () => {
    await happen([{ ...received('2026-10-26T10:00:00Z'), isHistorical: true }]);
    expect((await pool.query('select from event_counts')).rowCount).toBe(0);
  });

  it('is taken back with the numbering', async () => {
    const client = await pool.connect();
    try {
      await client.query(
        `insert into event_inbox (bodies) values
        (array[row('email.received', $1, 'main', null, null, null, null, false, '{}', null, null)::event_body])`,
        ['2026-10-26T10:00:00Z'],
      );
      await client.query('begin');
      await client.query('select number_events(10)');
      await client.query('rollback');
    } finally {
      client.release();
    }
    await happen([received('2026-10-26T11:00:00Z')]);
    const points = await read(span('2026-10-26T00:00:00Z', '2026-10-27T00:00:00Z'));
    expect(shown(points)).toEqual([['2026-10-26T00:00:00.000Z', 2]]);
  });

  it('is told of the accounts that are asked for', async () => {
    const day = span('2026-10-26T00:00:00Z', '2026-10-27T00:00:00Z');
    const at = '2026-10-26T10:00:00Z';
    await happen([received(at, 'main'), received(at, 'sales'), received(at, 'support')]);
    const counts = async (request: Partial<StatisticsRequest>) =>
      (await read({ ...day, ...request }))[0]?.received;
    expect(await counts({})).toBe(3);
    expect(await counts({ accountId: 'sales' })).toBe(1);
    expect(await counts({ within: ['main', 'sales'] })).toBe(2);
    expect(await counts({ within: [] })).toBe(0);
  });

  it('is forgotten after 25 months', async () => {
    await pool.query(
      `insert into event_counts (hour, account_id, received) values
      (date_trunc('hour', now()) - interval '25 months 2 hours', 'main', 1),
      (date_trunc('hour', now()) - interval '24 months', 'main', 2)`,
    );
    // null: not now, because another transaction holds a lock
    await expect.poll(() => createEventFeed(pool).keep(0)).toBe(0);
    expect((await pool.query('select received::int from event_counts')).rows).toEqual([{ received: 2 }]);
  });
});

describe('how long emails took', () => {
  const sent = (at: string, tookMs: number, accountId = 'main'): Happened => ({
    type: 'email.sent',
    at,
    accountId,
    tookMs,
  });

  it('is told of each step and of all together, sent and received apart', async () => {
    await happen([
      ...[120, 150, 180].map((ms) => sent('2026-10-25T10:10:00Z', ms)),
      { ...received('2026-10-25T10:10:00Z'), tookMs: 3000 },
      { type: 'email.settled', at: '2026-10-25T10:20:00Z', data: { state: 'sent' }, tookMs: 150 },
      // Neither of these has a known duration.
      { type: 'email.failed', at: '2026-10-25T10:20:00Z', tookMs: 9 },
      { type: 'email.sent', at: '2026-10-25T10:20:00Z' },
    ]);
    await happen([sent('2026-10-25T10:50:00Z', 150), sent('2026-10-26T10:50:00Z', 99_000_000)]);
    const whole = await readWhole(span('2026-10-25T00:00:00Z', '2026-10-27T00:00:00Z'));
    const [first, second] = whole.points;
    expect(first).toMatchObject({
      sent: 6,
      sendLatency: { emails: 5, meanMs: 150, medianMs: 150 },
      receiveLatency: { emails: 1, meanMs: 3000, p95Ms: expect.closeTo(3900, -3) },
    });
    expect(second).toMatchObject({ sendLatency: { emails: 1, meanMs: 99_000_000 }, receiveLatency: null });
    expect(whole.sendLatency).toMatchObject({ emails: 6, meanMs: 16_500_125 });
    expect(whole.receiveLatency).toEqual(first?.receiveLatency);
  });

  it('is told of the accounts that are asked for, and not of the past', async () => {
    const at = '2026-10-26T10:00:00Z';
    await happen([
      sent(at, 100, 'main'),
      sent(at, 900, 'sales'),
      { ...sent(at, 50, 'sales'), isHistorical: true },
    ]);
    const of = async (accountId: string) =>
      (await readWhole({ ...span(at, '2026-10-26T11:00:00Z'), accountId })).sendLatency?.meanMs;
    expect([await of('main'), await of('sales'), await of('support')]).toEqual([100, 900, undefined]);
  });

  it('is forgotten with the counts', async () => {
    await pool.query(
      `insert into latency_counts (hour, account_id, kind, below_ms, emails, total_ms) values
      (date_trunc('hour', now()) - interval '25 months 2 hours', 'main', 'email.sent', 25, 1, 20),
      (date_trunc('hour', now()) - interval '24 months', 'main', 'email.sent', 25, 2, 20)`,
    );
    await expect.poll(() => createEventFeed(pool).keep(0)).toBe(0);
    expect((await pool.query('select emails::int from latency_counts')).rows).toEqual([{ emails: 2 }]);
  });
});

describe('days', () => {
  it.each([
    [
      'that begin summer time',
      '2026-03-28T12:00:00Z',
      '2026-03-30T12:00:00Z',
      [24, 23, 24],
      '23:00',
      '22:00',
    ],
    ['that end it', '2026-10-24T12:00:00Z', '2026-10-26T12:00:00Z', [24, 25, 24], '22:00', '23:00'],
  ])('%s have the hours that they have', async (_, since, until, hours, before, after) => {
    await pool.query(
      `insert into event_counts (hour, account_id, received)
      select h, 'main', 1 from generate_series($1::timestamptz - interval '2 days', $2::timestamptz + interval '2 days', '1 hour') h`,
      [since, until],
    );
    const points = await read({ ...span(since, until), timeZone: 'Europe/Berlin' });
    expect(points.map((point) => point.received)).toEqual(hours);
    expect(points.map(({ at }) => at.toISOString().slice(11, 16))).toEqual([before, before, after]);
  });

  it('of a zone with half an hour have the hours that begin in them', async () => {
    await happen([received('2026-10-26T18:10:00Z'), received('2026-10-26T19:10:00Z')]);
    const points = await read({
      ...span('2026-10-26T00:00:00Z', '2026-10-27T00:00:00Z'),
      timeZone: 'Asia/Kolkata',
    });
    expect(shown(points)).toEqual([
      ['2026-10-25T18:30:00.000Z', 1],
      ['2026-10-26T18:30:00.000Z', 1],
    ]);
  });

  it('are the last 30 unless it is said otherwise, and hours the last 48', async () => {
    const days = await read({});
    expect(days).toHaveLength(31);
    expect(days.at(-1)?.at).toEqual(new Date('2026-10-27T00:00:00Z'));
    const hours = await read({ step: 'hour' });
    expect([hours.length, hours[0]?.at, hours.at(-1)?.at]).toEqual([
      48,
      new Date('2026-10-25T12:00:00Z'),
      new Date('2026-10-27T11:00:00Z'),
    ]);
  });
});

describe('a request', () => {
  it('is one statement', async () => {
    const { query } = pool;
    const statements = vi.spyOn(pool, 'query').mockImplementation(query);
    await read({});
    expect(statements).toHaveBeenCalledTimes(1);
    statements.mockRestore();
  });

  it.each(['Europe/Nowhere', 'Nowhere/Berlin+3'])('for the zone %s is refused', async (timeZone) => {
    await expect(read({ timeZone })).rejects.toMatchObject({ code: 'invalid_request' });
  });

  it('for a zone that only the database lacks is refused as well', async () => {
    const query = { ...span('2026-10-26T00:00:00Z', '2026-10-27T00:00:00Z'), step: 'day' as const };
    await expect(
      createStatisticsReader(pool).read({ ...query, timeZone: 'Europe/Nowhere', accountId: null }),
    ).rejects.toMatchObject({ code: 'invalid_request' });
  });

  it.each([
    ['no time', '2026-10-26T00:00:00Z', '2026-10-26T00:00:00Z'],
    ['time that runs backwards', '2026-10-27T00:00:00Z', '2026-10-26T00:00:00Z'],
    ['more steps than 1,000', '2020-01-01T00:00:00Z', '2026-10-26T00:00:00Z'],
  ])('for %s is refused', async (_, since, until) => {
    await expect(read(span(since, until))).rejects.toMatchObject({ code: 'invalid_request' });
  });

  it('for 1,000 steps is answered with each of them', async () => {
    const points = await read({
      step: 'hour',
      ...span('2026-01-01T00:30:00Z', '2026-02-11T16:30:00Z'),
    });
    expect(points).toHaveLength(1001);
  });

  it.each(['0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z'])('that ends at %s has nothing', async (until) => {
    const points = await read({ until: new Date(until) });
    expect(points.every((point) => point.received === 0)).toBe(true);
  });
});
