/** A sent email, its copies and the answers to it become one record in one thread, in whatever order they arrive. */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { alwaysCertain } from '../helpers/always-certain.ts';
import { createMessageStore, type MessageStore } from '../helpers/mail-stores.ts';
import { createSendQueue } from '../../src/areas/send/send-queue-store.ts';
import type { OutboundRecord } from '../../src/areas/send/outbound-ports.ts';
import type { EndedAttempt } from '../../src/areas/send/journal-ports.ts';
import type { SendQueue } from '../../src/areas/send/queue-ports.ts';
import type { MessageId } from '../../src/core/message/message-id.ts';
import { mail, newId, receive } from '../helpers/inbound-mail.ts';
import { outboundRecord } from '../helpers/outbound-record.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { createTestPool } from '../helpers/test-pool.ts';
import { runs } from '../helpers/runs.ts';

let database: TestDatabase;
let services: readonly ServiceProcess[];
let pool: pg.Pool;
let store: MessageStore;
let queue: SendQueue;

beforeAll(async () => {
  database = await createTestDatabase();
  const env = { DATABASE_URL: database.connectionString, MAIL_FROM: 'sales@example.com' };
  services = [await startServiceProcess({ env }), await startServiceProcess({ env })];
  pool = createTestPool(database);
  store = createMessageStore(pool);
  queue = createSendQueue(pool, alwaysCertain);
});
afterAll(async () => {
  await Promise.all(services.map(disposeService));
  await pool.end();
  await database.drop();
});

const EVENTS = ['record', 'sent copy', 'inbox copy', 'answer', 'answer to the relay', 'repeat'] as const;
type Event = (typeof EVENTS)[number];

const scenario = fc.record({
  /** The relay's treatment of the Message-ID. */
  relay: fc.constantFrom('kept it', 'told its own', 'told the queue', 'replaced it'),
  answersSomething: fc.boolean(),
  order: fc.shuffledSubarray([...EVENTS], { minLength: EVENTS.length }),
  atOnce: fc.boolean(),
});

type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never;

const bare = (messageId: string) => messageId.slice(1, -1) as MessageId;

/** An attempt of the queue in which the relay reported its Message-ID. */
async function settle({ id }: OutboundRecord, relayMessageId: MessageId): Promise<void> {
  const at = new Date('2026-03-01T12:00:01Z');
  const reply = { code: 250, enhancedStatus: '2.0.0', text: 'ok' };
  const ended: EndedAttempt = {
    emailId: id,
    claimId: randomUUID(),
    attempt: 1,
    envelope: { mailFrom: null, rcptTo: ['ada@example.org'] },
    email: null,
    startedAt: at,
    endedAt: at,
    result: {
      kind: 'accepted',
      recipients: [{ address: 'ada@example.org', state: 'accepted', reply }],
      reply,
      detail: 'ok',
      relayMessageId,
    },
  };
  await queue.settle(randomUUID(), ended, () => ({ state: 'sent', detail: null, dueInMs: null }));
}

interface Result {
  /** The answers about the email itself, and about the answers to it. */
  readonly emails: readonly { readonly id: string; readonly threadId: string }[];
  readonly answers: readonly { readonly id: string; readonly threadId: string }[];
}

async function play({ relay, answersSomething, order, atOnce }: Scenario): Promise<Result> {
  const [own, other, question] = [newId(), newId(), newId()];
  const shown = relay === 'kept it' ? own : other;
  const subject = `Angebot ${randomUUID()}`;
  const record: OutboundRecord = outboundRecord({
    messageId: bare(own),
    relayMessageId: relay === 'told its own' ? bare(other) : null,
    subject,
    ...(answersSomething
      ? {
          inReplyTo: [bare(question)],
          references: [bare(question)],
          placement: { rule: 'in_reply_to', matchedMessageId: bare(question) },
        }
      : {}),
  });
  const raw = mail({
    messageId: shown,
    from: 'sales@example.com',
    to: 'ada@example.org',
    date: 'Sun, 01 Mar 2026 13:00:00 +0100',
    subject,
    ...(answersSomething ? { inReplyTo: question, references: [question] } : {}),
  });
  const emails: { id: string; threadId: string }[] = [];
  const answers: { id: string; threadId: string }[] = [];
  const answer = async (service: ServiceProcess, to: string) => {
    answers.push(await receive(service, mail({ from: 'ada@example.org', inReplyTo: to, references: [to] })));
  };
  const give = async (event: Event, turn: number) => {
    const service = services[turn % 2]!;
    switch (event) {
      case 'record':
      case 'repeat':
        await store.recordOutbound(record);
        if (relay === 'told the queue') await settle(record, bare(other));
        emails.push({ id: record.id, threadId: record.threadId });
        break;
      case 'sent copy':
        emails.push(await receive(service, raw, '?sent=true'));
        break;
      case 'inbox copy':
        emails.push(await receive(service, `Received: from relay\r\n${raw}`));
        break;
      case 'answer':
        await answer(service, own);
        break;
      case 'answer to the relay':
        await answer(service, shown);
    }
  };
  if (atOnce) await Promise.all(order.map(give));
  else for (const [turn, event] of order.entries()) await give(event, turn);
  return { emails, answers };
}

async function threadOf(threadId: string): Promise<readonly { id: string; direction: string }[]> {
  const response = await services[0]!.request(`/api/thread/${threadId}`);
  expect(response.status).toBe(200);
  return ((await response.json()) as { emails: { id: string; direction: string }[] }).emails;
}

it('told the queue after an answer and a copy came: they are one thread and one email, by both identifiers', async () => {
  const [own, other] = [newId(), newId()];
  const record = outboundRecord({ messageId: bare(own), subject: `Angebot ${randomUUID()}` });
  await store.recordOutbound(record);
  const answer = await receive(services[0]!, mail({ from: 'ada@example.org', inReplyTo: other }));
  const copy = await receive(
    services[0]!,
    mail({
      messageId: other,
      from: 'sales@example.com',
      date: 'Sun, 01 Mar 2026 13:00:00 +0100',
      subject: record.subject,
    }),
  );
  expect(copy).toMatchObject({ status: 'received', threadId: answer.threadId });
  for (let repeat = 0; repeat < 2; repeat += 1) await settle(record, bare(other));
  for (const { threadId } of [record, answer]) {
    expect((await threadOf(threadId)).map(({ id }) => id).sort()).toEqual([record.id, answer.id].sort());
  }
  for (const id of [record.id, copy.id]) {
    const response = await services[1]!.request(`/api/emails/${id}`);
    expect(await response.json()).toMatchObject({ id: record.id, relay_message_id: other });
  }
  // Another attempt, another relay: the first Message-ID stays the one shown, and answers to the second come here too.
  const [second, own2] = [newId(), bare(own)];
  await settle(record, own2);
  await settle(record, bare(second));
  const late = await receive(services[1]!, mail({ from: 'ada@example.org', inReplyTo: second }));
  expect((await threadOf(late.threadId)).map(({ id }) => id)).toContain(record.id);
  expect(await store.readEmail(record.id)).toMatchObject({ relayMessageId: bare(other) });
});

it('are one record in one thread, whichever comes first', async () => {
  const property = fc.asyncProperty(scenario, async (order) => {
    const { emails, answers } = await play(order);
    const given = [...emails, ...answers];
    const threads = await Promise.all(given.map(({ threadId }) => threadOf(threadId)));
    for (const thread of threads) {
      expect(thread).toHaveLength(3);
      expect(thread.filter(({ direction }) => direction === 'outbound')).toHaveLength(1);
    }
    const sent = threads[0]!.find(({ direction }) => direction === 'outbound')!;
    for (const { id } of emails) {
      const response = await services[1]!.request(`/api/emails/${id}`);
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({ id: sent.id, state: 'sent' });
    }
  });
  await fc.assert(property, { numRuns: runs(30), endOnFailure: true });
});
