/** Outcomes of queued sends that become known at the same moment. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { EndedAttempt } from '../../src/areas/send/journal-ports.ts';
import type { Claim } from '../../src/areas/send/queue-ports.ts';
import { conclude } from '../../src/core/delivery/conclude.ts';
import type { DeliveryState } from '../../src/core/delivery/states.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { startQueueNode, type QueueNode } from '../helpers/queue-node.ts';
import { waitUntil } from '../helpers/wait-until.ts';

let database: TestDatabase;
let node: QueueNode;

beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  node = await startQueueNode({
    database: database.connectionString,
    smtpUrl: 'smtp://127.0.0.1:1',
    work: false,
  });
});
afterEach(async () => {
  await node.stop();
  await node.folder.remove();
});
afterAll(() => database.drop());

async function claimAll(limit: number, leaseMs = 60_000): Promise<readonly Claim[]> {
  const request = { accountId: 'default', owner: node.owner, leaseMs, limit, afterLane: '' };
  const { claims } = await node.queue.claim({ ...request, rate: { perMinute: null, perDay: null } });
  return claims;
}

function endOf(claim: Claim, states: readonly DeliveryState[]): EndedAttempt {
  const { emailId, claimId, attempt, envelope } = claim;
  const accepted = states.includes('accepted');
  return {
    emailId,
    claimId,
    attempt,
    envelope,
    email: null,
    startedAt: new Date('2026-01-01T00:00:00.000Z'),
    endedAt: new Date('2026-01-01T00:00:01.000Z'),
    result: {
      kind: accepted ? 'accepted' : 'refused',
      temporary: states.includes('deferred'),
      recipients: states.map((state, index) => ({
        address: envelope.rcptTo[index]!,
        state,
        reply: { code: state === 'accepted' ? 250 : 450, enhancedStatus: null, text: state },
      })),
      reply: null,
      detail: 'as it is',
      relayMessageId: null,
    } as EndedAttempt['result'],
  };
}

const settle = (ended: EndedAttempt) =>
  node.queue.settle(node.owner, ended, ({ states }) => conclude(states, ended.result.detail, 60_000));

const enqueue = (count: number, to: string[] = ['ann@example.org']) =>
  Promise.all(Array.from({ length: count }, () => node.enqueue({ to })));

it('are stored by two statements, each with its attempt', async () => {
  const ids = await enqueue(60);
  const claims = await claimAll(60);
  await Promise.all(claims.map((claim) => settle(endOf(claim, ['accepted']))));
  const rows = await query(
    database.connectionString,
    `select e.id, e.state, d.state as recipient, d.reply_text, a.outcome, a.detail, a.xmin::text as commit
    from emails e join email_deliveries d on d.email_id = e.id join delivery_attempts a on a.email_id = e.id`,
  );
  const stored = {
    state: 'sent',
    recipient: 'accepted',
    reply_text: 'accepted',
    outcome: 'accepted',
    detail: 'as it is',
  };
  expect(new Set(rows.map(({ id }) => id))).toEqual(new Set(ids));
  for (const row of rows) expect(row).toMatchObject(stored);
  expect(new Set(rows.map(({ commit }) => commit)).size).toBeLessThanOrEqual(2);
  expect(await query(database.connectionString, 'select from send_queue')).toEqual([]);
});

it('do not hide one that another process has taken for lost, nor a recipient that is left', async () => {
  const [lostId, partId, openId, goodId] = [
    await node.enqueue({ lane: 'a' }),
    await node.enqueue({ lane: 'b', to: ['ann@example.org', 'bob@example.org'] }),
    await node.enqueue({ lane: 'c', to: ['ann@example.org', 'bob@example.org'] }),
    await node.enqueue({ lane: 'd' }),
  ];
  const claims = new Map((await claimAll(4)).map((claim) => [claim.emailId, claim]));
  const ofEmail = (id: string) => claims.get(id)!;
  // An operator decided about the email, and it waits for another attempt.
  await node.queue.begin(node.owner, ofEmail(lostId), 1);
  await waitUntil(
    'its lease is over',
    async () => (await node.queue.expire('00000000-0000-4000-8000-00000000000f')).length > 0,
  );
  await node.retrySend(lostId);
  const open = ofEmail(openId);
  const first = { ...open, envelope: { ...open.envelope, rcptTo: ['ann@example.org'] } };
  await Promise.all([
    settle(endOf(ofEmail(goodId), ['accepted'])),
    settle(endOf(ofEmail(lostId), ['accepted'])),
    settle(endOf(ofEmail(partId), ['accepted', 'deferred'])),
    settle(endOf(first, ['accepted'])),
  ]);
  expect(await node.read(goodId)).toMatchObject({ state: 'sent' });
  // The late acceptance leaves no recipient for the attempt that the operator asked for.
  expect(await node.read(lostId)).toMatchObject({ state: 'sent', deliveries: [{ state: 'accepted' }] });
  expect(await node.read(partId)).toMatchObject({
    state: 'deferred',
    deliveries: [{ state: 'accepted' }, { state: 'deferred' }],
  });
  expect(await node.read(openId)).toMatchObject({
    state: 'deferred',
    deliveries: [{ state: 'accepted' }, { state: 'pending' }],
  });
});
