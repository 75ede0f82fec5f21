/** Delivery on a real database to real endpoints, with a clock that skips hours. */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createEventFeed } from '../../src/areas/events/event-feed.ts';
import { createWebhookDeliveries } from '../../src/areas/webhooks/webhook-deliveries.ts';
import { createWebhookQueue } from '../../src/areas/webhooks/webhook-queue.ts';
import { createWebhookStore } from '../../src/areas/webhooks/webhook-store.ts';
import { createEndpointRules } from '../../src/connectors/webhooks/endpoint-rules.ts';
import { createWebhookPoster } from '../../src/connectors/webhooks/post-webhook.ts';
import { createTargetRules } from '../../src/connectors/webhooks/public-addresses.ts';
import { createWebhookSealer } from '../../src/connectors/webhooks/webhook-sealer.ts';
import { createWebhooks, type Webhooks, type WebhookView } from '../../src/areas/webhooks/webhooks.ts';
import type { PostWebhook } from '../../src/areas/webhooks/delivery-ports.ts';
import { dayOf, formatEventId } from '../../src/core/event/event-id.ts';
import { withEverything } from '../../src/core/keys/caller.ts';
import { createIdSource } from '../../src/service/id-source.ts';
import { startWebhookDeliverer, type WebhookDeliverer } from '../../src/areas/webhooks/webhook-deliverer.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { silentLogger } from '../helpers/silent-logger.ts';
import { createSkippedTime, type SkippedTime } from '../helpers/skipped-time.ts';
import { createTestPool } from '../helpers/test-pool.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../helpers/webhook-receiver.ts';

const HOUR_MS = 3_600_000;
const CALLER = withEverything({ kind: 'secret', number: 1 });
const API_SECRET = 'an API secret of the test';

let database: TestDatabase;
let pool: pg.Pool;
/** Statements of the part under test. */
let statements: string[] = [];
/** Those of them that were answered. */
let answered: string[] = [];
let counted: pg.Pool;
/** The number of answers to this statement that get lost: the statement is carried out, and the connection breaks. */
const lost = { name: '', count: 0 };
let time: SkippedTime;
let receiver: WebhookReceiver;
const closing: (() => unknown)[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createTestPool(database);
  counted = createTestPool(database);
  const query = counted.query.bind(counted) as (...parts: unknown[]) => unknown;
  Object.assign(counted, {
    query: async (...parts: unknown[]) => {
      const name = String(Object(parts[0])['name']);
      statements.push(name);
      const answer = await query(...parts);
      answered.push(name);
      if (name !== lost.name || lost.count === 0) return answer;
      lost.count -= 1;
      throw Object.assign(new Error('the connection broke'), { code: 'ECONNRESET' });
    },
  });
});
afterAll(async () => {
  await Promise.all([pool.end(), counted.end()]);
  await database.drop();
});
beforeEach(async () => {
  time = createSkippedTime();
  receiver = await startReceiver();
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await pool.query('delete from webhooks');
  if (receiver.faults.length > 0) throw new Error(receiver.faults.join('\n'));
});

async function startReceiver(): Promise<WebhookReceiver> {
  const made = await startWebhookReceiver();
  made.checksTime = false;
  closing.push(() => made.close());
  return made;
}

interface Node {
  readonly webhooks: Webhooks;
  readonly deliverer: WebhookDeliverer;
  /** Writes events, and has them numbered and announced. */
  happen(count: number, customerId?: string): Promise<readonly string[]>;
  stop(): Promise<void>;
}

/** A process, as far as webhooks are concerned. */
function startNode(
  options: { owner?: string; secrets?: readonly string[]; timeoutMs?: number; post?: PostWebhook } = {},
): Node {
  const { owner = randomUUID(), secrets = [API_SECRET], timeoutMs = 10_000 } = options;
  const { clock } = time;
  const targets = createTargetRules({ networks: ['127.0.0.1'], hosts: [] });
  const poster = createWebhookPoster({ targets, timeoutMs, clock });
  const sealer = createWebhookSealer(secrets);
  const log = createWebhookDeliveries(counted);
  const ids = createIdSource();
  const feed = createEventFeed(counted);
  const queue = createWebhookQueue({ pool: counted, deliveries: log, owner, leaseMs: 30_000 });
  const common = { sealer, post: options.post ?? poster.post, clock, ids };
  const deliverer = startWebhookDeliverer({
    ...common,
    queue,
    feed,
    logger: silentLogger,
    leaseMs: 30_000,
    timers: time,
    random: () => 0.5,
  });
  const rules = createEndpointRules(targets);
  const webhooks = createWebhooks({ ...common, store: createWebhookStore(pool), log, rules });
  let stopped: Promise<void> | null = null;
  const stop = () => (stopped ??= deliverer.stop().then(() => poster.close()));
  closing.push(stop);
  return {
    webhooks,
    deliverer,
    stop,
    async happen(count, customerId) {
      const { rows } = await pool.query<{ position: string }>('select position from event_clock');
      await pool.query(
        `insert into event_inbox (bodies)
        select array[row('thread.updated', clock_timestamp(), null, null, null, $2::uuid, null, false, '{"n":' || n || '}', null, null)::event_body]
        from generate_series(1, $1::int) n`,
        [count, customerId ?? null],
      );
      while ((await createEventFeed(pool).number(200)) > 0);
      const events = await pool.query<{ position: string }>(
        `select position from events where position > $1 and type = 'thread.updated' order by position`,
        [rows[0]?.position],
      );
      deliverer.grown();
      return events.rows.map(({ position }) => formatEventId(Number(position)));
    },
  };
}

async function create(
  node: Node,
  request: Partial<Parameters<Webhooks['create']>[0]> = {},
  to: WebhookReceiver = receiver,
): Promise<WebhookView> {
  const { webhook, secret } = await node.webhooks.create({
    url: to.url,
    description: '',
    types: null,
    accountId: null,
    customerId: null,
    isHistorical: null,
    payload: 'full',
    maxInFlight: 1,
    headers: {},
    after: null,
    ...request,
  });
  to.secret = secret;
  node.deliverer.changed();
  return webhook;
}

/** Acts as the watch does when another process changed something. */
const resume = async (node: Node, id: string) => {
  await node.webhooks.resume(CALLER, id);
  node.deliverer.changed();
};
const paused = (node: Node, id: string) =>
  waitUntil('it is paused', async () => (await node.webhooks.read(id)).pause !== null);
const received = (count: number, from: WebhookReceiver = receiver) =>
  waitUntil(`${count} of ${from.received.length} came`, () => from.received.length >= count);
const positionIs = (node: Node, id: string, eventId: string | undefined) =>
  waitUntil(
    `it is at ${eventId}`,
    async () => formatEventId((await node.webhooks.read(id)).position) === eventId,
  );
/** Skips to the next attempt, whenever one is planned. */
async function skipToAttempts(node: Node, id: string, count: number): Promise<void> {
  for (let attempt = receiver.received.length; attempt < count; attempt += 1) {
    await waitUntil('the failure is stored', async () => {
      const { beyond } = await node.webhooks.read(id);
      return (beyond.failed[0]?.attempts ?? 0) >= attempt;
    });
    const { beyond, readAt } = await node.webhooks.read(id);
    time.skip(Math.max(0, (beyond.failed[0]?.dueAt.getTime() ?? 0) - readAt.getTime()) + 1);
    // Claims expire by the database's clock, which does not skip.
    node.deliverer.wake();
    await received(attempt + 1);
  }
}

describe('progress', () => {
  it('whose answer was lost is stored again, and delivering goes on', async () => {
    const node = startNode();
    const { id } = await create(node, { types: ['thread.updated'] });
    Object.assign(lost, { name: 'record-webhook-progress', count: 2 });
    const happened = await node.happen(150);
    await received(150);
    await positionIs(node, id, happened.at(-1));
    expect(lost.count).toBe(0);
    expect(receiver.ids()).toEqual(happened);
    const { rows } = await pool.query('select from webhook_deliveries where webhook_id = $1', [id]);
    expect(rows).toHaveLength(150);
  });
});

describe('an endpoint that fails', () => {
  it('is tried for three days, then paused, and resumed where it was: nothing is lost, the order is kept', async () => {
    const node = startNode();
    const other = await startReceiver();
    const { id: watching } = await create(node, { types: ['webhook.paused'] }, other);
    const { id } = await create(node, { types: ['thread.updated'] });
    receiver.respond = (response) => void response.writeHead(500).end('down');
    const happened = await node.happen(5);
    const begun = time.clock().getTime();
    await received(1);
    await skipToAttempts(node, id, 17);
    await paused(node, id);
    const { pause } = await node.webhooks.read(id);
    expect(pause).toMatchObject({ reason: 'failed', detail: `event ${happened[0]}: the answer was 500` });
    expect((time.clock().getTime() - begun) / HOUR_MS).toBeCloseTo(72, 0);
    expect(new Set(receiver.ids())).toEqual(new Set([happened[0]]));
    const { deliveries } = await node.webhooks.deliveries(id, { outcome: null, limit: 100, cursor: null });
    expect(deliveries.map(({ attempt }) => attempt)).toEqual(
      Array.from({ length: 17 }, (_, index) => 17 - index),
    );
    expect(deliveries[0]).toMatchObject({ outcome: 'failed', status: 500, answer: 'down' });

    await node.happen(0);
    await received(1, other);
    expect(other.received[0]?.json).toMatchObject({
      type: 'webhook.paused',
      data: { webhook_id: id, reason: 'failed' },
    });

    const more = await node.happen(5);
    receiver.respond = (response) => void response.writeHead(200).end();
    await resume(node, id);
    await received(27);
    expect(receiver.ids().slice(17)).toEqual([...happened, ...more]);
    expect((await node.webhooks.read(watching)).pause).toBeNull();
  });

  it('is not forgotten by a restart: attempts and their times go on', async () => {
    const first = startNode();
    const { id } = await create(first, { types: ['thread.updated'] });
    receiver.respond = (response) => void response.writeHead(500).end();
    await first.happen(2);
    await received(1);
    await skipToAttempts(first, id, 3);
    await first.stop();
    const { beyond } = await first.webhooks.read(id);
    expect(beyond.failed).toMatchObject([{ attempts: 3 }]);
    answered = [];
    const second = startNode();
    second.deliverer.wake();
    // It takes the times over relative to its own clock: what is skipped before that, it waits for.
    await waitUntil('it has the webhook', () => answered.includes('claim-webhooks'));
    await skipToAttempts(second, id, 4);
    await waitUntil(
      'it is stored',
      async () => (await second.webhooks.read(id)).beyond.failed[0]?.attempts === 4,
    );
    const { deliveries } = await second.webhooks.deliveries(id, { outcome: null, limit: 1, cursor: null });
    expect(deliveries[0]).toMatchObject({ attempt: 4 });
  });

  it('is tried at once by the next process when the times were stored by a clock that was ahead', async () => {
    const first = startNode();
    const { id } = await create(first, { types: ['thread.updated'] });
    receiver.respond = (response) => void response.writeHead(500).end();
    const happened = await first.happen(2);
    await received(1);
    await first.stop();
    const { rows } = await pool.query<{
      beyond: { stored_at: string; failed: { since: string; due_at: string }[] };
    }>('select beyond from webhook_positions where webhook_id = $1', [id]);
    const later = (text: string) => new Date(Date.parse(text) + HOUR_MS).toISOString();
    const beyond = rows[0]!.beyond;
    // It was given back by that clock, too.
    const aheadOfTime = `beyond = $2, lease_until = lease_until + interval '1 hour'`;
    await pool.query(`update webhook_positions set ${aheadOfTime} where webhook_id = $1`, [
      id,
      {
        ...beyond,
        stored_at: later(beyond.stored_at),
        failed: beyond.failed.map((one) => ({ ...one, since: later(one.since), due_at: later(one.due_at) })),
      },
    ]);
    receiver.respond = (response) => void response.writeHead(204).end();
    const second = startNode();
    second.deliverer.wake();
    await received(3);
    expect(receiver.ids().slice(1)).toEqual(happened);
  });

  it('that asks for rest by Retry-After gets nothing meanwhile, with several requests at a time too', async () => {
    const node = startNode();
    const { id } = await create(node, { types: ['thread.updated'], maxInFlight: 3 });
    receiver.respond = (response) => void response.writeHead(429, { 'retry-after': '3600' }).end();
    await node.happen(20);
    await received(3);
    await waitUntil('it is stored', async () => (await node.webhooks.read(id)).beyond.failed.length === 3);
    time.skip(HOUR_MS / 2);
    node.deliverer.wake();
    await node.happen(1);
    expect(receiver.received).toHaveLength(3);
    receiver.respond = (response) => void response.writeHead(200).end();
    time.skip(HOUR_MS / 2);
    node.deliverer.wake();
    await received(24);
    expect(new Set(receiver.ids()).size).toBe(21);
  });

  it('that changes the protocol has failed, and gets the event again', async () => {
    const node = startNode();
    const { id } = await create(node, { types: ['thread.updated'] });
    receiver.respond = (response) =>
      void response.socket?.write(
        'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
      );
    const happened = await node.happen(2);
    await waitUntil(
      'it is stored',
      async () => (await node.webhooks.read(id)).beyond.failed[0]?.attempts === 1,
    );
    receiver.respond = (response) => void response.writeHead(204).end();
    time.skip(HOUR_MS);
    node.deliverer.wake();
    await positionIs(node, id, happened.at(-1));
    expect(receiver.ids()).toEqual([happened[0], ...happened]);
  });

  it('whose request never ends does not keep the process from its end', { tags: ['long'] }, async () => {
    let posts = 0;
    const node = startNode({ post: () => new Promise(() => (posts += 1)) });
    const { id } = await create(node, { types: ['thread.updated'] });
    await node.happen(1);
    await waitUntil('it is under way', () => posts === 1);
    await node.stop();
    expect(await node.webhooks.read(id)).toMatchObject({ beyond: { delivered: [], failed: [] } });
  });

  it('delays no other, whether it hangs or refuses', async () => {
    const node = startNode({ timeoutMs: 60_000 });
    const hanging = await startReceiver();
    hanging.respond = () => undefined;
    for (let count = 0; count < 5; count += 1) await create(node, { types: ['thread.updated'] }, hanging);
    hanging.secret = null;
    await create(node, { types: ['thread.updated'] });
    const happened = await node.happen(30);
    await received(30);
    expect(receiver.ids()).toEqual(happened);
    expect(hanging.received.length).toBeLessThanOrEqual(5);
  });
});

describe('with several requests at a time', () => {
  it('no more are under way than it wants, and each event comes once', async () => {
    const node = startNode();
    const { id } = await create(node, { types: ['thread.updated'], maxInFlight: 4 });
    let underWay = 0;
    let most = 0;
    receiver.respond = (response) => {
      underWay += 1;
      most = Math.max(most, underWay);
      setTimeout(() => {
        underWay -= 1;
        response.writeHead(204).end();
      }, 5);
    };
    const happened = await node.happen(100);
    await positionIs(node, id, happened.at(-1));
    expect(receiver.ids().toSorted()).toEqual(happened);
    expect(most).toBe(4);
  });

  it('one that is never taken is overtaken by a hundred, which do not come again after a restart', async () => {
    const node = startNode();
    const { id } = await create(node, { types: ['thread.updated'], maxInFlight: 4 });
    const happened = await node.happen(150);
    const bad = happened[3];
    receiver.respond = (response, event) => void response.writeHead(event.id === bad ? 500 : 204).end();
    await received(103);
    await waitUntil(
      'all are stored',
      async () => (await node.webhooks.read(id)).beyond.delivered.length === 99,
    );
    expect(formatEventId((await node.webhooks.read(id)).position + 1)).toBe(bad);
    await node.stop();
    const before = receiver.received.length;
    expect(new Set(receiver.ids())).toEqual(new Set(happened.slice(0, 103)));

    const next = startNode();
    next.deliverer.wake();
    receiver.respond = (response) => void response.writeHead(204).end();
    time.skip(24 * HOUR_MS);
    next.deliverer.wake();
    await positionIs(next, id, happened.at(-1));
    expect(receiver.ids().slice(before).toSorted()).toEqual([bad, ...happened.slice(103)].toSorted());
  });
});

describe('a position', () => {
  it('before the first event that is kept pauses the webhook in sight, and is moved by hand', async () => {
    const node = startNode();
    const { id } = await create(node, { types: ['thread.updated'] });
    await node.webhooks.pause(CALLER, id);
    await node.happen(3);
    const { rows } = await pool.query<{ forgotten: string; position: string }>('select * from event_clock');
    const day = dayOf(new Date());
    await pool.query('update event_clock set forgotten = $1', [(BigInt(day + 1) << 36n) - 1n]);
    try {
      await expect(node.webhooks.resume(CALLER, id)).rejects.toMatchObject({ code: 'events_expired' });
      await pool.query('update webhooks set paused_at = null, pause_reason = null where id = $1', [id]);
      node.deliverer.changed();
      await paused(node, id);
      expect((await node.webhooks.read(id)).pause).toMatchObject({ reason: 'events_expired' });
      await expect(node.webhooks.replay(id, { since: new Date() })).rejects.toMatchObject({
        code: 'events_expired',
      });
    } finally {
      await pool.query('update event_clock set forgotten = $1', [rows[0]?.forgotten]);
    }
    await node.webhooks.replay(id, { after: '0000000000000000' });
    await resume(node, id);
    await received(3);
  });

  it('is not moved by what was under way when it was moved by hand', async () => {
    const node = startNode();
    const { id } = await create(node, { types: ['thread.updated'] });
    const [first, second] = await node.happen(2);
    await positionIs(node, id, second);
    let answer = () => {};
    receiver.respond = (response) => {
      answer = () => void response.writeHead(204).end();
    };
    await node.happen(1);
    await received(3);
    await node.webhooks.replay(id, { after: first ?? '' });
    node.deliverer.changed();
    receiver.respond = (response) => void response.writeHead(204).end();
    answer();
    await received(5);
    expect(receiver.ids()[3]).toBe(second);
  });
});

describe('secrets', () => {
  it('are sealed anew with the newest API secret, and open with both', async () => {
    const old = startNode({ secrets: ['the old secret'] });
    const { id } = await create(old, { types: ['thread.updated'] });
    await old.happen(1);
    await received(1);
    await old.stop();
    const both = startNode({ secrets: ['the new secret', 'the old secret'] });
    both.deliverer.wake();
    await both.happen(1);
    await received(2);
    await both.stop();
    const fresh = startNode({ secrets: ['the new secret'] });
    fresh.deliverer.wake();
    await fresh.happen(1);
    await received(3);
    expect((await fresh.webhooks.read(id)).pause).toBeNull();
  });

  it('that no process can open pause the webhook after some minutes, and a new one repairs it', async () => {
    const old = startNode({ secrets: ['the old secret'] });
    const { id } = await create(old, { types: ['thread.updated'] });
    await old.stop();
    const other = startNode({ secrets: ['another secret'] });
    other.deliverer.wake();
    const happened = await other.happen(1);
    await waitUntil('it looked', () => statements.filter((name) => name === 'claim-webhooks').length > 2);
    expect((await other.webhooks.read(id)).pause).toBeNull();
    await pool.query(`update webhook_positions set lease_until = now() - interval '6 minutes'`);
    other.deliverer.wake();
    await paused(other, id);
    expect((await other.webhooks.read(id)).pause?.reason).toBe('secret_unreadable');
    await expect(other.webhooks.change(id, null, { payload: 'thin' })).rejects.toMatchObject({
      code: 'webhook_secret_unreadable',
    });
    const { secret } = await other.webhooks.rotateSecret(id, 0);
    receiver.secret = secret;
    await resume(other, id);
    await received(1);
    expect(receiver.ids()).toEqual(happened);
  });
});

describe('the cost', () => {
  it('of a backlog of thousands is some statements, and its order is kept', { tags: ['long'] }, async () => {
    const node = startNode();
    const { id } = await create(node, { types: ['thread.updated'] });
    await node.webhooks.pause(CALLER, id);
    node.deliverer.changed();
    const happened = await node.happen(3000);
    statements = [];
    await resume(node, id);
    await positionIs(node, id, happened.at(-1));
    expect(receiver.ids()).toEqual(happened);
    const count = (name: string) => statements.filter((one) => one === name).length;
    // 50 events each
    expect(count('read-events')).toBeLessThan(80);
    expect(count('record-webhook-progress')).toBeLessThan(happened.length / 2);
  });

  it(
    'of 50 webhooks is that of reading the feed once, and of storing the progress of all together',
    { tags: ['long'] },
    async () => {
      const node = startNode();
      const customer = randomUUID();
      for (let count = 0; count < 50; count += 1) {
        await create(node, {
          types: ['thread.updated'],
          ...(count < 25 ? { customerId: customer } : {}),
          maxInFlight: 2,
        });
      }
      receiver.secret = null;
      await node.happen(1, customer);
      await received(50);
      statements = [];
      for (let round = 0; round < 5; round += 1)
        await node.happen(20, round % 2 === 0 ? customer : undefined);
      const expected = 50 + 3 * 20 * 50 + 2 * 20 * 25;
      await received(expected);
      const count = (name: string) => statements.filter((one) => one === name).length;
      expect(count('read-events')).toBeLessThan(30);
      expect(count('record-webhook-progress')).toBeLessThan(expected / 10);
      expect(count('claim-webhooks')).toBeLessThan(10);
    },
  );

  /** Waits for remaining work on a busy machine: until there is no statement for a while. */
  const comesToRest = () =>
    waitUntil('it rests', async () => {
      statements = [];
      await new Promise((resolve) => setTimeout(resolve, 1500));
      return statements.length === 0;
    });

  it(
    'at rest is a statement for each third of a lease, and none without webhooks',
    { tags: ['long'] },
    async () => {
      const node = startNode();
      await node.happen(1);
      await waitUntil('it looked', () => statements.includes('claim-webhooks'));
      await comesToRest();
      await create(node);
      await node.happen(1);
      await received(1);
      await waitUntil('it is stored', () => statements.includes('record-webhook-progress'));
      await comesToRest();
      statements = [];
      time.skip(10_001);
      await waitUntil('it renews', () => statements.length > 0);
      expect(new Set(statements)).toEqual(new Set(['claim-webhooks']));
    },
  );
});
