/** The feed under writers, numberers and readers at once: no event is missing or doubled, and all are in the order of commits. */
import { setTimeout as wait } from 'node:timers/promises';
import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dayOf } from '../../core/event/event-id.ts';
import { runs } from '../../../test/helpers/runs.ts';
import { createTestPool } from '../../../test/helpers/test-pool.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/helpers/postgres.ts';
import { createEventFeed } from './event-feed.ts';

const ALL = { types: null, accountId: null, customerId: null, isHistorical: null };
const RUNS = runs(30);
const WRITERS = 8;
const READERS = 8;
/** Days that begin while readers read: when partitions were attached without shutting readers out, every reader missed one in 300. */
const DAYS = 5 * runs(100);

let database: TestDatabase;
let pool: pg.Pool;
beforeAll(async () => {
  database = await createTestDatabase();
  pool = createTestPool(database, 20);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const add = (client: pg.Pool | pg.PoolClient, name: string) =>
  client.query(
    `insert into event_inbox (bodies)
    values (array[row('thread.updated', clock_timestamp(), null, null, null, null, null, false, $1, null, null)::event_body])`,
    [JSON.stringify({ name })],
  );

interface Committed {
  readonly name: string;
  readonly begunAt: number;
  readonly committedAt: number;
}

interface Step {
  readonly events: number;
  /** Pause in the middle of the transaction, in ms. */
  readonly pauseMs: number;
  readonly isKept: boolean;
}

async function write(writer: number, steps: readonly Step[], committed: Committed[]): Promise<void> {
  for (const [index, { events, pauseMs, isKept }] of steps.entries()) {
    const client = await pool.connect();
    try {
      const begunAt = performance.now();
      const names = Array.from({ length: events }, (_, event) => `${writer}.${index}.${event}`);
      await client.query('begin');
      // As triggers do, which run after the change that they report
      await client.query('select pg_current_xact_id()');
      for (const name of names) {
        await add(client, name);
        await wait(pauseMs);
      }
      await client.query(isKept ? 'commit' : 'rollback');
      const committedAt = performance.now();
      if (isKept) committed.push(...names.map((name) => ({ name, begunAt, committedAt })));
    } finally {
      client.release();
    }
  }
}

/** Reads on from `start` until it has read the last event. It forgets everything but what it has stored, like a restarted reader. */
async function follow(start: number, limit: number, isOver: () => boolean): Promise<readonly string[]> {
  const names: string[] = [];
  let after = start;
  for (;;) {
    const over = isOver();
    const page = await createEventFeed(pool).read(after, ALL, limit);
    names.push(...page.events.map(({ json }) => (JSON.parse(json) as { data: { name: string } }).data.name));
    after = page.next;
    if (over && page.isLast && page.events.length === 0) return names;
    await wait(2);
  }
}

describe('the feed', () => {
  it(
    'gives every reader what was committed, once and in its order',
    async () => {
      const step = fc.record({
        events: fc.integer({ min: 1, max: 4 }),
        // A few transactions are much longer than the others.
        pauseMs: fc.oneof(
          { weight: 6, arbitrary: fc.integer({ min: 0, max: 3 }) },
          { weight: 1, arbitrary: fc.constant(60) },
        ),
        isKept: fc.integer({ min: 0, max: 3 }).map((chance) => chance > 0),
      });
      const plan = fc.array(fc.array(step, { maxLength: 12 }), { minLength: WRITERS, maxLength: WRITERS });
      await fc.assert(
        fc.asyncProperty(plan, fc.integer({ min: 1, max: 50 }), async (plans, batch) => {
          const feed = createEventFeed(pool);
          const start = await feed.readLatest();
          const committed: Committed[] = [];
          let isWritten = false;
          let isNumbered = false;
          const number = async () => {
            for (;;) {
              const over = isWritten;
              if ((await feed.number(batch)) === 0 && over) return;
              await wait(1);
            }
          };
          const readers = [1, 7, 500].map((limit) => follow(start, limit, () => isNumbered));
          const numberers = Promise.all([number(), number()]);
          await Promise.all(plans.map((steps, writer) => write(writer, steps, committed)));
          isWritten = true;
          await numberers;
          isNumbered = true;
          const [first = [], ...others] = await Promise.all(readers);

          expect(first.toSorted()).toEqual(committed.map(({ name }) => name).toSorted());
          for (const other of others) expect(other).toEqual(first);
          const place = new Map(first.map((name, index) => [name, index]));
          const placeOf = ({ name }: Committed) => place.get(name) ?? -1;
          const swapped = committed.flatMap((earlier) =>
            committed.filter(
              (later) => earlier.committedAt < later.begunAt && placeOf(earlier) > placeOf(later),
            ),
          );
          expect(swapped).toEqual([]);
        }),
        { numRuns: RUNS },
      );
    },
    RUNS * 20_000,
  );

  it('forgets whole days, and says so to a reader that stopped before', async () => {
    const feed = createEventFeed(pool);
    const today = dayOf(new Date());
    await pool.query('select make_event_partition($1)', [today - 40]);
    const old = (today - 40) * 2 ** 36;
    await pool.query(
      `insert into events (position, type, occurred_at, is_historical, data)
      values ($1, 'thread.updated', now() - interval '40 days', false, '{}')`,
      [old + 1],
    );
    await add(pool, 'today');
    await feed.number(10);
    expect((await feed.read(old, ALL, 1)).events).toHaveLength(1);

    expect(await feed.keep(30)).toBe(1);
    expect(await feed.keep(30)).toBe(0);
    const oldest = ((today - 30) * 2 ** 36 - 1).toString(16).padStart(16, '0');
    await expect(feed.read(old, ALL, 1)).rejects.toMatchObject({ code: 'events_expired', details: oldest });
    expect((await feed.read(Number.parseInt(oldest, 16), ALL, 1)).events).toHaveLength(1);
    expect((await feed.read(0, ALL, 1)).events).toHaveLength(1);
  });

  it('is ready for the next day before it begins', async () => {
    const feed = createEventFeed(pool);
    const name = `events_${new Date(Date.now() + 86_400_000).toISOString().slice(0, 10).replaceAll('-', '')}`;
    await feed.keep(null);
    expect((await pool.query('select to_regclass($1) as partition', [name])).rows).toEqual([
      { partition: name },
    ]);
  });

  it('does not wait for a long transaction that reads events, and keeps no reader waiting', async () => {
    const feed = createEventFeed(pool);
    const today = dayOf(new Date());
    await pool.query('select make_event_partition($1)', [today - 50]);
    const backup = await pool.connect();
    try {
      await backup.query('begin');
      await backup.query('select from events limit 1');
      expect(await feed.keep(45)).toBeNull();
      await add(pool, 'beside the backup');
      expect(await feed.number(10)).toBe(1);
      await backup.query('commit');
    } finally {
      backup.release();
    }
    expect(await feed.keep(45)).toBe(1);
  });

  it(
    'has the first events of a day for every reader, also for one that is planned while the day begins',
    async () => {
      const fresh = await createTestDatabase();
      const own = createTestPool(fresh, 12);
      try {
        await own.query('create table test_day as select 20000::bigint as day');
        await own.query(
          `create or replace function event_day(at timestamptz) returns bigint language sql stable as 'select day from test_day'`,
        );
        const feed = createEventFeed(own);
        let isOver = false;
        const readers = Array.from({ length: READERS }, async () => {
          const positions: number[] = [];
          for (let after = 0; ;) {
            const wasOver = isOver;
            const page = await feed.read(after, ALL, 100);
            positions.push(...page.events.map(({ position }) => position));
            after = page.next;
            if (wasOver && page.events.length === 0) return positions;
          }
        });
        for (let day = 1; day <= DAYS; day += 1) {
          await own.query('update test_day set day = day + 1');
          await add(own, `day ${day}`);
          await feed.number(10);
        }
        isOver = true;
        const all = Array.from({ length: DAYS }, (_, day) => (20_001 + day) * 2 ** 36 + 1);
        for (const positions of await Promise.all(readers)) expect(positions).toEqual(all);
      } finally {
        await own.end();
        await fresh.drop();
      }
    },
    60_000 + DAYS * 1000,
  );

  it('looks at a bounded part of the feed for a rare type, and goes on behind it', async () => {
    await pool.query(
      `insert into event_inbox (bodies)
      select array_agg(row('thread.updated', clock_timestamp(), null, null, null, null, null, false, '{}', null, null)::event_body)
      from generate_series(1, 12000) n group by n % 30`,
    );
    const feed = createEventFeed(pool);
    const start = await feed.readLatest();
    while ((await feed.number(7)) > 0);
    const filter = { ...ALL, types: ['email.bounced' as const] };
    const first = await feed.read(start, filter, 10);
    expect(first).toEqual({ events: [], next: start + 10_000, isLast: false });
    expect(await feed.read(first.next, filter, 10)).toEqual({
      events: [],
      next: start + 12_000,
      isLast: true,
    });
  });

  it('has nothing to give at the beginning', async () => {
    const fresh = await createTestDatabase();
    const own = createTestPool(fresh);
    try {
      expect(await createEventFeed(own).read(0, ALL, 10)).toEqual({ events: [], next: 0, isLast: true });
      expect(await createEventFeed(own).number(10)).toBe(0);
    } finally {
      await own.end();
      await fresh.drop();
    }
  });
});
