/** Who wrote a received email, and what follows: a done thread opens, an answer is awaited, a clerk is never stopped. */
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { backgroundWorkIsDone } from '../helpers/background-work.ts';
import { mail, receive, type MailFields } from '../helpers/inbound-mail.ts';
import { query } from '../helpers/query.ts';
import { getJson, sendJson, startServiceWithSink, type SentResult } from '../helpers/running-service.ts';

const MAX_EMAILS = 3;

let running: Awaited<ReturnType<typeof startServiceWithSink>>;
beforeAll(async () => {
  running = await startServiceWithSink({
    LOOP_MAX_EMAILS: String(MAX_EMAILS),
    LMTP_LISTEN: '127.0.0.1:0',
  });
});
afterAll(() => running.end());

interface PageJson {
  readonly thread: { readonly status: string; readonly unanswered: boolean };
  readonly emails: readonly { readonly id: string; readonly written_by: string | null }[];
}
const page = (threadId: string) => getJson<PageJson>(running.service, `/api/threads/${threadId}`);
const emailOf = (id: string) =>
  getJson<{ written_by: string | null; automatic: { kind: string } | null }>(
    running.service,
    `/api/emails/${id}`,
  );
const finish = async (threadId: string) => {
  const json = { status: 'done' };
  const response = await running.service.request(`/api/threads/${threadId}`, { method: 'PATCH', json });
  expect(response.status).toBe(200);
};
let people = 0;
/** An address that no other email has. */
const newAddress = () => `person${(people += 1)}@writers.test`;
const later = () => new Date(Date.now() + 60_000).toUTCString();

/** A send to a new address, in a thread that is done, and the answer to it. */
async function answered(
  fields: MailFields,
): Promise<SentResult & { readonly answer: string; readonly to: string }> {
  const to = newAddress();
  const sent = await sendJson(running.service, { to, subject: 'Angebot 4711', text_body: 'Hallo' });
  await finish(sent.threadId);
  const raw = mail({
    from: to,
    subject: 'Re: Angebot 4711',
    inReplyTo: sent.messageId,
    date: later(),
    ...fields,
  });
  const { id: answer, threadId } = await receive(running.service, raw);
  expect(threadId).toBe(sent.threadId);
  return { ...sent, answer, to };
}

const GOOGLE_GROUP = [
  'Precedence: list',
  'Mailing-list: list sales@example.com; contact sales+owners@example.com',
  'List-ID: <sales.example.com>',
  'List-Post: <mailto:sales@example.com>',
  'List-Unsubscribe: <mailto:googlegroups-manage+1+unsubscribe@googlegroups.test>',
];

describe('the answer of a person opens a done thread and waits for an answer', () => {
  it.each([
    ['from Fastmail', { headers: ['Feedback-ID: i56a14606:Fastmail'] }, 'person'],
    ['from Exchange', { headers: ['X-Auto-Response-Suppress: DR, OOF, AutoReply'] }, 'person'],
    ['through a Google Group', { headers: GOOGLE_GROUP }, 'person'],
    ['of a ticket system', { headers: ['Precedence: bulk'] }, 'person'],
    ['with a link to leave a list', { headers: ['List-Unsubscribe: <https://x.test>'] }, 'person'],
    ['about a car', { subject: 'Auto: VW Golf Angebot' }, 'unsure'],
    ['about an absence', { subject: 'Abwesend vom 1. bis 5. Mai, bitte Lieferung verschieben' }, 'unsure'],
    ['about a sensor', { subject: 'Automatic reply sensor broken' }, 'unsure'],
  ] as const)('%s', async (_, fields, writer) => {
    const { threadId, answer, to } = await answered(fields);
    const { thread, emails } = await page(threadId);
    expect(thread).toMatchObject({ status: 'open', unanswered: true });
    expect(emails.map((email) => [email.id, email.written_by])).toContainEqual([answer, writer]);
    expect(await emailOf(answer)).toMatchObject({ written_by: writer });
    // As many answers as a clerk likes.
    for (let count = 0; count <= MAX_EMAILS; count += 1)
      await sendJson(running.service, {
        to,
        subject: 'Re: Angebot 4711',
        text_body: 'Ja',
        thread_id: threadId,
      });
    expect((await page(threadId)).emails.filter(({ written_by: by }) => by === null)).toHaveLength(
      MAX_EMAILS + 2,
    );
  });
});

describe('the answer of a machine leaves a done thread done', () => {
  it.each([
    ['that declares itself', { headers: ['Auto-Submitted: auto-replied'] }],
    ['that repeats our subject', { subject: 'Automatic reply: Angebot 4711' }],
    ['with the null sender', { headers: ['Return-Path: <>'] }],
  ] as const)('%s', async (_, fields) => {
    const { threadId, answer, to } = await answered(fields);
    expect((await page(threadId)).thread).toMatchObject({ status: 'done', unanswered: false });
    expect(await emailOf(answer)).toMatchObject({ written_by: 'machine', automatic: { kind: 'auto_reply' } });
    const statuses: number[] = [];
    for (let count = 0; count <= MAX_EMAILS; count += 1) {
      const json = {
        to,
        subject: 'Re: Angebot 4711',
        text_body: 'Ja',
        in_reply_to: (await getJson<{ message_id: string }>(running.service, `/api/emails/${answer}`))
          .message_id,
      };
      statuses.push((await running.service.request('/api/send', { json })).status);
    }
    expect(statuses).toEqual([200, 200, 200, 429]);
  });
});

const NEWSLETTER = {
  subject: 'Unsere Angebote',
  headers: ['List-Unsubscribe: <https://x.test>', 'Precedence: bulk'],
};

it('a newsletter is no work unless its sender is a customer or an address that we wrote to', async () => {
  const news = async (from: string) =>
    await receive(running.service, mail({ ...NEWSLETTER, from, date: later() }));
  const stranger = await news(newAddress());
  expect((await page(stranger.threadId)).thread).toMatchObject({ unanswered: false });
  expect(await emailOf(stranger.id)).toMatchObject({ written_by: 'machine' });

  const partner = newAddress();
  await sendJson(running.service, { to: partner, subject: 'Hallo', text_body: 'Hallo' });
  await backgroundWorkIsDone(running.database.connectionString);
  expect(await emailOf((await news(partner)).id)).toMatchObject({ written_by: 'person' });

  const customer = newAddress();
  const response = await running.service.request(
    '/api/customer/6f1c2a9e-3b47-4d58-8e0a-5c7d9b1f2e34/addresses',
    {
      method: 'PUT',
      json: { addresses: [customer], domains: [] },
    },
  );
  expect(response.status).toBe(200);
  const known = await news(customer);
  expect(await emailOf(known.id)).toMatchObject({ written_by: 'person' });
  expect((await page(known.threadId)).thread).toMatchObject({ unanswered: true });
});

it('an answer to an email of ours that is recorded later is shown', async () => {
  const { id, threadId } = await receive(
    running.service,
    mail({ from: newAddress(), inReplyTo: '<not-recorded-yet@example.com>', headers: GOOGLE_GROUP }),
  );
  expect(await emailOf(id)).toMatchObject({ written_by: 'unsure' });
  expect((await page(threadId)).thread).toMatchObject({ unanswered: true });
});

it('the same email is judged alike by HTTP and LMTP, and its event has the judgement', async () => {
  const port = () => {
    const line = running.service.log.find((one) => one.includes('"protocol":"lmtp","address"'));
    return Number(/"address":"127\.0\.0\.1:(\d+)"/.exec(line ?? '')?.[1]);
  };
  const { threadId, to, messageId } = await answered({ headers: GOOGLE_GROUP });
  await finish(threadId);
  const raw = mail({
    from: to,
    subject: 'Nachtrag',
    inReplyTo: messageId,
    date: later(),
    headers: GOOGLE_GROUP,
  });
  const transport = createTransport({ host: '127.0.0.1', port: port(), lmtp: true, ignoreTLS: true });
  await transport.sendMail({ envelope: { from: to, to: ['sales@example.com'] }, raw });
  expect((await page(threadId)).thread).toMatchObject({ status: 'open', unanswered: true });
  await backgroundWorkIsDone(running.database.connectionString);
  const events = await query(
    running.database.connectionString,
    `select data::json ->> 'written_by' as writer from events where thread_id = $1 and type = 'email.received'`,
    [threadId],
  );
  expect(events).toEqual([{ writer: 'person' }, { writer: 'person' }]);
});
