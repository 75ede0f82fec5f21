/** Sends that did not arrive are work until a person deals with them; what programs send is none. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deliveryReport } from '../helpers/bounce-mail.ts';
import { mail, receive } from '../helpers/inbound-mail.ts';
import { query } from '../helpers/query.ts';
import { getJson, sendJson, startServiceWithSink } from '../helpers/running-service.ts';
import { TEST_SECRET } from '../helpers/service-process.ts';

let running: Awaited<ReturnType<typeof startServiceWithSink>>;
let session: Readonly<Record<string, string>>;
beforeAll(async () => {
  running = await startServiceWithSink();
  const page = { 'x-requested-with': 'email-worker', 'sec-fetch-site': 'same-origin' };
  const opened = await running.service.request('/api/session', {
    json: { secret: TEST_SECRET },
    headers: page,
  });
  session = { ...page, cookie: (opened.headers.get('set-cookie') ?? '').split(';')[0] ?? '' };
});
afterAll(() => running.end());

interface RecordJson {
  readonly status: string;
  readonly undelivered: number;
  readonly unanswered: boolean;
  readonly email_count: number;
}
interface PageJson {
  readonly thread: RecordJson;
  readonly emails: readonly { readonly id: string; readonly undelivered: string | null }[];
}
const page = (threadId: string) => getJson<PageJson>(running.service, `/api/threads/${threadId}`);
const recordOf = async (threadId: string) => (await page(threadId)).thread;
const listed = async (search: string) =>
  (
    await getJson<{ threads: readonly { readonly id: string }[] }>(
      running.service,
      `/api/threads?limit=200&${search}`,
    )
  ).threads.map(({ id }) => id);
const change = async (threadId: string, json: object) =>
  (await running.service.request(`/api/threads/${threadId}`, { method: 'PATCH', json })).status;

let people = 0;
const someone = (domain = 'work.test') => `person${(people += 1)}@${domain}`;
const letter = (to: string, fields: object = {}) => ({
  to,
  subject: 'Angebot',
  text_body: 'Hallo',
  ...fields,
});
/** As a person sends it in the page. */
const sendByPerson = async (json: object) => {
  const response = await fetch(`${running.service.url}/api/send`, {
    method: 'POST',
    headers: { ...session, 'content-type': 'application/json' },
    body: JSON.stringify(json),
  });
  expect(response.status).toBe(200);
  return (await response.json()) as { readonly id: string; readonly threadId: string };
};
const lastSend = async (to: string) => {
  const [row] = await query(
    running.database.connectionString,
    `select id, thread_id, message_id from emails where to_addresses @> jsonb_build_array(jsonb_build_object('address', $1::text))
    order by created_at desc limit 1`,
    [to],
  );
  return { id: String(row?.id), threadId: String(row?.thread_id), messageId: `<${String(row?.message_id)}>` };
};

describe('a thread that begins with a send', () => {
  it('of a program is done, and opens when a person answers', async () => {
    const to = someone();
    const sent = await sendJson(running.service, letter(to));
    expect(await recordOf(sent.threadId)).toMatchObject({
      status: 'done',
      undelivered: 0,
      unanswered: false,
    });
    expect(await listed('status=open')).not.toContain(sent.threadId);
    await receive(running.service, mail({ from: to, inReplyTo: sent.messageId }));
    expect(await recordOf(sent.threadId)).toMatchObject({ status: 'open' });
  });

  it('of a batch is done for each email', async () => {
    const emails = Array.from({ length: 3 }, () => letter(someone()));
    const response = await running.service.request('/api/send/batch', { json: { emails } });
    expect(response.status).toBe(200);
    const { results } = (await response.json()) as { results: readonly { threadId: string }[] };
    for (const { threadId } of results) expect(await recordOf(threadId)).toMatchObject({ status: 'done' });
  });

  it('of a person in the page is open', async () => {
    const { threadId } = await sendByPerson(letter(someone()));
    expect(await recordOf(threadId)).toMatchObject({ status: 'open' });
  });

  it('that an answer awaited is open, as it was', async () => {
    const received = await receive(running.service, mail({ from: someone() }));
    await sendJson(running.service, letter(someone(), { thread_id: received.threadId }));
    expect(await recordOf(received.threadId)).toMatchObject({ status: 'open' });
  });
});

describe('work for a person', () => {
  it('is a send that the mail server refused, though nothing else is in its thread', async () => {
    const to = someone('refused.test');
    expect((await running.service.request('/api/send', { json: letter(to) })).status).toBe(500);
    const { id, threadId } = await lastSend(to);
    const { thread, emails } = await page(threadId);
    expect(thread).toMatchObject({ status: 'open', undelivered: 1, email_count: 0 });
    expect(emails).toMatchObject([{ id, undelivered: 'failed' }]);
    expect(await listed('undelivered=true&status=open')).toContain(threadId);
    expect(await listed('status=open')).toContain(threadId);
    expect(await change(threadId, { undelivered: false })).toBe(200);
    expect(await recordOf(threadId)).toMatchObject({ status: 'done', undelivered: 0 });
    expect(await listed('undelivered=true')).not.toContain(threadId);
    expect(await listed('status=done')).not.toContain(threadId);
  });

  it('is a send that one of several recipients did not get', async () => {
    const to = someone();
    await running.service.request('/api/send', { json: letter(to, { cc: someone('refused.test') }) });
    const { threadId } = await lastSend(to);
    expect(await page(threadId)).toMatchObject({
      thread: { status: 'open', undelivered: 1 },
      emails: [{ undelivered: 'refused' }],
    });
  });

  it('is a bounce: it opens the done thread until a person marks it as settled', async () => {
    const to = someone();
    const sent = await sendJson(running.service, letter(to));
    const report = await receive(running.service, deliveryReport(sent.messageId, [{ address: to }]));
    expect(report.threadId).toBe(sent.threadId);
    await expect.poll(() => recordOf(sent.threadId)).toMatchObject({ status: 'open', undelivered: 1 });
    expect((await page(sent.threadId)).emails.find(({ id }) => id === sent.id)?.undelivered).toBe('bounced');
    expect((await recordOf(sent.threadId)).unanswered).toBe(false);
    expect(await change(sent.threadId, { undelivered: false })).toBe(200);
    expect(await recordOf(sent.threadId)).toMatchObject({ status: 'done', undelivered: 0 });
  });

  it('ends when a person finishes the thread, and comes back with another bounce', async () => {
    const [to, cc] = [someone(), someone()];
    const sent = await sendJson(running.service, letter(to, { cc }));
    const bounce = (address: string) =>
      receive(running.service, deliveryReport(sent.messageId, [{ address }]));
    await bounce(to);
    await expect.poll(() => recordOf(sent.threadId)).toMatchObject({ undelivered: 1 });
    expect(await change(sent.threadId, { status: 'done' })).toBe(200);
    expect(await recordOf(sent.threadId)).toMatchObject({ status: 'done', undelivered: 0 });
    await bounce(cc);
    await expect.poll(() => recordOf(sent.threadId)).toMatchObject({ status: 'open', undelivered: 1 });
  });

  it('ends when a person corrects it and sends it again into the thread', async () => {
    const to = someone('refused.test');
    await running.service.request('/api/send', { json: letter(to) });
    const { threadId } = await lastSend(to);
    await sendByPerson(letter(someone(), { thread_id: threadId }));
    expect(await recordOf(threadId)).toMatchObject({ status: 'done', undelivered: 0, email_count: 1 });
  });

  it('does not end when a program sends into the thread', async () => {
    const to = someone('refused.test');
    await running.service.request('/api/send', { json: letter(to) });
    const { threadId } = await lastSend(to);
    await sendJson(running.service, letter(someone(), { thread_id: threadId }));
    expect(await recordOf(threadId)).toMatchObject({ status: 'open', undelivered: 1, email_count: 1 });
  });

  it('keeps a thread open that a customer wrote into meanwhile', async () => {
    const to = someone();
    const sent = await sendJson(running.service, letter(to));
    await receive(running.service, deliveryReport(sent.messageId, [{ address: to }]));
    await expect.poll(() => recordOf(sent.threadId)).toMatchObject({ undelivered: 1 });
    await receive(
      running.service,
      mail({ from: to, inReplyTo: sent.messageId, date: new Date(Date.now() + 60_000).toUTCString() }),
    );
    expect(await change(sent.threadId, { undelivered: false })).toBe(200);
    expect(await recordOf(sent.threadId)).toMatchObject({ status: 'open', undelivered: 0, unanswered: true });
  });

  it('is a send whose outcome is unknown, until an operator knows it', async () => {
    const sent = await sendJson(running.service, letter(someone()));
    const { connectionString } = running.database;
    await query(
      connectionString,
      `update emails set state = 'unknown', state_detail = 'cut off' where id = $1`,
      [sent.id],
    );
    expect(await page(sent.threadId)).toMatchObject({
      thread: { status: 'open', undelivered: 1 },
      emails: [{ undelivered: 'unknown' }],
    });
    const resolved = await running.service.request(`/api/emails/${sent.id}/resolve`, {
      json: { outcome: 'sent' },
    });
    expect(resolved.status).toBe(200);
    expect(await recordOf(sent.threadId)).toMatchObject({ status: 'done', undelivered: 0 });
  });

  it('is counted beside the folders', async () => {
    const { threads } = await getJson<{ threads: { undelivered: number } }>(running.service, '/api/folders');
    expect(threads.undelivered).toBe((await listed('undelivered=true')).length);
    expect(threads.undelivered).toBeGreaterThan(0);
  });
});

describe('no work', () => {
  it('is a read receipt', async () => {
    const to = someone();
    const sent = await sendJson(running.service, letter(to));
    const receipt = deliveryReport(sent.messageId, [{ address: to }], {
      from: to,
      subject: 'Gelesen: Angebot',
    })
      .replaceAll('delivery-status', 'disposition-notification')
      .replace('Action: failed', 'Disposition: manual-action/MDN-sent-manually; displayed');
    const { id, threadId } = await receive(running.service, receipt);
    expect(await getJson(running.service, `/api/emails/${id}`)).toMatchObject({
      automatic: { kind: 'receipt' },
    });
    expect(await recordOf(threadId)).toMatchObject({ status: 'done', undelivered: 0, unanswered: false });
  });

  it('is a report about mail of our domain, nor is it unread', async () => {
    const raw = mail({
      from: 'noreply-dmarc-support@google.test',
      subject: 'Report domain: example.com Submitter: google.test Report-ID: 1',
      headers: [
        'Content-Type: application/zip',
        'Content-Disposition: attachment; filename="google.test!example.com!1700000000!1700086399.zip"',
      ],
    });
    const { id, threadId } = await receive(running.service, raw);
    expect(await getJson(running.service, `/api/emails/${id}`)).toMatchObject({
      automatic: { kind: 'report' },
      written_by: 'machine',
      unread: false,
    });
    expect(await recordOf(threadId)).toMatchObject({ status: 'done', unanswered: false });
  });
});
