/** Strangers whose mail has or names one identifier get threads of their own, in any order; people who write to each other stay together. */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dryRethread } from '../helpers/dry-rethread.ts';
import { mail, newId, receive, type MailFields, type Received } from '../helpers/inbound-mail.ts';
import { startServiceWithSink } from '../helpers/running-service.ts';
import type { ServiceProcess } from '../helpers/service-process.ts';
import { createTestPool } from '../helpers/test-pool.ts';

let service: ServiceProcess;
let pool: pg.Pool;
let end: () => Promise<void>;

beforeAll(async () => {
  const running = await startServiceWithSink();
  ({ service } = running);
  pool = createTestPool(running.database);
  end = async () => {
    await pool.end();
    await running.end();
  };
});
afterAll(() => end());

/** Receives them one after the other, in an order of their own; the results are in the order of the mails. */
async function receiveAll(mails: readonly MailFields[], order: Order): Promise<readonly Received[]> {
  const raws = mails.map((fields) => mail(fields));
  if (order === 'at once') return Promise.all(raws.map((raw) => receive(service, raw)));
  const results = new Map<number, Received>();
  const indexes = [...raws.keys()];
  for (const index of order === 'backwards' ? indexes.toReversed() : indexes)
    results.set(index, await receive(service, raws[index]!));
  return indexes.map((index) => results.get(index)!);
}

type Order = (typeof ORDERS)[number];
const ORDERS = ['forwards', 'backwards', 'at once'] as const;

/** The number of the first email in the same thread, for each. */
async function threadsOf(emails: readonly Received[]): Promise<readonly number[]> {
  const { rows } = await pool.query<{ id: string; thread_id: string }>(
    'select id, thread_id from emails where id = any ($1::uuid[])',
    [emails.map(({ id }) => id)],
  );
  const threads = emails.map(({ id }) => rows.find((row) => row.id === id)?.thread_id);
  expect(await dryRethread(pool)).toEqual([]);
  return threads.map((thread) => threads.indexOf(thread));
}

/** Different in each test. */
const named = (local: string, host = 'shop.example') => `<${local}@${randomUUID()}.${host}>`;

/** Mails of five strangers, the first of whom writes twice. */
const fromStrangers = (fields: (index: number) => MailFields): readonly MailFields[] => {
  const test = randomUUID();
  return [0, 1, 2, 3, 4, 0].map((person, index) => ({
    from: `p${person}@${test}.test`,
    subject: 'Kontaktanfrage',
    date: `Sun, 01 Mar 2026 12:00:0${index} +0100`,
    body: `Text ${index}`,
    ...fields(index),
  }));
};
const APART = [0, 1, 2, 3, 4, 0];

describe.each(ORDERS)('strangers stay apart, %s,', (order) => {
  it.each([
    ['a form that names its own address', 'contact'],
    ['a template with a long number', '0123456789.20260301.template-4711-abcdef'],
  ])('who all answer the same unknown email: %s', async (_, local) => {
    const inReplyTo = named(local);
    const emails = await receiveAll(
      fromStrangers(() => ({ inReplyTo })),
      order,
    );
    expect(await threadsOf(emails)).toEqual(APART);
  });

  it('whose References name the same unknown email', async () => {
    const references = [named('ticket-template', 'crm.example'), named('order', 'crm.example')];
    const emails = await receiveAll(
      fromStrangers(() => ({ references })),
      order,
    );
    expect(await threadsOf(emails)).toEqual(APART);
  });

  it('whose mail comes from the address of a form, with the person in Reply-To', async () => {
    const inReplyTo = named('contact');
    const emails = await receiveAll(
      fromStrangers(() => ({ inReplyTo })).map(({ from = '', ...fields }) => ({
        ...fields,
        from: 'Shop <form@shop.example>',
        headers: [`Reply-To: ${from}`],
      })),
      order,
    );
    expect(await threadsOf(emails)).toEqual(APART);
  });

  it('who all have the Message-ID that a program reuses', async () => {
    const messageId = named('test');
    const emails = await receiveAll(
      fromStrangers(() => ({ messageId })),
      order,
    );
    expect(await threadsOf(emails)).toEqual(APART);
  });

  it('who answer the Message-ID that the mail of one of them has', async () => {
    const own = named('test');
    const emails = await receiveAll(
      fromStrangers((index) => (index === 2 ? { messageId: own } : { inReplyTo: own })),
      order,
    );
    expect(await threadsOf(emails)).toEqual(APART);
  });

  it('whom a colleague answers by another program, with all names that came', async () => {
    const inReplyTo = named('contact');
    const strangers = fromStrangers(() => ({ inReplyTo, headers: ['Cc: boss@example.com'] })).slice(0, 3);
    const ids = strangers.map(newId);
    const emails = await receiveAll(
      [
        ...strangers.map((fields, index) => ({ ...fields, messageId: ids[index]! })),
        ...strangers.map(({ from = '' }, index) => ({
          from: 'boss@example.com',
          to: from,
          headers: ['Cc: sales@example.com'],
          inReplyTo: ids[index]!,
          references: [inReplyTo, ids[index]!],
        })),
      ],
      order,
    );
    expect(await threadsOf(emails)).toEqual([0, 1, 2, 0, 1, 2]);
  });
});

describe.each(ORDERS)('people who write to each other stay together, %s,', (order) => {
  const conversation = () => {
    const test = randomUUID();
    const [ann, bob] = [`ann@${test}.test`, `bob@${test}.test`];
    return { ann, bob, parent: newId() };
  };

  it('a colleague and a customer who answer an email that never came here', async () => {
    const { ann, parent } = conversation();
    const emails = await receiveAll(
      [
        { from: 'boss@example.com', to: ann, headers: ['Cc: sales@example.com'], inReplyTo: parent },
        { from: ann, to: 'boss@example.com', headers: ['Cc: sales@example.com'], inReplyTo: parent },
      ],
      order,
    );
    expect(await threadsOf(emails)).toEqual([0, 0]);
  });

  it('two people outside, each of whom has the other among the recipients, and one of them again', async () => {
    const { ann, bob, parent } = conversation();
    const emails = await receiveAll(
      [
        { from: ann, to: bob, headers: ['Cc: sales@example.com, cy@c.test'], inReplyTo: parent },
        { from: bob, to: ann, headers: ['Cc: sales@example.com'], references: [newId(), parent] },
        { from: ann, inReplyTo: parent, subject: 'PS' },
      ],
      order,
    );
    expect(await threadsOf(emails)).toEqual([0, 0, 0]);
  });

  it('all who answer one email, once it comes', async () => {
    const { parent } = conversation();
    const emails = await receiveAll(
      [...fromStrangers(() => ({ inReplyTo: parent })), { messageId: parent }],
      order,
    );
    expect(await threadsOf(emails)).toEqual([0, 0, 0, 0, 0, 0, 0]);
  });

  it('all who answer an email of ours', async () => {
    const response = await service.request('/api/send', {
      json: { to: 'list@people.test', subject: 'Angebot', text_body: 'a' },
    });
    const sent = (await response.json()) as Received;
    const emails = await receiveAll(
      fromStrangers(() => ({ inReplyTo: sent.messageId })),
      order,
    );
    expect(await threadsOf([sent, ...emails])).toEqual([0, 0, 0, 0, 0, 0, 0]);
  });
});

it('an answer of ours goes to the thread of the email that it answers, though others have its Message-ID', async () => {
  const messageId = named('test');
  const strangers = fromStrangers(() => ({ messageId })).slice(0, 3);
  const emails = await receiveAll(strangers, 'forwards');
  const answers: Received[] = [];
  for (const { threadId } of emails) {
    const json = { thread_id: threadId, subject: 'Re', text_body: 'a', to: `${randomUUID()}@people.test` };
    answers.push((await (await service.request('/api/send', { json })).json()) as Received);
  }
  expect(await threadsOf([...emails, ...answers])).toEqual([0, 1, 2, 0, 1, 2]);
  const back = await receiveAll(
    answers.map((answer, index) => ({
      from: strangers[index]!.from!,
      inReplyTo: answer.messageId,
      references: [messageId, answer.messageId],
    })),
    'forwards',
  );
  expect(await threadsOf([...emails, ...back])).toEqual([0, 1, 2, 0, 1, 2]);
});

it('after one of them is deleted, others still meet where it did, and strangers do not', async () => {
  const test = randomUUID();
  const [ann, bob, parent] = [`ann@${test}.test`, `bob@${test}.test`, newId()];
  const [first, second, stranger] = await receiveAll(
    [
      { from: ann, to: bob, inReplyTo: parent },
      { from: bob, to: ann, inReplyTo: parent },
      { from: `cy@${test}.test`, inReplyTo: parent },
    ],
    'forwards',
  );
  for (const { id } of [first!, stranger!]) {
    const deleted = await service.request(`/api/emails/${id}`, { method: 'DELETE' });
    expect(deleted.status).toBeLessThan(300);
  }
  const later = await receiveAll(
    [
      { from: ann, inReplyTo: parent },
      { from: `cy@${test}.test`, inReplyTo: parent },
      { from: `dan@${test}.test`, inReplyTo: parent },
    ],
    'forwards',
  );
  expect(await threadsOf([second!, ...later])).toEqual([0, 0, 2, 3]);
  const [found] = await receiveAll([{ messageId: parent }], 'forwards');
  expect(await threadsOf([second!, ...later, found!])).toEqual([0, 0, 0, 0, 0]);
});

it('an email that comes after all who named it are deleted is with those that they were with, beside what was split off', async () => {
  const [first, off, parent] = [newId(), newId(), newId()];
  const emails = await receiveAll(
    [{ messageId: first }, { messageId: off, inReplyTo: first }, { references: [parent, first] }],
    'forwards',
  );
  const split = await service.request(`/api/thread/${emails[0]!.threadId}/split`, {
    json: { email_ids: [emails[1]!.id] },
  });
  expect(split.status).toBeLessThan(300);
  const deleted = await service.request(`/api/emails/${emails[2]!.id}`, { method: 'DELETE' });
  expect(deleted.status).toBeLessThan(300);
  const [found] = await receiveAll([{ messageId: parent }], 'forwards');
  expect(await threadsOf([emails[0]!, emails[1]!, found!])).toEqual([0, 1, 0]);
});

it('why an email is where it is names the Message-ID that it shares with others', async () => {
  const [parent, from] = [newId(), `${randomUUID()}@people.test`];
  const [first, second] = await receiveAll(
    [
      { from, inReplyTo: parent },
      { from, inReplyTo: parent },
    ],
    'forwards',
  );
  const response = await service.request(`/api/emails/${second!.id}/placement`);
  expect(await response.json()).toMatchObject({
    thread_id: first!.threadId,
    rule: 'in_reply_to',
    matched_message_id: parent,
  });
});
