/**
 * Every sentence of the interface specification, over real HTTP against the started service, with a real PostgreSQL
 * and a real SMTP server behind it. The titles quote or paraphrase the specification.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { simpleParser } from 'mailparser';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServiceWithSink } from '../helpers/running-service.ts';
import type { ServiceProcess } from '../helpers/service-process.ts';
import type { SmtpSink } from '../helpers/smtp-sink.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const MESSAGE_ID = /^<[^<>@\s]+@[^<>@\s]+>$/;
const ISO_UTC = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/;

let sink: SmtpSink;
let service: ServiceProcess;
let end: () => Promise<void>;

beforeAll(async () => {
  ({ sink, service, end } = await startServiceWithSink());
});
afterAll(() => end());

const MAIL = { to: 'Ada <ada@example.org>', subject: 'Angebot', text_body: 'Guten Tag' };

interface Sent {
  status: string;
  id: string;
  messageId: string;
  threadId: string;
}

async function send(fields: Record<string, unknown> = {}): Promise<Sent> {
  const response = await service.request('/api/send', { json: { ...MAIL, ...fields } });
  expect(response.status, JSON.stringify(await response.clone().json())).toBe(200);
  return (await response.json()) as Sent;
}

async function readThread(threadId: string) {
  const response = await service.request(`/api/thread/${threadId}`);
  expect(response.status).toBe(200);
  return (await response.json()) as { emails: Record<string, unknown>[] };
}

async function expectError(response: Response, status: number, code: string) {
  const body = (await response.json()) as Record<string, unknown>;
  expect({ status: response.status, code: body.code }).toEqual({ status, code });
  expect(typeof body.error).toBe('string');
  expect(response.headers.get('content-type')).toMatch(/^application\/json/);
  return body;
}

describe('4.3 GET /api/health', () => {
  it('needs no authentication and answers exactly status, service and timestamp', async () => {
    const before = Date.now();
    const response = await fetch(`${service.url}/api/health`);
    expect(response.status).toBe(200);
    const body = (await response.json()) as Record<string, string>;
    expect(Object.keys(body).sort()).toEqual(['service', 'status', 'timestamp']);
    expect(body).toMatchObject({ status: 'ok', service: 'email-worker-api' });
    expect(body.timestamp).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
    expect(Date.parse(body.timestamp!)).toBeGreaterThanOrEqual(before - 1);
    expect(Date.parse(body.timestamp!)).toBeLessThanOrEqual(Date.now() + 1);
  });

  it('says at /api/health/ready that database, storage and mail server are there', async () => {
    const response = await fetch(`${service.url}/api/health/ready`);
    expect(response.status).toBe(200);
  });
});

describe('5 Authentication', () => {
  it.each([
    ['no credential', undefined],
    ['a wrong secret', 'Bearer wrong-secret-wrong-secret'],
    ['another scheme', 'Basic dGVzdDp0ZXN0'],
    ['an empty token', 'Bearer '],
  ])('refuses %s with 401, WWW-Authenticate: Bearer and a German error', async (_, authorization) => {
    const id = randomUUID();
    for (const [method, target] of [
      ['GET', `/api/thread/${id}`],
      ['POST', '/api/send'],
      ['GET', `/api/customer/${id}/emails`],
      ['GET', `/api/emails/${id}`],
      ['GET', `/api/emails/${id}/raw`],
      ['GET', `/api/attachments/${id}`],
    ] as const) {
      const response = await fetch(service.url + target, {
        method,
        headers: authorization === undefined ? {} : { authorization },
        ...(method === 'POST' ? { body: JSON.stringify(MAIL) } : {}),
      });
      const isMissing = authorization === undefined;
      // RFC 6750 §3.1
      expect(response.headers.get('www-authenticate')).toBe(
        isMissing ? 'Bearer' : 'Bearer error="invalid_token"',
      );
      await expectError(response, 401, isMissing ? 'missing_credentials' : 'invalid_credentials');
    }
  });
});

describe('4.2 POST /api/send', () => {
  it('answers 200 with exactly status, id, messageId and threadId, and really sends', async () => {
    const sent = await send();
    expect(Object.keys(sent).sort()).toEqual(['id', 'messageId', 'status', 'threadId']);
    expect(sent.status).toBe('sent');
    expect(sent.id).toMatch(UUID);
    expect(sent.threadId).toMatch(UUID);
    expect(sent.messageId).toMatch(MESSAGE_ID);
    const [message, ...others] = sink.byMessageId(sent.messageId);
    expect(others).toEqual([]);
    expect(message).toMatchObject({ mailFrom: 'sales@example.com', rcptTo: ['ada@example.org'] });
    const parsed = await simpleParser(message!.raw);
    expect(parsed.subject).toBe('Angebot');
    expect(parsed.text?.trim()).toBe('Guten Tag');
    expect(parsed.from?.text).toBe('"Sales" <sales@example.com>');
  });

  it.each([
    ['to is missing', { to: undefined }],
    ['subject is missing', { subject: undefined }],
    ['both are missing', { to: undefined, subject: undefined }],
    ['to is empty', { to: '' }],
    ['subject is blank', { subject: '  ' }],
    ['to is null', { to: null }],
    ['to is an empty array', { to: [] }],
  ])('answers 400 saying that to and subject are mandatory when %s', async (_, fields) => {
    const response = await service.request('/api/send', { json: { ...MAIL, ...fields } });
    const body = await expectError(response, 400, 'missing_recipient_or_subject');
    expect(Object.keys(body).sort()).toEqual(['code', 'doc', 'error', 'field', 'message', 'request_id']);
    expect(body.error).toContain('(to)');
    expect(body.error).toContain('(subject)');
    expect(body.error).toContain('Pflichtfelder');
  });

  it('answers 400 when neither text_body nor html_body is given', async () => {
    const response = await service.request('/api/send', { json: { ...MAIL, text_body: undefined } });
    await expectError(response, 400, 'missing_body');
  });

  it('answers 500 with error and details when sending fails, and records the failure', async () => {
    const response = await service.request('/api/send', { json: { ...MAIL, to: 'nobody@refused.test' } });
    const body = await expectError(response, 500, 'send_failed');
    expect(Object.keys(body).sort()).toEqual([
      'code',
      'details',
      'doc',
      'error',
      'id',
      'message',
      'request_id',
    ]);
    expect(body.details).toContain('no such user');
    expect(await (await service.request(`/api/emails/${body.id}`)).json()).toMatchObject({ state: 'failed' });
  });

  it('sends text and HTML as alternatives', async () => {
    const { messageId } = await send({ html_body: '<p>Guten <b>Tag</b></p>' });
    const parsed = await simpleParser(sink.byMessageId(messageId)[0]!.raw);
    expect(parsed.text?.trim()).toBe('Guten Tag');
    expect(parsed.html).toContain('<b>Tag</b>');
  });

  it('renders the HTML to text for the thread when only html_body is given', async () => {
    const { threadId } = await send({ text_body: undefined, html_body: '<p>Guten <b>Tag</b></p>' });
    const { emails } = await readThread(threadId);
    expect(emails[0]!.text_body).toBe('Guten Tag');
  });

  it('never shows bcc recipients in the message, and still delivers to them', async () => {
    const { messageId, id } = await send({ cc: 'Cc <cc@example.org>', bcc: 'Secret <secret@example.net>' });
    const [message] = sink.byMessageId(messageId);
    expect(message!.rcptTo).toEqual(['ada@example.org', 'cc@example.org', 'secret@example.net']);
    expect(message!.raw.toString()).not.toMatch(/^bcc|secret/im);
    const raw = await service.request(`/api/emails/${id}/raw`);
    expect(await raw.text()).not.toMatch(/^bcc|secret/im);
    const detail = (await (await service.request(`/api/emails/${id}`)).json()) as Record<string, unknown>;
    expect(detail.bcc_addresses).toEqual([{ name: 'Secret', address: 'secret@example.net' }]);
  });

  it('takes several addresses, comma-separated or as an array', async () => {
    const { messageId } = await send({
      to: ['"Doe, Jane" <jane@example.org>, bob@example.org', 'Team: c@example.org;'],
    });
    expect(sink.byMessageId(messageId)[0]!.rcptTo).toEqual([
      'jane@example.org',
      'bob@example.org',
      'c@example.org',
    ]);
  });

  it('is sent when only some recipients are refused, with the refused ones in the record', async () => {
    const { id } = await send({ to: 'ada@example.org, nobody@refused.test' });
    const detail = (await (await service.request(`/api/emails/${id}`)).json()) as Record<string, unknown>;
    expect(detail.state).toBe('sent');
    expect(detail.recipients).toMatchObject([
      { address: 'ada@example.org', state: 'accepted' },
      { address: 'nobody@refused.test', state: 'rejected', reply: { code: 550, enhanced_status: '5.1.1' } },
    ]);
  });

  it('sends attachments and stores them under <account_id>/<email_id>/<filename>', async () => {
    const bytes = randomBytes(100_000);
    const { id, threadId, messageId } = await send({
      attachments: [
        { filename: 'Angebot.pdf', content: bytes.toString('base64'), content_type: 'application/pdf' },
        { filename: 'leer.txt', content: '', content_type: 'text/plain' },
      ],
    });
    const parsed = await simpleParser(sink.byMessageId(messageId)[0]!.raw);
    expect(parsed.attachments.map((part) => [part.filename, part.contentType, part.size])).toEqual([
      ['Angebot.pdf', 'application/pdf', bytes.length],
      ['leer.txt', 'text/plain', 0],
    ]);
    expect(parsed.attachments[0]!.content.equals(bytes)).toBe(true);

    const { emails } = await readThread(threadId);
    expect(emails[0]).toMatchObject({ has_attachments: true });
    const attachments = emails[0]!.email_attachments as Record<string, unknown>[];
    expect(attachments.map((attachment) => Object.keys(attachment).sort())).toEqual(
      attachments.map(() => ['content_type', 'filename', 'id', 'size_bytes', 'storage_path']),
    );
    expect(attachments[0]).toMatchObject({
      filename: 'Angebot.pdf',
      content_type: 'application/pdf',
      size_bytes: bytes.length,
      storage_path: `default/${id}/Angebot.pdf`,
    });
    const download = await service.request(`/api/attachments/${attachments[0]!.id as string}`);
    expect(Buffer.from(await download.arrayBuffer()).equals(bytes)).toBe(true);
  });
});

describe('4.2 thread placement', () => {
  it('starts a new thread without thread_id and in_reply_to', async () => {
    const [first, second] = [await send(), await send()];
    expect(first.threadId).not.toBe(second.threadId);
  });

  it('joins the thread of thread_id and answers its newest email', async () => {
    const first = await send();
    const second = await send({ thread_id: first.threadId.toUpperCase() });
    expect(second.threadId).toBe(first.threadId);
    const parsed = await simpleParser(sink.byMessageId(second.messageId)[0]!.raw);
    expect(parsed.inReplyTo).toBe(first.messageId);
    const third = await send({ thread_id: first.threadId });
    const headers = await simpleParser(sink.byMessageId(third.messageId)[0]!.raw);
    expect(headers.references).toEqual([first.messageId, second.messageId]);
    expect((await readThread(first.threadId)).emails.map((email) => email.id)).toEqual([
      first.id,
      second.id,
      third.id,
    ]);
  });

  it('joins the thread of a known in_reply_to, with or without angle brackets', async () => {
    const first = await send();
    expect((await send({ in_reply_to: first.messageId })).threadId).toBe(first.threadId);
    expect((await send({ in_reply_to: first.messageId.slice(1, -1) })).threadId).toBe(first.threadId);
  });

  it('starts a thread for an unknown in_reply_to, which a later answer to the same Message-ID joins', async () => {
    const unknown = `<${randomUUID()}@example.org>`;
    const first = await send({ in_reply_to: unknown });
    expect((await send({ in_reply_to: unknown })).threadId).toBe(first.threadId);
    const parsed = await simpleParser(sink.byMessageId(first.messageId)[0]!.raw);
    expect(parsed.inReplyTo).toBe(unknown);
  });

  it('lets thread_id place and in_reply_to set the headers when they disagree', async () => {
    const [a, b] = [await send(), await send()];
    const sent = await send({ thread_id: a.threadId, in_reply_to: b.messageId });
    expect(sent.threadId).toBe(a.threadId);
    expect((await simpleParser(sink.byMessageId(sent.messageId)[0]!.raw)).inReplyTo).toBe(b.messageId);
    expect((await readThread(b.threadId)).emails).toHaveLength(1);
  });

  it('sends nothing and answers 404 for an unknown thread_id', async () => {
    const count = sink.messages.length;
    await expectError(
      await service.request('/api/send', { json: { ...MAIL, thread_id: randomUUID() } }),
      404,
      'thread_not_found',
    );
    expect(sink.messages).toHaveLength(count);
  });

  it.each(['thread_id', 'customer_id', 'company_id'])('answers 400 for a malformed %s', async (field) => {
    await expectError(
      await service.request('/api/send', { json: { ...MAIL, [field]: 'no-uuid' } }),
      400,
      'invalid_uuid',
    );
  });
});

describe('4.1 GET /api/thread/{threadId}', () => {
  it('answers exactly the specified fields, in the specified shapes', async () => {
    const { threadId, id, messageId } = await send({ to: 'Ada <ada@example.org>, bob@example.org' });
    const body = await readThread(threadId);
    expect(Object.keys(body)).toEqual(['emails']);
    expect(body.emails).toHaveLength(1);
    const [email] = body.emails;
    expect(email).toEqual({
      id,
      message_id: messageId,
      direction: 'outbound',
      from_address: { name: 'Sales', address: 'sales@example.com' },
      to_addresses: [
        { name: 'Ada', address: 'ada@example.org' },
        { name: '', address: 'bob@example.org' },
      ],
      subject: 'Angebot',
      text_body: 'Guten Tag',
      date: expect.stringMatching(ISO_UTC) as string,
      has_attachments: false,
      email_attachments: [],
    });
  });

  it('answers 404 for an unknown and 400 for a malformed threadId', async () => {
    await expectError(await service.request(`/api/thread/${randomUUID()}`), 404, 'thread_not_found');
    await expectError(await service.request('/api/thread/42'), 400, 'invalid_uuid');
  });
});

describe('4.4 GET /api/customer/{customerId}/emails', () => {
  it('lists newest first, in pages, with the same Email objects', async () => {
    const customer_id = randomUUID();
    // Earlier emails to it would become the customer's too, once the sends have taught the address.
    const to = `${randomUUID()}@example.org`;
    const ids: string[] = [];
    for (let index = 0; index < 5; index += 1) ids.unshift((await send({ customer_id, to })).id);
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const query = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const response = await service.request(`/api/customer/${customer_id}/emails?limit=2${query}`);
      expect(response.status).toBe(200);
      const page = (await response.json()) as { emails: { id: string }[]; next_cursor: string | null };
      expect(Object.keys(page).sort()).toEqual(['emails', 'next_cursor']);
      seen.push(...page.emails.map((email) => email.id));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(seen).toEqual(ids);
    const none = await service.request(`/api/customer/${customer_id}/emails?direction=inbound`);
    expect(await none.json()).toEqual({ emails: [], next_cursor: null });
  });

  it('knows the customer of a later email by its thread and by its address', async () => {
    const customer_id = randomUUID();
    const address = `${randomUUID()}@example.org`;
    const first = await send({ customer_id, to: address });
    const byThread = await send({ thread_id: first.threadId, to: 'other@example.org' });
    const byAddress = await send({ to: address.toUpperCase() });
    const listed = async () => {
      const response = await service.request(`/api/customer/${customer_id}/emails`);
      const { emails } = (await response.json()) as { emails: { id: string }[] };
      return emails.map((email) => email.id);
    };
    // A moment later, while a rule from another test is being applied.
    await expect.poll(listed).toEqual([byAddress.id, byThread.id, first.id]);
  });

  it('answers an empty list for an unknown customer and 400 for malformed parameters', async () => {
    const target = `/api/customer/${randomUUID()}/emails`;
    expect(await (await service.request(target)).json()).toEqual({ emails: [], next_cursor: null });
    await expectError(await service.request('/api/customer/42/emails'), 400, 'invalid_uuid');
    await expectError(await service.request(`${target}?cursor=x`), 400, 'invalid_cursor');
    for (const query of [
      'limit=0',
      'limit=201',
      'limit=x',
      'direction=up',
      'since=yesterday',
      'until=2026-13-01',
    ]) {
      await expectError(await service.request(`${target}?${query}`), 400, 'invalid_request');
    }
  });
});

describe('the four answers', () => {
  it('are exactly the text that is specified, in this order, whatever else an email has', async () => {
    const customer_id = randomUUID();
    const address = `${randomUUID()}@example.org`;
    const response = await service.request('/api/send', {
      json: {
        ...MAIL,
        to: `Ada <${address}>`,
        customer_id,
        html_body: '<p>Guten Tag</p>',
        tags: ['angebot'],
        metadata: { order: 17 },
        attachments: [{ filename: 'a.txt', content: 'YQ==', content_type: 'text/plain' }],
      },
    });
    const text = await response.text();
    const { id, messageId, threadId } = JSON.parse(text) as Sent;
    expect(text).toBe(
      `{"status":"sent","id":"${id}","messageId":${JSON.stringify(messageId)},"threadId":"${threadId}"}`,
    );
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');

    const thread = await (await service.request(`/api/thread/${threadId}`)).text();
    const [{ date = '', email_attachments: files = [] } = {}] = (
      JSON.parse(thread) as { emails: { date: string; email_attachments: { id: string }[] }[] }
    ).emails;
    const email =
      `{"id":"${id}","message_id":${JSON.stringify(messageId)},"direction":"outbound",` +
      `"from_address":{"name":"Sales","address":"sales@example.com"},` +
      `"to_addresses":[{"name":"Ada","address":"${address}"}],"subject":"Angebot","text_body":"Guten Tag",` +
      `"date":"${date}","has_attachments":true,"email_attachments":[{"id":"${files[0]?.id}","filename":"a.txt",` +
      `"content_type":"text/plain","size_bytes":1,"storage_path":"default/${id}/a.txt"}]}`;
    expect(thread).toBe(`{"emails":[${email}]}`);

    const customer = await (await service.request(`/api/customer/${customer_id}/emails`)).text();
    expect(customer).toBe(`{"emails":[${email}],"next_cursor":null}`);

    const health = await (await fetch(new URL('/api/health', service.url))).text();
    const { timestamp } = JSON.parse(health) as { timestamp: string };
    expect(timestamp).toMatch(ISO_UTC);
    expect(health).toBe(`{"status":"ok","service":"email-worker-api","timestamp":"${timestamp}"}`);
  });
});

describe('beyond the specification', () => {
  it('returns the raw message byte for byte as the mail server got it', async () => {
    const { id, messageId } = await send({
      text_body: 'Zeile\n.\nFrom hier\n'.repeat(3),
      html_body: '<p>ü</p>',
    });
    const response = await service.request(`/api/emails/${id}/raw`);
    expect(response.headers.get('content-type')).toBe('message/rfc822');
    expect(Buffer.from(await response.arrayBuffer()).equals(sink.byMessageId(messageId)[0]!.raw)).toBe(true);
  });

  it('answers 404 for unknown emails and attachments', async () => {
    await expectError(await service.request(`/api/emails/${randomUUID()}`), 404, 'email_not_found');
    await expectError(await service.request(`/api/emails/${randomUUID()}/raw`), 404, 'email_not_found');
    await expectError(await service.request(`/api/attachments/${randomUUID()}`), 404, 'attachment_not_found');
  });
});
