/** The TypeScript client against the real service: the cases that the examples of its README do not reach. */
import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  createClient,
  EmailWorkerError,
  type EmailWorkerClient,
} from '../../clients/typescript/src/index.ts';
import { startServiceWithSink } from '../helpers/running-service.ts';
import { TEST_SECRET, type ServiceProcess } from '../helpers/service-process.ts';
import type { SmtpSink } from '../helpers/smtp-sink.ts';

let service: ServiceProcess;
let sink: SmtpSink;
let client: EmailWorkerClient;
let end: () => Promise<void>;

beforeAll(async () => {
  ({ service, sink, end } = await startServiceWithSink());
  client = createClient({ url: service.url, secret: TEST_SECRET });
});
afterAll(() => end());

async function send(fields: { subject?: string; idempotencyKey?: string; queue?: boolean } = {}) {
  const { subject = 'Hello', ...options } = fields;
  const result = await client.send({ to: 'ada@example.com', subject, text_body: 'Good morning!' }, options);
  if (result.status === 'partial') throw new Error(result.error);
  return result;
}

it('a send that is repeated with its key gives the first result, and sends once', async () => {
  const subject = `once ${randomUUID()}`;
  const first = await send({ subject, idempotencyKey: 'once-1' });
  const second = await send({ subject, idempotencyKey: 'once-1' });
  expect(first).toMatchObject({ status: 'sent', replayed: false, idempotencyKey: 'once-1' });
  expect(second).toEqual({ ...first, replayed: true });
  expect(sink.messages.filter(({ raw }) => raw.toString().includes(subject))).toHaveLength(1);
});

it('a lost answer is asked for again, and the email goes out once', async () => {
  const subject = `lost answer ${randomUUID()}`;
  let requests = 0;
  const losing = createClient({
    url: service.url,
    secret: TEST_SECRET,
    async fetch(request) {
      const response = await fetch(request);
      requests += 1;
      if (requests === 1) throw new TypeError('fetch failed');
      return response;
    },
  });
  const result = await losing.send({ to: 'ada@example.com', subject, text_body: 'Good morning!' });
  expect(result).toMatchObject({ status: 'sent', replayed: true });
  expect(sink.messages.filter(({ raw }) => raw.toString().includes(subject))).toHaveLength(1);
});

it('an error lists every mistake of its request, also the only one', async () => {
  const problemsOf = async (to: string, cc: string) => {
    const error: unknown = await client
      .send({ to, cc, subject: 'x', text_body: 'x' })
      .catch((thrown: unknown) => thrown);
    if (!(error instanceof EmailWorkerError)) throw error;
    expect(error.problems[0]).toMatchObject({ field: error.field, code: error.code, error: error.text });
    return error.problems.map(({ field, code, message }) => `${field} ${code} ${message}`);
  };
  const inTo = '/to invalid_address Invalid email address in to: ann@';
  const inCc = '/cc invalid_address Invalid email address in cc: bob@';
  expect(await problemsOf('ann@', 'bob@')).toEqual([inTo, inCc]);
  expect(await problemsOf('ann@', 'bob@example.com')).toEqual([inTo]);
  await expect(client.threads.get(randomUUID())).rejects.toMatchObject({ field: null, problems: [] });
});

it('`queue` puts an email into the queue', async () => {
  expect(await send({ queue: true })).toMatchObject({ status: 'queued' });
});

it('a check sends, deletes, merges and erases nothing', async () => {
  const address = `${randomUUID()}@example.com`;
  const message = { to: address, subject: 'Checked', text_body: 'Hello' };
  const [{ id, threadId }, other] = [await send(), await send()];
  const { length } = sink.messages;
  expect(await client.checkSend(message)).toMatchObject({ status: 'checked', would: 'send', to: [address] });
  expect(await client.checkSend(message, { queue: true })).toMatchObject({ would: 'queue' });
  const results = await client.checkBatch([message, { ...message, to: 'ada@' }]);
  expect(results.map(({ status }) => status)).toEqual(['checked', 'error']);
  const answers = [
    await client.emails.checkReply(id, { text_body: 'Yes' }),
    await client.emails.checkReplyAll(id, { text_body: 'Yes' }),
    await client.emails.checkForward(id, { to: address }),
  ];
  expect(answers.map(({ status }) => status)).toEqual(['checked', 'checked', 'checked']);
  expect(sink.messages).toHaveLength(length);
  expect(await client.emails.checkDelete(id)).toEqual({ id, emails: 1, deleted_at: null });
  expect(await client.threads.checkDelete(threadId)).toMatchObject({ emails: 1, deleted_at: null });
  const merged = await client.threads.checkMerge(threadId, { thread_id: other.threadId });
  expect(merged).toMatchObject({ changed: true, decision_id: null });
  const { erased } = await client.erasures.check({ address: 'ada@example.com' });
  expect(erased.emails).toBeGreaterThanOrEqual(2);
  expect((await client.threads.get(threadId)).emails.map((email) => email.id)).toEqual([id]);
});

it('a list gives each item once, whatever the size of its pages', async () => {
  const word = `pages${randomBytes(4).toString('hex')}`;
  const sent = [];
  for (let count = 0; count < 7; count++) sent.push((await send({ subject: `${word} ${count}` })).threadId);
  // The index follows within a second or so.
  await expect.poll(async () => (await client.threads.list({ q: word }).page()).items.length).toBe(7);
  const list = client.threads.list({ q: word, limit: 3 });
  const found = [];
  for await (const thread of list) found.push(thread.id);
  expect(found.toSorted()).toEqual(sent.toSorted());

  const sizes = [];
  for await (const page of list.pages()) sizes.push(page.items.length);
  expect(sizes).toEqual([3, 3, 1]);
  const first = await list.page();
  expect((await list.page(first.nextCursor)).items.map(({ id }) => id)).toEqual(found.slice(3, 6));
});

it('bytes come back as they were sent, from each kind of source', async () => {
  const bytes = randomBytes(1_000_003);
  const blob = new Blob([bytes], { type: 'image/png' });
  const contents = [bytes, new Uint8Array(bytes).buffer, blob, bytes.toString('base64')];
  const result = await client.send({
    to: 'ada@example.com',
    subject: 'Files',
    text_body: 'Here they are.',
    attachments: contents.map((content, index) => ({ filename: `${index}.bin`, content })),
  });
  if (result.status === 'partial') throw new Error(result.error);
  const { email_attachments: files } = await client.emails.get(result.id);
  expect(files.map((file) => file.content_type)).toEqual([
    'application/octet-stream',
    'application/octet-stream',
    'image/png',
    'application/octet-stream',
  ]);
  for (const file of files) {
    const download = await client.attachments.download(file.id);
    expect(download.sizeBytes).toBe(bytes.length);
    expect(bytes.equals(await download.bytes())).toBe(true);
    await expect(download.bytes()).rejects.toThrow(TypeError);
  }
  const part = await client.attachments.download(files[0]!.id, { range: { start: 10, end: 20 } });
  expect(part.isPartial).toBe(true);
  expect(bytes.subarray(10, 20).equals(await part.bytes())).toBe(true);
  const other = await client.attachments.download(files[0]!.id, { range: { start: 10 }, ifRange: '"other"' });
  expect([other.isPartial, other.sizeBytes]).toEqual([false, bytes.length]);
  await other.cancel();
});

it('a thread is sent again only when it has changed', async () => {
  const { threadId } = await send();
  const first = await client.threads.getIfChanged(threadId);
  expect(first?.thread).toEqual(await client.threads.get(threadId));
  expect(await client.threads.getIfChanged(threadId, first?.etag)).toBeNull();
  await client.threads.markRead(threadId);
  expect(await client.threads.getIfChanged(threadId, first?.etag)).toBeNull();

  await client.send({
    to: 'ada@example.com',
    subject: 'Another one',
    text_body: 'In the same thread.',
    thread_id: threadId,
  });
  const second = await client.threads.getIfChanged(threadId, first?.etag);
  expect(second?.thread.emails).toHaveLength(2);
  expect(await client.threads.getIfChanged(threadId, second?.etag)).toBeNull();
  await expect(client.threads.getIfChanged(randomUUID(), first?.etag)).rejects.toMatchObject({
    code: 'thread_not_found',
  });
});

it('an empty file is a download of nothing', async () => {
  const attachments = [{ filename: 'empty.txt', content: new Uint8Array() }];
  const sent = await client.send({ to: 'ada@example.com', subject: 'Empty', text_body: '-', attachments });
  if (sent.status === 'partial') throw new Error(sent.error);
  const [file] = (await client.emails.get(sent.id)).email_attachments;
  expect(await (await client.attachments.download(file!.id)).text()).toBe('');
});

it('what the service refuses is thrown with its code', async () => {
  const { id } = await send();
  const unknown = randomUUID();
  const codes = await Promise.all(
    [
      client.emails.resolve(id, { outcome: 'sent' }),
      client.emails.cancel(id),
      client.emails.retry(id),
      client.quarantine.retry(unknown),
      client.emails.variant(id, unknown),
      client.attachments.download(unknown),
      client.suppressions.get('nobody@example.com'),
      client.threads.list({ cursor: 'x' }).page(),
      client.threads.list({ account_id: 'other' }).page(),
      client.send({ to: '', subject: 'Hello', text_body: '-' }),
      createClient({ url: service.url, secret: 'another-secret' }).threads.get(unknown),
      createClient({ url: `${service.url}/elsewhere`, secret: TEST_SECRET }).threads.get(unknown),
    ].map((request: Promise<unknown>) =>
      request.then(
        () => 'done',
        (error: { code: string }) => error.code,
      ),
    ),
  );
  expect(codes).toEqual([
    'not_unknown',
    'not_cancellable',
    'not_retryable',
    'quarantined_not_found',
    'variant_not_found',
    'attachment_not_found',
    'suppression_not_found',
    'invalid_cursor',
    'unknown_account',
    'missing_recipient_or_subject',
    'invalid_credentials',
    'not_found',
  ]);
});
