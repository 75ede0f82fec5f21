/** Drafts: written in steps by several callers, and sent once, whatever happens. */
import { randomUUID } from 'node:crypto';
import { simpleParser } from 'mailparser';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { backgroundWorkIsDone } from '../helpers/background-work.ts';
import { mail, receive } from '../helpers/inbound-mail.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { getJson as getJsonOf, startServiceWithSink } from '../helpers/running-service.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { startSmtpSink, type SmtpSink } from '../helpers/smtp-sink.ts';
import { waitUntil } from '../helpers/wait-until.ts';

let database: TestDatabase;
let sink: SmtpSink;
let service: ServiceProcess;
let end: () => Promise<void>;

beforeAll(async () => {
  ({ database, sink, service, end } = await startServiceWithSink());
});
afterAll(() => end());

interface Draft {
  readonly id: string;
  readonly version: number;
  readonly thread_id: string | null;
  readonly message: Record<string, unknown>;
  readonly attachments: readonly {
    readonly id: string;
    readonly filename: string;
    readonly storage_path: string;
  }[];
}

interface Answer<T> {
  readonly status: number;
  readonly headers: Headers;
  readonly json: T & { readonly code?: string; readonly details?: string };
}

async function call<T>(
  path: string,
  {
    on = service,
    ...init
  }: { method?: string; json?: unknown; headers?: Record<string, string>; on?: ServiceProcess } = {},
): Promise<Answer<T>> {
  const response = await on.request(path, init);
  return {
    status: response.status,
    headers: response.headers,
    json: (await response.json()) as Answer<T>['json'],
  };
}

async function write(json: object, on = service): Promise<Draft> {
  const { status, json: draft } = await call<Draft>('/api/drafts', { json, on });
  expect([status, draft.code]).toEqual([201, undefined]);
  return draft;
}

const ifMatch = (version: number) => ({ 'If-Match': `"${version}"` });
const change = (id: string, version: number, json: object) =>
  call<Draft>(`/api/drafts/${id}`, { method: 'PATCH', json, headers: ifMatch(version) });
const sendDraft = (id: string, headers: Record<string, string> = {}, on = service) =>
  call<{
    readonly status: string;
    readonly id: string;
    readonly messageId: string;
    readonly threadId: string;
  }>(`/api/drafts/${id}/send`, { method: 'POST', headers, on });
const COMPLETE = { to: 'ada@customer.test', subject: 'Angebot', text_body: 'Hallo' };
async function eventsOf(id: string): Promise<readonly unknown[]> {
  await backgroundWorkIsDone(database.connectionString);
  const rows = await query(
    database,
    `select type from events where type like 'draft.%' and data::json ->> 'draft_id' = $1 order by position`,
    [id],
  );
  return rows.map(({ type }) => type);
}

describe('a draft', () => {
  it('may be empty, and grows field by field', async () => {
    const draft = await write({});
    expect(draft).toMatchObject({ version: 1, message: {}, attachments: [], author: null, answers: null });
    const first = await change(draft.id, 1, {
      author: 'eva',
      message: { to: 'ada@customer.test', cc: 'bob' },
    });
    expect(first.headers.get('etag')).toBe('"2"');
    const second = await change(draft.id, 2, { message: { cc: null, subject: 'a \u{1f600}' } });
    expect(second.json.message).toEqual({ to: 'ada@customer.test', subject: 'a \u{1f600}' });
    expect(await getJsonOf(service, `/api/drafts/${draft.id}`)).toEqual(second.json);
  });

  it('is listed by thread, account and author, the last changed first', async () => {
    const author = randomUUID();
    const received = await receive(service, mail());
    const [a, b] = [await write({ author }), await write({ author, answers: { email_id: received.id } })];
    await change(a.id, 1, { message: { to: ['x@customer.test', 'y'], subject: 'Neu' } });
    const list = await getJsonOf<{ drafts: Draft[]; next_cursor: string }>(
      service,
      `/api/drafts?author=${author}&limit=1`,
    );
    expect(list.drafts).toMatchObject([
      { id: a.id, to: 'x@customer.test, y', subject: 'Neu', file_count: 0 },
    ]);
    const rest = await getJsonOf<{ drafts: Draft[] }>(
      service,
      `/api/drafts?author=${author}&cursor=${list.next_cursor}`,
    );
    expect(rest.drafts.map(({ id }) => id)).toEqual([b.id]);
    const ofThread = await getJsonOf<{ drafts: Draft[] }>(
      service,
      `/api/drafts?thread_id=${received.threadId}`,
    );
    expect(ofThread.drafts.map(({ id }) => id)).toEqual([b.id]);
  });

  it('is changed by one of several at the same moment; the others are told the version', async () => {
    const { id } = await write({});
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => change(id, 1, { message: { subject: `${index}` } })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412, 412, 412, 412, 412]);
    const refused = answers.find(({ status }) => status === 412)!;
    expect(refused.json).toMatchObject({ code: 'draft_changed', details: '2' });
  });

  it.each<[string, object, Record<string, string>, string]>([
    ['without a version', { author: 'x' }, {}, 'version_required'],
    ['with what is no version', { author: 'x' }, { 'If-Match': 'W/"1"' }, 'version_required'],
    ['with an unknown field', { text: 'x' }, ifMatch(1), 'unknown_field'],
    ['with an unknown field of the message', { message: { text: 'x' } }, ifMatch(1), 'unknown_field'],
    ['with a number as subject', { message: { subject: 1 } }, ifMatch(1), 'invalid_request'],
    ['with an author that is too long', { author: 'x'.repeat(201) }, ifMatch(1), 'invalid_request'],
    ['with a bad email', { answers: { email_id: 'x' } }, ifMatch(1), 'invalid_uuid'],
    [
      'with a file that it has not',
      { attachments: [{ id: randomUUID() }] },
      ifMatch(1),
      'draft_file_not_found',
    ],
    [
      'with a text for a file',
      { message: { metadata: { content: 'x'.repeat(70_000) } } },
      ifMatch(1),
      'payload_too_large',
    ],
  ])('is not changed %s', async (_title, json, headers, code) => {
    const { id } = await write({ author: 'eva' });
    const refused = await call<object>(`/api/drafts/${id}`, { method: 'PATCH', json, headers });
    expect(refused.json.code).toBe(code);
    expect(await getJsonOf(service, `/api/drafts/${id}`)).toMatchObject({ version: 1, author: 'eva' });
  });

  it('keeps files that it names, and no others', async () => {
    const file = (filename: string) => ({ filename, content: Buffer.from(filename).toString('base64') });
    const draft = await write({ message: COMPLETE, attachments: [file('a.txt'), file('b.txt')] });
    const [a] = draft.attachments;
    const changed = await change(draft.id, 1, { attachments: [file('a.txt'), { id: a!.id }] });
    expect(changed.json.attachments.map(({ filename }) => filename)).toEqual(['a.txt', 'a.txt']);
    const sent = await sendDraft(draft.id);
    const message = await simpleParser(sink.byMessageId(sent.json.messageId)[0]!.raw);
    expect(message.attachments.map(({ content }) => content.toString())).toEqual(['a.txt', 'a.txt']);
    expect(await query(database, 'select from draft_files where draft_id = $1', [draft.id])).toEqual([]);
  });

  it('can be deleted, with its version', async () => {
    const { id } = await write({});
    const wrong = await call<object>(`/api/drafts/${id}`, { method: 'DELETE', headers: ifMatch(2) });
    expect([wrong.status, wrong.json.details]).toEqual([412, '1']);
    expect((await call(`/api/drafts/${id}`, { method: 'DELETE', headers: ifMatch(1) })).status).toBe(200);
    expect((await call<object>(`/api/drafts/${id}`)).json.code).toBe('draft_not_found');
    expect(await eventsOf(id)).toEqual(['draft.created', 'draft.deleted']);
  });
});

describe('sending a draft', () => {
  it.each([
    [{}, 'missing_recipient_or_subject', undefined],
    [{ to: 'ada@customer.test', subject: 'x' }, 'missing_body', undefined],
    [{ ...COMPLETE, to: 'nobody' }, 'invalid_address', '/message/to'],
    [{ ...COMPLETE, thread_id: randomUUID() }, 'thread_not_found', undefined],
  ])('tells what is missing or wrong: %j', async (message, code, field) => {
    const { id } = await write({ message });
    const { json } = await sendDraft(id);
    expect(json).toMatchObject({ code, ...(field === undefined ? {} : { field }) });
    // The draft is free again.
    expect((await change(id, 1, { message: COMPLETE })).status).toBe(200);
  });

  it('answers as a send, once for any number of requests at the same moment, and consumes it', async () => {
    const { id } = await write({ message: COMPLETE });
    const answers = await Promise.all(Array.from({ length: 6 }, () => sendDraft(id, ifMatch(1))));
    const sent = answers.find(({ status }) => status === 200);
    expect(sink.byMessageId(sent!.json.messageId)).toHaveLength(1);
    expect(new Set(answers.map(({ json, status }) => json.code ?? status))).toSatisfy((codes: Set<unknown>) =>
      [...codes].every((code) => code === 200 || code === 'idempotency_in_progress'),
    );
    const repeat = await sendDraft(id, ifMatch(1));
    expect(repeat.json).toEqual(sent!.json);
    expect(repeat.headers.get('idempotency-replayed')).toBe('true');
    expect((await sendDraft(id)).json.code).toBe('draft_not_found');
    expect(await eventsOf(id)).toEqual(['draft.created', 'draft.sent']);
  });

  it('sends the version that it names, and no other', async () => {
    const { id } = await write({ message: COMPLETE });
    await change(id, 1, { message: { subject: 'Neu' } });
    const refused = await sendDraft(id, ifMatch(1));
    expect(refused.json).toMatchObject({ code: 'draft_changed', details: '2' });
    expect((await sendDraft(id, ifMatch(2))).status).toBe(200);
  });

  it('makes a reply of it, with the quote of the email', async () => {
    const received = await receive(service, mail({ subject: 'Frage', body: 'Wie viel?' }));
    const draft = await write({ answers: { email_id: received.id }, message: { text_body: 'Zehn.' } });
    expect(draft.thread_id).toBe(received.threadId);
    const sent = await sendDraft(draft.id);
    expect(sent.json.threadId).toBe(received.threadId);
    const message = await simpleParser(sink.byMessageId(sent.json.messageId)[0]!.raw);
    expect([message.subject, message.inReplyTo]).toEqual(['Re: Frage', received.messageId]);
    expect(message.text).toMatch(/^Zehn\.\n\nAm .* schrieb Ada <ada@customer\.test>:\n\n> Wie viel\?/);
  });

  it('from the queue is answered with 202, later as well', async () => {
    const { id } = await write({ message: COMPLETE });
    const queued = await sendDraft(id, { ...ifMatch(1), Prefer: 'respond-async' });
    expect([queued.status, queued.json.status]).toEqual([202, 'queued']);
    expect((await sendDraft(id, ifMatch(1))).json).toEqual(queued.json);
  });

  it('leaves it when the mail server refused, so that it can be corrected', async () => {
    const { id } = await write({ message: { ...COMPLETE, to: 'x@refused.test' } });
    const refused = await sendDraft(id, ifMatch(1));
    expect([refused.status, refused.json.code]).toEqual([500, 'send_failed']);
    expect((await sendDraft(id, ifMatch(1))).json).toEqual({
      ...(refused.json as object),
      request_id: expect.any(String),
    });
    expect((await change(id, 1, { message: { to: 'ada@customer.test' } })).status).toBe(200);
    expect((await sendDraft(id, ifMatch(2))).status).toBe(200);
  });
});

describe('a process that is killed while it sends a draft', () => {
  it(
    'sends nothing twice, and the draft is gone once it is known what happened',
    { tags: ['long'] },
    async () => {
      const own = await createTestDatabase();
      const killed: (() => Promise<void>)[] = [];
      const server = await startSmtpSink({}, () => void killed.pop()?.());
      const env = {
        DATABASE_URL: own.connectionString,
        SMTP_URL: server.url,
        MAIL_FROM: 'sales@example.com',
      };
      const first = await startServiceProcess({ env });
      const { id } = await write({ message: COMPLETE }, first);
      killed.push(() => first.kill());
      await expect(sendDraft(id, ifMatch(1), first)).rejects.toThrow('fetch failed');

      const second = await startServiceProcess({ env, dataDir: first.dataDir });
      try {
        await waitUntil(
          'the draft is gone',
          async () => (await second.request(`/api/drafts/${id}`)).status === 404,
        );
        const repeat = await sendDraft(id, ifMatch(1), second);
        expect(repeat.headers.get('idempotency-replayed')).toBe('true');
        expect(['sent', 'send_unknown']).toContain(repeat.json.code ?? repeat.json.status);
        expect(server.messages).toHaveLength(1);
      } finally {
        await disposeService(second);
        await server.stop();
        await own.drop();
      }
    },
  );
});
