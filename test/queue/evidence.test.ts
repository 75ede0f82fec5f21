/** The fate of a claim whose process ended or fell silent, in each state; and what operators may do about it. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { TransportResult } from '../../src/areas/send/transport-ports.ts';
import type { Claim } from '../../src/areas/send/queue-ports.ts';
import { parseEmailsJson } from '../helpers/emails-json.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { startQueueNode, type QueueNode, type QueueNodeOptions } from '../helpers/queue-node.ts';
import { startSmtpSink, type SmtpSink } from '../helpers/smtp-sink.ts';
import { waitUntil } from '../helpers/wait-until.ts';

let database: TestDatabase;
let sink: SmtpSink;
let count = 0;
const nodes: QueueNode[] = [];

beforeAll(async () => {
  [database, sink] = await Promise.all([createTestDatabase(), startSmtpSink()]);
});

afterEach(async () => {
  for (const node of nodes.splice(0)) {
    await node.stop();
    await node.folder.remove();
  }
  await query(database.connectionString, 'truncate emails, email_threads, thread_message_ids cascade');
});

afterAll(async () => {
  await sink.stop();
  await database.drop();
});

async function start(options: Partial<QueueNodeOptions> = {}): Promise<QueueNode> {
  const node = await startQueueNode({
    database: database.connectionString,
    smtpUrl: sink.url,
    leaseMs: 300,
    ...options,
  });
  nodes.push(node);
  return node;
}

async function waitForState(node: QueueNode, id: string, state: string): Promise<void> {
  await waitUntil(`${id} is ${state}`, async () => (await node.read(id)).state === state);
}

/** One email, claimed by a node that does not work on it. With a short lease its hand-over is begun, so that the claim gets lost. */
async function claimOne(owner: QueueNode, leaseMs = 60_000, to = 'ann@example.org'): Promise<Sample> {
  const subject = `evidence-${(count += 1)}`;
  const id = await owner.enqueue({ subject, to: [to] });
  const { claims } = await owner.queue.claim({
    accountId: 'default',
    owner: owner.owner,
    limit: 1,
    leaseMs,
    afterLane: '',
    rate: { perMinute: null, perDay: null },
  });
  expect(claims.map(({ emailId }) => emailId)).toEqual([id]);
  if (leaseMs < 60_000) await owner.queue.begin(owner.owner, claims[0]!, leaseMs);
  const sent = () =>
    sink.messages.filter(({ raw }) => raw.toString('latin1').includes(`Subject: ${subject}\r\n`)).length;
  return { id, claim: claims[0]!, sent };
}

interface Sample {
  readonly id: string;
  readonly claim: Claim;
  /** Number of copies that the server has. */
  readonly sent: () => number;
}

/** The claiming process is gone, and another one has noticed that. */
async function lose(owner: QueueNode): Promise<Sample & { readonly other: QueueNode }> {
  const sample = await claimOne(owner, 1);
  const other = await start();
  await waitForState(other, sample.id, 'unknown');
  return { ...sample, other };
}

const startedAt = new Date('2026-01-01T00:00:00.000Z');
const endedAt = new Date('2026-01-01T00:00:01.000Z');

function resultOf(kind: 'accepted' | 'refused'): TransportResult {
  const accepted = kind === 'accepted';
  const reply = accepted
    ? { code: 250, enhancedStatus: '2.0.0', text: 'taken' }
    : { code: 550, enhancedStatus: '5.1.1', text: 'nobody' };
  return {
    kind,
    temporary: false,
    recipients: [{ address: 'ann@example.org', state: accepted ? 'accepted' : 'rejected', reply }],
    reply,
    detail: 'from the journal',
    relayMessageId: null,
  } as TransportResult;
}

async function journal(node: QueueNode, { claim }: Sample, kind?: 'accepted' | 'refused'): Promise<void> {
  const { emailId, claimId, attempt: number, envelope } = claim;
  const attempt = { emailId, claimId, attempt: number, envelope, startedAt, email: null };
  await node.journal.prepare(attempt, null);
  if (kind === undefined) return;
  await node.journal.settle({ ...attempt, endedAt, result: resultOf(kind) }).flush();
}

const isJournalEmpty = (node: QueueNode): boolean => [...node.journal.keys()].length === 0;

describe('a process that starts again', () => {
  it('gives back a claim that it never handed over, which then goes out', async () => {
    const node = await start({ work: false });
    const { id, sent } = await claimOne(node);
    await expect(node.cancelSend(id)).rejects.toMatchObject({ code: 'not_cancellable' });
    node.start();
    await waitForState(node, id, 'sent');
    expect(sent()).toBe(1);
    expect((await node.read(id)).attempts.map(({ number }) => number)).toEqual([1]);
  });

  it('records what the journal tells, and hands nothing over', async () => {
    const node = await start({ work: false });
    const taken = await claimOne(node);
    await journal(node, taken, 'accepted');
    const refused = await claimOne(node);
    await journal(node, refused, 'refused');
    node.start();
    await waitForState(node, taken.id, 'sent');
    await waitForState(node, refused.id, 'failed');
    expect([taken.sent(), refused.sent()]).toEqual([0, 0]);
    expect((await node.read(taken.id)).attempts).toEqual([
      expect.objectContaining({
        number: 1,
        startedAt,
        endedAt,
        outcome: 'accepted',
        detail: 'from the journal',
      }),
    ]);
    await waitUntil('the journal has forgotten', () => isJournalEmpty(node));
  });

  it('does not know about what it was handing over', async () => {
    const node = await start({ work: false });
    const sample = await claimOne(node);
    await journal(node, sample);
    node.start();
    await waitForState(node, sample.id, 'unknown');
    expect(await node.read(sample.id)).toMatchObject({
      deliveries: [{ state: 'unknown' }],
      attempts: [{ outcome: 'unknown', startedAt, endedAt: null }],
      nextAttemptAt: null,
      giveUpAt: null,
      claimLost: false,
    });
    expect(sample.sent()).toBe(0);
    expect(await query(database.connectionString, 'select 1 from send_queue')).toEqual([]);
  });
});

describe('a process that fell silent', () => {
  it('leaves its send unknown, for others to see and not to send', async () => {
    const { id, other, sent } = await lose(await start({ work: false }));
    const email = await other.read(id);
    expect(email.stateDetail).toContain('fell silent');
    expect(email).toMatchObject({
      deliveries: [{ state: 'unknown' }],
      attempts: [{ outcome: 'unknown' }],
      claimLost: true,
    });
    expect(sent()).toBe(0);
  });

  it('leaves what it had not begun to others', async () => {
    const owner = await start({ work: false });
    const id = await owner.enqueue({ subject: 'claimed ahead' });
    const request = { accountId: 'default', owner: owner.owner, limit: 1, leaseMs: 1, afterLane: '' };
    await owner.queue.claim({ ...request, rate: { perMinute: null, perDay: null } });
    const other = await start();
    await waitForState(other, id, 'sent');
    expect((await other.read(id)).attempts).toMatchObject([{ number: 1, outcome: 'accepted' }]);
  });

  it('gives back what its journal does not know', async () => {
    const owner = await start({ work: false });
    const { id, other, sent } = await lose(owner);
    owner.start();
    await waitForState(other, id, 'sent');
    expect(sent()).toBe(1);
    expect((await other.read(id)).attempts).toMatchObject([{ number: 1, outcome: 'accepted' }]);
  });

  it('records its acceptance late, over unknown', async () => {
    const owner = await start({ work: false });
    const lost = await lose(owner);
    await journal(owner, lost, 'accepted');
    owner.start();
    await waitForState(lost.other, lost.id, 'sent');
    expect(await lost.other.read(lost.id)).toMatchObject({
      stateDetail: null,
      deliveries: [{ state: 'accepted', reply: { code: 250 } }],
      attempts: [{ number: 1, outcome: 'accepted', endedAt }],
    });
    expect(lost.sent()).toBe(0);
  });

  it('records its acceptance over what an operator assumed', async () => {
    const owner = await start({ work: false });
    const lost = await lose(owner);
    expect(await lost.other.resolveSend(lost.id, 'failed')).toBe('failed');
    await journal(owner, lost, 'accepted');
    owner.start();
    await waitForState(lost.other, lost.id, 'sent');
  });

  it('does not take back what an operator knows, nor what was sent again', async () => {
    const owner = await start({ work: false });
    // Both are claimed before the other node starts, which would claim them itself.
    const repeated = await claimOne(owner, 1);
    const resolved = await lose(owner);
    expect(await resolved.other.resolveSend(resolved.id, 'sent')).toBe('sent');
    await waitForState(resolved.other, repeated.id, 'unknown');
    expect(await resolved.other.retrySend(repeated.id)).toBe('queued');
    await waitForState(resolved.other, repeated.id, 'sent');
    await journal(owner, resolved, 'refused');
    await journal(owner, repeated);
    owner.start();
    await waitUntil('the journal is empty', () => isJournalEmpty(owner));
    expect(await owner.read(resolved.id)).toMatchObject({
      state: 'sent',
      attempts: [{ number: 1, outcome: 'refused' }],
    });
    expect(await owner.read(repeated.id)).toMatchObject({
      state: 'sent',
      attempts: [
        { number: 1, outcome: 'unknown' },
        { number: 2, outcome: 'accepted' },
      ],
    });
    expect([resolved.sent(), repeated.sent()]).toEqual([0, 1]);
  });

  it('makes a retry that has not begun needless', async () => {
    const owner = await start({ work: false });
    const lost = await lose(owner);
    await lost.other.stop();
    nodes.splice(nodes.indexOf(lost.other), 1);
    expect(await owner.retrySend(lost.id)).toBe('queued');
    await journal(owner, lost, 'accepted');
    // The loop looks into the journal before it claims.
    owner.start();
    await waitForState(owner, lost.id, 'sent');
    await waitUntil('the journal is empty', () => isJournalEmpty(owner));
    expect(lost.sent()).toBe(0);
    await lost.other.folder.remove();
  });
});

describe('operators', () => {
  it('cancel what waits, or get told that it is too late', async () => {
    const node = await start({ work: false });
    const subjects = Array.from({ length: 30 }, () => `race-${(count += 1)}`);
    const ids = await Promise.all(subjects.map((subject) => node.enqueue({ subject })));
    node.start();
    const outcomes = await Promise.allSettled(ids.map((id) => node.cancelSend(id)));
    await waitUntil('the queue is empty', async () => {
      const rows = await query(database.connectionString, 'select 1 from send_queue');
      return rows.length === 0;
    });
    const seen = await Promise.all(
      outcomes.map(async (outcome, index) => {
        const subject = `Subject: ${subjects[index]}\r\n`;
        const copies = sink.messages.filter(({ raw }) => raw.toString('latin1').includes(subject)).length;
        const told = outcome.status === 'fulfilled' ? 'cancelled' : (outcome.reason as { code: string }).code;
        return `${told}: ${(await node.read(ids[index]!)).state}, ${copies} copies`;
      }),
    );
    const possible = new Set(['cancelled: cancelled, 0 copies', 'not_cancellable: sent, 1 copies']);
    expect(seen.filter((text) => !possible.has(text))).toEqual([]);
  });

  it('send a cancelled or failed email again, once, when several want it', async () => {
    const node = await start({ work: false });
    const subject = `again-${(count += 1)}`;
    const id = await node.enqueue({ subject });
    await node.cancelSend(id);
    const retries = await Promise.allSettled([1, 2, 3].map(() => node.retrySend(id)));
    expect(retries.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
    node.start();
    await waitForState(node, id, 'sent');
    await expect(node.retrySend(id)).rejects.toMatchObject({ code: 'not_retryable' });
    await expect(node.cancelSend(id)).rejects.toMatchObject({ code: 'not_cancellable' });
    await expect(node.resolveSend(id, 'sent')).rejects.toMatchObject({ code: 'not_unknown' });
    const copies = sink.messages.filter(({ raw }) =>
      raw.toString('latin1').includes(`Subject: ${subject}\r\n`),
    );
    expect(copies).toHaveLength(1);
  });

  it('decide about an unknown send once', async () => {
    const node = await start({ work: false });
    const sample = await claimOne(node);
    await journal(node, sample);
    node.start();
    await waitForState(node, sample.id, 'unknown');
    const decisions = await Promise.allSettled([
      node.resolveSend(sample.id, 'sent'),
      node.resolveSend(sample.id, 'failed'),
      node.resolveSend(sample.id, 'sent'),
    ]);
    expect(decisions.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(sample.sent()).toBe(0);
  });

  it('send again what failed in a synchronous send', async () => {
    let broken = true;
    const node = await start({
      wrap: (transport) => ({
        ...transport,
        send: (...args) => (broken ? Promise.resolve(resultOf('refused')) : transport.send(...args)),
      }),
    });
    const subject = `sync-${(count += 1)}`;
    await expect(node.send({ subject })).rejects.toMatchObject({ code: 'send_failed' });
    const { emails } = await node.listEmails({
      q: null,
      defect: null,
      tag: null,
      state: 'failed',
      accountId: null,
      limit: 10,
      cursor: null,
    });
    const [{ id } = { id: '' }] = await parseEmailsJson(emails);
    broken = false;
    expect(await node.retrySend(id)).toBe('queued');
    await waitForState(node, id, 'sent');
    expect((await node.read(id)).attempts.map(({ number, outcome }) => [number, outcome])).toEqual([
      [1, 'refused'],
      [2, 'accepted'],
    ]);
  });

  it.each(['cancelSend', 'retrySend', 'resolveSend'] as const)('%s knows no such email', async (name) => {
    const node = await start({ work: false });
    const id = '0190b2a0-0000-7000-8000-000000000009';
    await expect(node[name](id, 'sent')).rejects.toMatchObject({ code: 'email_not_found' });
  });
});

describe('the end of a process', () => {
  it('waits for what is under way, and gives back what had not begun', async () => {
    let begun = 0;
    let finish = () => {};
    const gate = new Promise<void>((resolve) => (finish = resolve));
    const node = await start({
      slots: 2,
      wrap: (transport) => ({
        ...transport,
        send: (envelope, raw, beforeFirstByte) =>
          transport.send(envelope, raw, async () => {
            await beforeFirstByte?.();
            begun += 1;
            await gate;
          }),
      }),
    });
    const ids = await Promise.all([1, 2, 3, 4].map(() => node.enqueue()));
    await waitUntil('two are under way', () => begun === 2);
    const stopped = node.stop();
    finish();
    await stopped;
    nodes.pop();
    const successor = await start({ work: false, successorOf: node });
    const states = await Promise.all(ids.map(async (id) => (await successor.read(id)).state));
    expect(states.sort()).toEqual(['queued', 'queued', 'sent', 'sent']);
    expect(await successor.queue.claimsOf(node.owner)).toEqual([]);
  });
});
