/** When an email is `sending`: a claim writes nothing, only a hand-over that takes long does. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { Claim } from '../../src/areas/send/queue-ports.ts';
import { conclude } from '../../src/core/delivery/conclude.ts';
import type { ServiceError } from '../../src/core/errors.ts';
import { startGatedSink, type GatedSink } from '../helpers/gated-sink.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { startQueueNode, type QueueNode, type QueueNodeOptions } from '../helpers/queue-node.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const OTHER = '00000000-0000-4000-8000-00000000000f';

let database: TestDatabase;
let sink: GatedSink;
const nodes: QueueNode[] = [];

beforeAll(async () => {
  [database, sink] = await Promise.all([createTestDatabase(), startGatedSink()]);
});
afterEach(async () => {
  sink.open();
  for (const node of nodes.splice(0)) {
    await node.stop();
    await node.folder.remove();
  }
  await sql('truncate emails, email_threads, thread_message_ids, event_inbox cascade');
});
afterAll(async () => {
  await sink.stop();
  await database.drop();
});

async function start(options: Partial<QueueNodeOptions> = {}): Promise<QueueNode> {
  const node = await startQueueNode({
    database: database.connectionString,
    smtpUrl: sink.url,
    leaseMs: 900,
    ...options,
  });
  nodes.push(node);
  return node;
}

const sql = (text: string) => query(database.connectionString, text);

/** The version of the email's row, which differs after each change. */
const versionOf = async (id: string) =>
  (await sql(`select xmin::text, ctid::text, state from emails where id = '${id}'`))[0];

async function claimOne(node: QueueNode, leaseMs = 60_000): Promise<Claim> {
  const { claims } = await node.queue.claim({
    accountId: 'default',
    owner: node.owner,
    limit: 1,
    leaseMs,
    afterLane: '',
    rate: { perMinute: null, perDay: null },
  });
  return claims[0]!;
}

const settle = (node: QueueNode, claim: Claim, state: 'accepted' | 'deferred') =>
  node.queue.settle(
    node.owner,
    {
      ...claim,
      email: null,
      startedAt: new Date(),
      endedAt: new Date(),
      result: {
        ...(state === 'accepted' ? { kind: 'accepted' } : { kind: 'refused', temporary: true }),
        recipients: [{ address: 'ann@example.org', state, reply: null }],
        reply: null,
        detail: 'as the server said',
        relayMessageId: null,
      },
    },
    ({ states }) => conclude(states, 'as the server said', 0),
  );

/** Types and states of the events of the email, in order. */
async function eventsOf(id: string): Promise<readonly string[]> {
  const rows = await sql(
    `select b.type, b.data::json ->> 'previous_state' as previous
     from event_inbox i cross join unnest(i.bodies) with ordinality b
     where b.email_id = '${id}' order by i.ordinal, b.ordinality`,
  );
  return rows.map(({ type, previous }) => `${String(type)} after ${String(previous)}`);
}

it('leaves the row of the email alone when it is claimed, begun and given back', async () => {
  const node = await start({ work: false });
  const id = await node.enqueue();
  const before = await versionOf(id);
  const claim = await claimOne(node);
  expect(await node.queue.begin(node.owner, claim, 60_000)).toBe(true);
  expect(await versionOf(id)).toEqual(before);
  expect(await node.queue.release(node.owner, claim, { evenBegun: true })).toBe(true);
  expect(await versionOf(id)).toEqual(before);
  expect(await eventsOf(id)).toEqual(['email.queued after null']);
});

it('lets no operator touch an email that a process has, though it is still shown as queued or deferred', async () => {
  const node = await start({ work: false });
  const id = await node.enqueue();
  const claim = await claimOne(node);
  expect(await node.read(id)).toMatchObject({ state: 'queued', nextAttemptAt: null, sendVersion: null });
  await expect(node.cancelSend(id)).rejects.toMatchObject({ code: 'not_cancellable' });
  await expect(node.retrySend(id)).rejects.toMatchObject({ code: 'not_retryable' });
  await expect(node.resolveSend(id, 'sent')).rejects.toMatchObject({ code: 'not_unknown' });
  await expect(node.change(id, { subject: 'Other' }, 1)).rejects.toMatchObject({ code: 'not_editable' });
  await settle(node, claim, 'deferred');
  await claimOne(node);
  expect((await node.read(id)).state).toBe('deferred');
  await expect(node.cancelSend(id)).rejects.toMatchObject({ code: 'not_cancellable' });
  await expect(node.retrySend(id)).rejects.toMatchObject({ code: 'not_retryable' });
});

it('shows a hand-over that takes long as sending, until its outcome is there', async () => {
  sink.close();
  const node = await start();
  const id = await node.enqueue();
  await sink.reached();
  await waitUntil('it is shown', async () => (await node.read(id)).state === 'sending');
  await expect(node.cancelSend(id)).rejects.toMatchObject({ code: 'not_cancellable' });
  sink.open();
  await waitUntil('it is sent', async () => (await node.read(id)).state === 'sent');
  expect(await eventsOf(id)).toEqual(['email.queued after null', 'email.sent after sending']);
});

it('tells of each time that an email is put off', async () => {
  const node = await start({ work: false });
  const id = await node.enqueue();
  for (const state of ['deferred', 'deferred', 'accepted'] as const) {
    const claim = await claimOne(node);
    await node.queue.begin(node.owner, claim, 60_000);
    await settle(node, claim, state);
  }
  expect(await eventsOf(id)).toEqual([
    'email.queued after null',
    'email.deferred after queued',
    'email.deferred after sending',
    'email.sent after deferred',
  ]);
});

it('makes an email unknown whose process fell silent, shown as sending or not', async () => {
  const node = await start({ work: false });
  const ids = [await node.enqueue(), await node.enqueue()];
  const claims = [await claimOne(node), await claimOne(node)];
  for (const claim of claims) await node.queue.begin(node.owner, claim, 1);
  await node.queue.showSending(node.owner, [claims[0]!]);
  expect((await Promise.all(ids.map((id) => node.read(id)))).map(({ state }) => state).sort()).toEqual([
    'queued',
    'sending',
  ]);
  await waitUntil('both are lost', async () => {
    await node.queue.expire(OTHER);
    return (await sql(`select from emails where state = 'unknown'`)).length === 2;
  });
  for (const claim of claims) await node.queue.release(node.owner, claim, { evenBegun: true });
  expect(await Promise.all(ids.map((id) => node.read(id)))).toMatchObject([
    { state: 'queued', attempts: [] },
    { state: 'queued', attempts: [] },
  ]);
});

it('shows nothing of a claim that has not begun, that is not its own, or whose outcome is there', async () => {
  const node = await start({ work: false });
  const id = await node.enqueue();
  const claim = await claimOne(node);
  await node.queue.showSending(node.owner, [claim]);
  await node.queue.begin(node.owner, claim, 60_000);
  await node.queue.showSending(OTHER, [claim]);
  expect((await node.read(id)).state).toBe('queued');
  await Promise.all([settle(node, claim, 'accepted'), node.queue.showSending(node.owner, [claim])]);
  await node.queue.showSending(node.owner, [claim]);
  expect((await node.read(id)).state).toBe('sent');
});

it('gives an email to a claim or to a cancellation at the same moment, never to both', async () => {
  const node = await start({ work: false });
  for (let round = 0; round < 20; round += 1) {
    const id = await node.enqueue();
    const [claim, cancelled] = await Promise.all([
      claimOne(node),
      node.cancelSend(id).catch((error: unknown) => (error as ServiceError).code),
    ]);
    const isClaimed = (claim as Claim | undefined) !== undefined;
    const outcome = [isClaimed, cancelled, (await node.read(id)).state];
    expect([
      [true, 'not_cancellable', 'queued'],
      [false, 'cancelled', 'cancelled'],
    ]).toContainEqual(outcome);
    if (isClaimed) await settle(node, claim, 'accepted');
  }
  expect(await sql(`select from emails where state not in ('sent', 'cancelled')`)).toEqual([]);
});
