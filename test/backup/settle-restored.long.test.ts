/** How a restore treats time: sends, requests, sessions and readers of events that had moved on when it happened. */
import { randomBytes } from 'node:crypto';
import type { Pool } from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { alwaysCertain } from '../helpers/always-certain.ts';
import { createEventFeed } from '../../src/areas/events/event-feed.ts';
import { createIdempotencyKeys } from '../../src/areas/send/idempotency-keys.ts';
import { createOutboundStore } from '../../src/areas/send/outbound-store.ts';
import { createSendOperations } from '../../src/areas/send/send-operations.ts';
import { createSendQueue } from '../../src/areas/send/send-queue-store.ts';
import type { EventPage } from '../../src/areas/events/event-ports.ts';
import { formatEventId } from '../../src/core/event/event-id.ts';
import { createBackupWorld, importMail, type BackupWorld } from '../helpers/backup-world.ts';
import { outboundRecord } from '../helpers/outbound-record.ts';
import { createEmptyDatabase, createTestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { createTestPool } from '../helpers/test-pool.ts';

const INSTANCE = '11111111-1111-4111-8111-111111111111';
const EVERYTHING = { types: null, accountId: null, customerId: null, isHistorical: null } as const;

let source: BackupWorld;
let target: BackupWorld;
let place: string;
const pools: Pool[] = [];
beforeEach(async () => {
  [source, target] = await Promise.all([
    createTestDatabase().then(createBackupWorld),
    createEmptyDatabase().then(createBackupWorld),
  ]);
  place = `${source.folder}/place`;
});
afterEach(async () => {
  await endPools();
  await Promise.all([source.end(), target.end()]);
});

async function endPools(): Promise<void> {
  for (const pool of pools.splice(0)) await pool.end();
}

function poolOf(world: BackupWorld): Pool {
  const pool = createTestPool(world.database, 2);
  pools.push(pool);
  return pool;
}

async function backUp(): Promise<void> {
  expect(await source.run('backup', place)).toMatchObject({ exitCode: 0, stderr: '' });
}

/** An email in the queue. */
async function enqueue(dueAt: Date | null): Promise<string> {
  const record = outboundRecord({
    state: 'queued',
    deliveries: [{ address: 'ada@example.org', state: 'pending', reply: null }],
    queue: {
      priority: 'normal',
      lane: 'new',
      dueAt,
      dueInMs: 0,
      timedFrom: new Date(),
      giveUpAfterMs: 86_400_000,
    },
  });
  await createOutboundStore(poolOf(source)).recordOutbound(record);
  return record.id;
}

const statesOf = async (world: BackupWorld) =>
  Object.fromEntries(
    (
      await query(
        world.database.connectionString,
        `select e.id, concat_ws(' ', e.state, d.state, q.email_id is not null) as state
        from emails e join email_deliveries d on d.email_id = e.id left join send_queue q on q.email_id = e.id`,
      )
    ).map(({ id, state }) => [String(id), String(state)]),
  );

async function makeSends() {
  const waiting = await enqueue(null);
  const begun = await enqueue(new Date(Date.now() - 1000));
  const queue = createSendQueue(poolOf(source), alwaysCertain);
  const owner = uuidv7();
  const { claims } = await queue.claim({
    accountId: 'default',
    owner,
    limit: 1,
    leaseMs: 60_000,
    afterLane: '',
    rate: { perMinute: null, perDay: null },
  });
  const [claim] = claims;
  expect(claim?.emailId).toBe(begun);
  expect(await queue.begin(owner, claim!, 60_000)).toBe(true);
  return { waiting, begun, later: await enqueue(new Date(Date.now() + 3_600_000)) };
}

it('sends nothing that may have been sent since the backup, until an operator says so', async () => {
  const { waiting, begun, later } = await makeSends();
  await backUp();
  const restored = await target.run('restore', place);
  expect(restored.stdout).toContain(
    'sends that are now unknown, because they may have been sent after the backup: 3',
  );
  expect(await statesOf(target)).toEqual({
    [waiting]: 'unknown unknown f',
    [begun]: 'unknown unknown f',
    [later]: 'unknown unknown f',
  });
  const operations = createSendOperations(poolOf(target));
  expect(await operations.retry(waiting, 86_400_000)).toMatchObject({
    state: 'queued',
  });
  expect(await operations.resolve(begun, 'sent', 86_400_000, 'seen')).toMatchObject({ state: 'sent' });
  // The feed reports it, like any other change.
  const feed = createEventFeed(poolOf(target));
  await feed.number(1000);
  const { events } = await feed.read(0, EVERYTHING, 1000);
  expect(events.filter(({ json }) => json.includes(later) && json.includes('unknown'))).toHaveLength(1);
});

it('sends what waited when nothing can have been sent since, but for what was under way', async () => {
  const { waiting, begun, later } = await makeSends();
  await backUp();
  expect((await target.run('restore', place, '--send-waiting')).stdout).toContain(
    'sends that are now unknown, because they may have been sent after the backup: 1',
  );
  expect(await statesOf(target)).toEqual({
    [waiting]: 'queued pending t',
    [begun]: 'unknown unknown f',
    [later]: 'queued pending t',
  });
});

it('answers a repeat of a request that was under way, and sends nothing for it', async () => {
  const keys = createIdempotencyKeys(poolOf(source), INSTANCE);
  const recorded = await enqueue(new Date(Date.now() + 3_600_000));
  const fingerprint = randomBytes(32);
  const claim = (key: string, emailId: string, queued: boolean) =>
    keys.claim({ key, emailId, queued }, fingerprint);
  await claim('lost', uuidv7(), false);
  await claim('recorded', recorded, true);
  const ended = { key: 'ended', emailId: uuidv7(), queued: false };
  await keys.claim(ended, fingerprint);
  await keys.complete(ended, { kind: 'failed', code: 'send_failed', details: 'no' });
  await backUp();
  expect((await target.run('restore', place)).stdout).toContain(
    'interrupted requests with an Idempotency-Key, whose repeat sends nothing: 2',
  );

  const restored = createIdempotencyKeys(poolOf(target), INSTANCE);
  const outcomeOf = async (key: string) => {
    const result = await restored.claim({ key, emailId: uuidv7(), queued: false }, fingerprint);
    return result.kind === 'taken' ? result.outcome : result.kind;
  };
  expect(await outcomeOf('lost')).toEqual({ kind: 'failed', code: 'send_unknown', details: null });
  expect(await outcomeOf('recorded')).toMatchObject({ kind: 'queued', id: recorded });
  expect(await outcomeOf('ended')).toMatchObject({ code: 'send_failed' });
  expect(await restored.listOpen()).toEqual([]);
});

it('gives no event an id that another one may have had, and tells readers that stand where it was', async () => {
  const readAll = async (world: BackupWorld, after: number): Promise<EventPage> => {
    const feed = createEventFeed(poolOf(world));
    await feed.number(1000);
    return await feed.read(after, EVERYTHING, 1000);
  };
  await importMail(source, [1]);
  const before = await readAll(source, 0);
  await backUp();
  // Work continues after the backup: a reader sees these events, and then the database is lost.
  await importMail(source, [2]);
  const lost = await readAll(source, before.next);
  expect(lost.events.length).toBeGreaterThan(0);

  await target.run('restore', place);
  await importMail(target, [3]);
  const after = await readAll(target, before.next);
  expect(after.events.length).toBeGreaterThan(0);
  expect(await readAll(target, 0)).toMatchObject({
    events: [...before.events, ...after.events],
  });
  for (const { position } of after.events) {
    expect(position).toBeGreaterThan(lost.next);
    expect(Number.isSafeInteger(position)).toBe(true);
  }
  // Not from the first event: a day may have begun since the restore, and events have begun anew with it.
  const [clock] = await query(
    target.database.connectionString,
    'select upper(lost)::text as first from event_clock',
  );
  const first = Number(clock!['first']);
  expect(after.events[0]!.position).toBeGreaterThan(first);
  for (const cursor of [lost.events[0]!.position, lost.next, first - 1]) {
    await expect(readAll(target, cursor)).rejects.toMatchObject({
      code: 'events_expired',
      details: formatEventId(first),
    });
  }
  expect((await readAll(target, first)).events).toEqual(after.events);

  // A second restore begins elsewhere again. It has to be alone, as far as it can see.
  await endPools();
  expect(await target.run('restore', place, '--replace')).toMatchObject({ exitCode: 0 });
  await importMail(target, [4]);
  const again = await readAll(target, before.next);
  expect(again.events[0]!.position).toBeGreaterThan(after.next);
});

it('ends sessions and links to log in', async () => {
  await query(
    source.database.connectionString,
    `insert into sessions (token_hash, credential, id, device, binding, expires_at, ends_at)
      values (sha256('a'), sha256('b'), gen_random_uuid(), 'Firefox', sha256('c'), now() + interval '1 hour', now() + interval '1 hour')`,
  );
  await query(
    source.database.connectionString,
    `insert into login_links (token_hash, credential, expires_at) values (sha256('a'), sha256('b'), now() + interval '1 hour')`,
  );
  await backUp();
  expect(await target.run('restore', place)).toMatchObject({ exitCode: 0 });
  for (const table of ['sessions', 'login_links'])
    expect(await query(target.database.connectionString, `select from ${table}`)).toEqual([]);
});
