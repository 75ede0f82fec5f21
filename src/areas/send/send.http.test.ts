import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { createRunner } from '../../../test/helpers/example-operations.ts';
import { AUTHORIZED, createTestHttpApp, type TestHttpApp } from '../../../test/helpers/http-app.ts';
import { createRecordingApplication } from '../../../test/helpers/recording-application.ts';
import { IDS, sampleEmail } from '../../../test/helpers/sample-emails.ts';
import type { Content } from '../../platform/files/file-ports.ts';
import type { SendResult } from './use-cases.ts';
import { ServiceError } from '../../core/errors.ts';
import type { HttpLimits } from '../../platform/http/connections/limits.ts';

const minimal = { to: 'a@example.com', subject: 's', text_body: 't' } as const;

let app: TestHttpApp | undefined;
afterEach(async () => {
  await app?.close();
  app = undefined;
});

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly json: Record<string, unknown>;
}

async function post(
  body: unknown,
  {
    application = createRecordingApplication(),
    limits,
    headers = {},
  }: {
    readonly application?: ReturnType<typeof createRecordingApplication>;
    readonly limits?: Partial<HttpLimits>;
    readonly headers?: Readonly<Record<string, string>>;
  } = {},
): Promise<Answer> {
  app ??= await createTestHttpApp({ application, ...(limits === undefined ? {} : { limits }) });
  const raw = typeof body === 'string' || Buffer.isBuffer(body) || body instanceof Readable;
  const response = await app.fastify.inject({
    method: 'POST',
    url: '/api/send',
    headers: { ...AUTHORIZED, 'content-type': 'application/json', ...headers },
    payload: raw ? body : JSON.stringify(body),
  });
  return { status: response.statusCode, headers: response.headers, json: response.json() };
}

describe('send', () => {
  it('answers 200 with exactly the fields that callers rely on', async () => {
    expect(await post(minimal)).toMatchObject({
      status: 200,
      json: { status: 'sent', id: IDS.email, messageId: '<abc@example.com>', threadId: IDS.thread },
    });
  });

  it('answers 207 when it was sent but not stored', async () => {
    const partial: SendResult = { kind: 'partial', messageId: sampleEmail.messageId, error: 'no database' };
    const application = createRecordingApplication({ sendMessage: async () => partial });
    const { status, json } = await post(minimal, { application });
    expect(status).toBe(207);
    expect(json).toEqual({
      status: 'partial',
      message: expect.stringContaining('gesendet'),
      messageId: '<abc@example.com>',
      error: 'no database',
    });
  });

  it('answers 500 with details when sending failed', async () => {
    const application = createRecordingApplication({
      sendMessage: () =>
        Promise.reject(new ServiceError('send_failed', { details: '550 5.1.1 no such user' })),
    });
    const { status, json } = await post(minimal, { application });
    expect(status).toBe(500);
    expect(json).toMatchObject({
      error: 'Die E-Mail konnte nicht gesendet werden.',
      details: '550 5.1.1 no such user',
      code: 'send_failed',
    });
  });

  it('hands everything over, ids in lower case and null as absent', async () => {
    const application = createRecordingApplication();
    await post(
      {
        to: ['a@example.com, b@example.com', ' ', 'c@example.com'],
        cc: '',
        bcc: null,
        subject: ' Grüße ',
        text_body: '',
        html_body: '<p>x</p>',
        in_reply_to: '<x@example.com>',
        thread_id: IDS.thread.toUpperCase(),
        customer_id: IDS.customer,
        company_id: null,
        account_id: 'main',
        reply_to: 'r@example.com',
        from_name: 'Ann',
        headers: { 'X-A': 'b', 'X-C': null },
        tags: ['t'],
        metadata: { a: [1] },
        attachments: [{ filename: 'a.txt', content: 'SGFs\r\nbG8=', content_type: 'text/plain' }],
      },
      { application },
    );
    expect(application.sends[0]?.request).toEqual({
      authorKeyId: null,
      authorName: '',
      from: null,
      isByPerson: false,
      to: ['a@example.com, b@example.com', 'c@example.com'],
      cc: [],
      bcc: [],
      subject: ' Grüße ',
      textBody: null,
      htmlBody: '<p>x</p>',
      inReplyTo: '<x@example.com>',
      threadId: IDS.thread,
      customerId: IDS.customer,
      companyId: null,
      accountId: 'main',
      unsubscribeList: null,
      template: null,
      attachments: [
        {
          filename: 'a.txt',
          contentType: 'text/plain',
          content: { kind: 'bytes', bytes: Buffer.from('Hallo') },
        },
      ],
      respondAsync: false,
      sendAt: null,
      priority: null,
      lane: null,
      autoSubmitted: null,
      replyTo: ['r@example.com'],
      fromName: 'Ann',
      headers: { 'X-A': 'b' },
      tags: ['t'],
      metadata: { a: [1] },
    });
  });
});

describe('a send is refused', () => {
  const cases: readonly (readonly [string, unknown, string, string])[] = [
    [
      'without to',
      { ...minimal, to: undefined },
      'missing_recipient_or_subject',
      'Empfänger (to) und Betreff',
    ],
    ['with to null', { ...minimal, to: null }, 'missing_recipient_or_subject', ''],
    ['with blank to', { ...minimal, to: ' \t' }, 'missing_recipient_or_subject', ''],
    ['with an empty list', { ...minimal, to: [] }, 'missing_recipient_or_subject', ''],
    ['with a list of nothing', { ...minimal, to: ['', null] }, 'missing_recipient_or_subject', ''],
    ['without subject', { ...minimal, subject: undefined }, 'missing_recipient_or_subject', ''],
    ['with blank subject', { ...minimal, subject: '  ' }, 'missing_recipient_or_subject', ''],
    ['with nothing at all', {}, 'missing_recipient_or_subject', ''],
    ['without a body', { ...minimal, text_body: undefined }, 'missing_body', 'text_body'],
    ['with empty bodies', { ...minimal, text_body: '', html_body: '' }, 'missing_body', ''],
    ['with an unknown field', { ...minimal, Subject: 'x' }, 'unknown_field', 'Subject'],
    ['with a number in to', { ...minimal, to: 5 }, 'invalid_request', 'to muss'],
    ['with an object in to', { ...minimal, to: {} }, 'invalid_request', 'to muss'],
    ['with a number among to', { ...minimal, to: ['a@b', 1] }, 'invalid_request', 'to muss'],
    ['with a number in cc', { ...minimal, cc: 5 }, 'invalid_request', 'cc muss'],
    ['with a list as subject', { ...minimal, subject: ['x'] }, 'invalid_request', 'subject muss'],
    ['with false as a body', { ...minimal, text_body: false }, 'invalid_request', 'text_body muss'],
    ['with a number as in_reply_to', { ...minimal, in_reply_to: 1 }, 'invalid_request', 'in_reply_to'],
    ['with a bad thread_id', { ...minimal, thread_id: 'x' }, 'invalid_uuid', 'thread_id'],
    ['with an empty thread_id', { ...minimal, thread_id: '' }, 'invalid_uuid', 'thread_id'],
    ['with a bad customer_id', { ...minimal, customer_id: `${IDS.thread} ` }, 'invalid_uuid', 'customer_id'],
    ['with a bad company_id', { ...minimal, company_id: '1' }, 'invalid_uuid', 'company_id'],
    ['with a number as thread_id', { ...minimal, thread_id: 1 }, 'invalid_request', 'thread_id'],
    ['with attachments as object', { ...minimal, attachments: {} }, 'invalid_request', 'attachments muss'],
    ['with attachments as text', { ...minimal, attachments: 'x' }, 'invalid_request', 'attachments muss'],
    ['with null among them', { ...minimal, attachments: [null] }, 'invalid_request', 'attachments[0]'],
    [
      'without content',
      { ...minimal, attachments: [{ filename: 'x' }] },
      'invalid_request',
      'attachments[0].content',
    ],
    [
      'without a file name',
      { ...minimal, attachments: [{ content: '' }] },
      'invalid_filename',
      'attachments[0].filename',
    ],
    [
      'with bad Base64',
      {
        ...minimal,
        attachments: [
          { filename: 'x', content: '' },
          { filename: 'x', content: 'QQ=' },
        ],
      },
      'invalid_base64',
      'attachments[1].content',
    ],
    [
      'with an unknown field of an attachment',
      { ...minimal, attachments: [{ filename: 'x', content: '', path: '/etc/passwd' }] },
      'unknown_field',
      'attachments[0].path',
    ],
    [
      'with variables of no template',
      { ...minimal, variables: { name: 'Ann' } },
      'invalid_request',
      'template_id',
    ],
    [
      'with empty variables of no template',
      { ...minimal, variables: {} },
      'invalid_request',
      'variables wirkt',
    ],
    [
      'with the version of no template',
      { ...minimal, template_version: 2 },
      'invalid_request',
      'template_id',
    ],
    ['as a list', [minimal], 'invalid_request', 'JSON-Objekt'],
    ['as null', 'null', 'invalid_request', 'JSON-Objekt'],
    ['as text', '"x"', 'invalid_request', 'JSON-Objekt'],
    ['with an empty body', '', 'invalid_json', ''],
    ['with white space only', ' \n', 'invalid_json', ''],
    ['cut off', '{"to":"a@example.com"', 'invalid_json', ''],
    ['with something behind', '{} {}', 'invalid_json', ''],
    ['as a form', 'to=a', 'invalid_json', ''],
    ['in Latin-1', Buffer.from('{"to":"\u00fc"}', 'latin1'), 'invalid_json', ''],
    ['in UTF-16', Buffer.from('{"to":"x"}', 'utf16le'), 'invalid_json', ''],
    ['nested too deep', `{"to":${'['.repeat(40)}${']'.repeat(40)}}`, 'invalid_request', 'verschachtelt'],
    [
      'with a field twice',
      '{"to":"a@example.com","subject":"s","text_body":"t","to":"b@example.com"}',
      'duplicate_field',
      'to',
    ],
    [
      'with a field twice, once escaped',
      '{"to":"a@example.com","subject":"s","text_body":"t","\\u0074o":"b@example.com"}',
      'duplicate_field',
      'to',
    ],
    [
      'with a field of an attachment twice',
      '{"to":"a@example.com","subject":"s","text_body":"t","attachments":[{"filename":"a","filename":"b","content":""}]}',
      'duplicate_field',
      'filename',
    ],
    [
      'with two contents that go to files while they arrive',
      `{"to":"a@example.com","subject":"s","text_body":"t","attachments":[{"filename":"a","content":"${'QUJD'.repeat(20_000)}","conten\\u0074":"${'QUJD'.repeat(20_000)}"}]}`,
      'duplicate_field',
      'content',
    ],
    [
      'with a __proto__',
      '{"to":"a","subject":"s","text_body":"t","__proto__":{}}',
      'unknown_field',
      '__proto__',
    ],
    [
      'with a constructor',
      '{"to":"a","subject":"s","text_body":"t","constructor":{"prototype":{}}}',
      'unknown_field',
      'constructor',
    ],
  ];

  it.each(cases)('%s', async (_name, body, code, text) => {
    const application = createRecordingApplication();
    const answer = await post(body, { application });
    expect(answer.json).toMatchObject({ code, error: expect.stringContaining(text) });
    expect(answer.status).toBe(400);
    expect(application.sends).toEqual([]);
    expect(app?.logs).toEqual([]);
  });

  it('takes nothing from a __proto__', async () => {
    const answer = await post('{"__proto__":{"to":"a@example.com","subject":"s","text_body":"t"}}');
    expect(answer.json['code']).toBe('missing_recipient_or_subject');
    expect(({} as Record<string, unknown>)['to']).toBeUndefined();
  });

  it.each([
    'application/json; charset=iso-8859-1',
    'application/json-patch+json',
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'nonsense',
  ])('by its type: %s', async (type) => {
    const answer = await post(minimal, { headers: { 'content-type': type } });
    expect(answer).toMatchObject({ status: 415, json: { code: 'unsupported_media_type' } });
  });

  it.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"'])(
    'but not as %s',
    async (type) => {
      expect((await post(minimal, { headers: { 'content-type': type } })).status).toBe(200);
    },
  );

  it.each(['gzip', 'br', 'identity, gzip'])('with the content encoding %s', async (encoding) => {
    const answer = await post(minimal, { headers: { 'content-encoding': encoding } });
    expect(answer).toMatchObject({ status: 415, json: { code: 'unsupported_content_encoding' } });
  });

  it('without a type when there is a body, and as bad JSON when there is none', async () => {
    app = await createTestHttpApp({ application: createRecordingApplication() });
    const request = { method: 'POST', url: '/api/send', headers: AUTHORIZED } as const;
    expect((await app.fastify.inject({ ...request, payload: Buffer.from('{}') })).statusCode).toBe(415);
    expect((await app.fastify.inject(request)).json()).toMatchObject({ code: 'invalid_json' });
  });
});

describe('sizes', () => {
  const large = Buffer.alloc(300_000, 'äb');
  const withFiles = (...files: readonly Buffer[]) => ({
    ...minimal,
    attachments: files.map((file, index) => ({
      filename: `${index}`,
      content: file.toString('base64'),
    })),
  });

  it('puts large attachments into files and keeps small ones in memory', async () => {
    const seen: Buffer[] = [];
    const application = createRecordingApplication({
      sendMessage: async (request, folder) => {
        for (const attachment of request.attachments) {
          const content = attachment.content as Content;
          seen.push(content.kind === 'bytes' ? content.bytes : await readFile(content.path));
        }
        expect(request.attachments.map(({ content }) => content.kind)).toEqual(['file', 'bytes', 'file']);
        await folder.remove();
        return { kind: 'sent', id: IDS.email, messageId: sampleEmail.messageId, threadId: IDS.thread };
      },
    });
    const small = Buffer.from('small');
    const { status } = await post(withFiles(large, small, large), { application });
    expect(status).toBe(200);
    expect(seen.map((bytes) => bytes.toString('hex'))).toEqual(
      [large, small, large].map((b) => b.toString('hex')),
    );
  });

  it('says which large attachment is bad Base64, and leaves no file', async () => {
    const body = JSON.stringify(withFiles(large, large)).replace(/.("}\]})$/, '*$1');
    const answer = await post(body);
    expect(answer).toMatchObject({
      status: 400,
      json: { code: 'invalid_base64', error: expect.stringContaining('attachments[1].content') },
    });
    expect(await app?.spooled()).toEqual([]);
  });

  it.each([
    ['one large file', [large], 299_999],
    ['several large files together', [large, large], 599_999],
    ['small files together', [Buffer.alloc(10), Buffer.alloc(10)], 19],
    ['large and small together', [large, Buffer.alloc(10)], 300_009],
  ])('refuses more than the limit of attachments: %s', async (_name, files, maxAttachmentBytes) => {
    const answer = await post(withFiles(...files), {
      limits: { maxAttachmentBytes, maxBodyBytes: 5_000_000 },
    });
    expect(answer).toMatchObject({
      status: 413,
      json: { code: 'attachments_too_large', error: expect.stringContaining(String(maxAttachmentBytes)) },
    });
    expect(await app?.spooled()).toEqual([]);
  });

  it('takes attachments of exactly the limit', async () => {
    const answer = await post(withFiles(large, large), { limits: { maxAttachmentBytes: 600_000 } });
    expect(answer.status).toBe(200);
  });

  it('refuses more text than the limit', async () => {
    const answer = await post(
      { ...minimal, html_body: 'x'.repeat(20_000) },
      { limits: { maxTextBytes: 20_000 } },
    );
    expect(answer).toMatchObject({ status: 413, json: { code: 'payload_too_large' } });
  });

  it('refuses a body that is too large, declared or not', async () => {
    const limits = { maxBodyBytes: 1000 };
    const body = JSON.stringify({ ...minimal, html_body: 'x'.repeat(1000) });
    expect((await post(body, { limits })).json['code']).toBe('payload_too_large');
    const chunked = await post(Readable.from([Buffer.from(body)]), { limits });
    expect(chunked).toMatchObject({ status: 413, json: { code: 'payload_too_large' } });
  });

  it('refuses a flood of small objects before they are made', async () => {
    const body = `{"to":[${'{},'.repeat(60_000)}{}]}`;
    expect((await post(body)).json).toMatchObject({ code: 'invalid_request' });
  });

  it('refuses too many attachments', async () => {
    const files = Array.from({ length: 4 }, () => Buffer.from('x'));
    const answer = await post(withFiles(...files), { limits: { maxAttachments: 3 } });
    expect(answer.json).toMatchObject({ code: 'invalid_request', error: expect.stringContaining('3') });
  });

  it('does not mistake a text for the place of a large attachment', async () => {
    const application = createRecordingApplication();
    const guess = `${'0'.repeat(32)}x0`;
    const body = {
      ...minimal,
      attachments: [
        { filename: 'a', content: large.toString('base64') },
        { filename: 'b', content: guess },
      ],
    };
    expect((await post(body, { application })).json['code']).toBe('invalid_base64');
  });

  it('lets only so many large bodies in at once', async () => {
    let finish = (): void => {};
    const running = new Promise<void>((resolve) => (finish = resolve));
    const application = createRecordingApplication();
    const { sendMessage } = application;
    const waiting = {
      ...application,
      sendMessage: (...given: Parameters<typeof sendMessage>) => running.then(() => sendMessage(...given)),
    };
    const options = { application: waiting, limits: { maxLargeBodies: 1 } };
    const first = post(withFiles(large), options);
    await expect.poll(() => app?.spooled()).toHaveLength(1);
    const second = await post(withFiles(large), options);
    expect(second).toMatchObject({ status: 503, json: { code: 'busy' }, headers: { 'retry-after': '5' } });
    const small = post(minimal, options);
    finish();
    expect((await first).status).toBe(200);
    expect((await small).status).toBe(200);
    expect((await post(withFiles(large), options)).status).toBe(200);
  });

  it('says that the disk is full, and leaves no file', async () => {
    app = await createTestHttpApp({ application: createRecordingApplication() });
    const { createHttpApp } = await import('../../api/app.ts');
    const removed: string[] = [];
    const { fastify } = createHttpApp({
      application: createRecordingApplication(),
      runner: createRunner(createRecordingApplication()),
      spool: {
        create: () => ({
          write: () => Promise.reject(new ServiceError('disk_full')),
          adopt: () => Promise.reject(new ServiceError('disk_full')),
          remove: async () => void removed.push('folder'),
        }),
      },
      secrets: ['s'],
      logger: { debug() {}, info() {}, warn() {}, error() {} },
      security: { note() {} },
      clock: () => new Date(),
    });
    const response = await fastify.inject({
      method: 'POST',
      url: '/api/send',
      headers: { authorization: 'Bearer s' },
      payload: withFiles(large),
    });
    expect(response.statusCode).toBe(503);
    expect(response.json()).toMatchObject({ code: 'disk_full' });
    expect(removed).toEqual(['folder']);
    await fastify.close();
  });
});
