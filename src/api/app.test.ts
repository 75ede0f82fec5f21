import type { InjectOptions } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import {
  AUTHORIZED,
  createTestHttpApp,
  type TestHttpApp,
  type TestHttpAppOptions,
} from '../../test/helpers/http-app.ts';
import { toEmailsJson } from '../../test/helpers/emails-json.ts';
import { createRecordingApplication } from '../../test/helpers/recording-application.ts';
import { IDS } from '../../test/helpers/sample-emails.ts';
import { ServiceError } from '../core/errors.ts';
import { createHttpLimits } from '../platform/http/connections/limits.ts';

let app: TestHttpApp | undefined;
afterEach(async () => {
  await app?.close();
  app = undefined;
});

async function start(options: Partial<TestHttpAppOptions> = {}): Promise<TestHttpApp> {
  app = await createTestHttpApp({ application: createRecordingApplication(), ...options });
  return app;
}

async function ask(request: InjectOptions | string, options: Partial<TestHttpAppOptions> = {}) {
  const { fastify } = app ?? (await start(options));
  const given = typeof request === 'string' ? { url: request } : request;
  return fastify.inject({ ...given, headers: { ...AUTHORIZED, ...given.headers } });
}

it('has no time limit for its own start, which takes long on a starved machine', async () => {
  const { fastify } = await start();
  expect(fastify.initialConfig.pluginTimeout).toBe(0);
});

describe('health', () => {
  it('answers exactly the three fields without a secret', async () => {
    const { fastify } = await start({ clock: () => new Date('2026-01-31T12:00:00.007Z') });
    const response = await fastify.inject('/api/health');
    expect(response.statusCode).toBe(200);
    expect(response.body).toBe(
      '{"status":"ok","service":"email-worker-api","timestamp":"2026-01-31T12:00:00.007Z"}',
    );
  });

  it('names the dependency that is unavailable, without the reason', async () => {
    const application = createRecordingApplication({
      checkReadiness: async () => ({
        ready: false,
        checks: [
          {
            name: 'database',
            ok: false,
            code: 'database_unavailable',
            detail: 'connect ECONNREFUSED 10.0.0.7:5432',
          },
          { name: 'smtp', ok: true, code: null, detail: null },
        ],
      }),
    });
    const { fastify, logs } = await start({ application });
    const response = await fastify.inject('/api/health/ready');
    expect(response.statusCode).toBe(503);
    expect(response.headers['retry-after']).toBe('5');
    expect(response.json()).toMatchObject({
      error: expect.any(String),
      message: expect.any(String),
      doc: '/api/docs/errors#not_ready',
      code: 'not_ready',
      status: 'not_ready',
      checks: { database: 'away', smtp: 'ok' },
      reasons: { database: 'database_unavailable' },
    });
    expect(JSON.stringify(logs)).toContain('ECONNREFUSED');
  });

  it('asks the dependencies once for all callers within two seconds, and again after a failure', async () => {
    let now = 0;
    let asked = 0;
    const application = createRecordingApplication({
      checkReadiness: async () => {
        if (++asked === 2) throw new Error('broken');
        return { ready: true, checks: [] };
      },
    });
    const { fastify } = await start({ application, clock: () => new Date(now) });
    const ready = async () => (await fastify.inject('/api/health/ready')).statusCode;
    expect(await Promise.all([ready(), ready(), ready()])).toEqual([200, 200, 200]);
    now = 1999;
    expect(await ready()).toBe(200);
    expect(asked).toBe(1);
    now = 2000;
    expect(await ready()).toBe(500);
    expect(await ready()).toBe(200);
    expect(asked).toBe(3);
  });
});

describe('authentication', () => {
  const protectedRequests: readonly InjectOptions[] = [
    { url: `/api/thread/${IDS.thread}` },
    { method: 'HEAD', url: `/api/thread/${IDS.thread}` },
    { method: 'POST', url: '/api/send', payload: { to: 'a@example.com', subject: 's', text_body: 't' } },
    { url: `/api/customer/${IDS.customer}/emails` },
    { url: `/api/emails/${IDS.email}` },
    { url: `/api/emails/${IDS.email}/raw` },
    { url: `/api/attachments/${IDS.attachment}` },
  ];

  it.each(protectedRequests)('is needed for $method $url', async (request) => {
    const application = createRecordingApplication();
    const { fastify } = await start({ application });
    const response = await fastify.inject(request);
    expect(response.statusCode).toBe(401);
    expect(response.headers['www-authenticate']).toBe('Bearer');
    const error = {
      error: 'Das Zugangsgeheimnis fehlt.',
      message: 'The secret is missing.',
      code: 'missing_credentials',
      request_id: response.headers['x-request-id'],
      doc: '/api/docs/errors#missing_credentials',
    };
    expect(response.body).toBe(request.method === 'HEAD' ? '' : JSON.stringify(error));
    expect([...application.sends, ...application.threadReads, ...application.customerReads]).toEqual([]);
  });

  it.each([
    ['Bearer test-secret', 200],
    ['bearer test-secret', 200],
    ['Bearer   test-secret ', 200],
    ['Bearer other-secret', 200],
    ['Bearer test-secre', 401],
    ['Bearer test-secrets', 401],
    ['Bearer', 401],
    ['Bearer ', 401],
    ['Basic test-secret', 401],
    ['test-secret', 401],
    ['Bearer test-secret, Bearer test-secret', 401],
    ['Bearer test-secret test-secret', 401],
    [`Bearer ${'x'.repeat(5000)}`, 401],
  ])('answers %j with %i', async (authorization, status) => {
    const { fastify } = await start({ secrets: ['test-secret', 'other-secret'] });
    const response = await fastify.inject({ url: `/api/thread/${IDS.thread}`, headers: { authorization } });
    expect(response.statusCode).toBe(status);
  });

  it('comes before the parameters are looked at', async () => {
    const { fastify } = await start();
    expect((await fastify.inject('/api/thread/nonsense')).statusCode).toBe(401);
  });

  it.each([[[]], [['']], [['good', ' ']]])('refuses to be built with the secrets %j', async (secrets) => {
    await expect(createTestHttpApp({ application: createRecordingApplication(), secrets })).rejects.toThrow(
      'API secret',
    );
  });
});

describe('thread', () => {
  it('answers exactly the fields that callers rely on, in their order', async () => {
    const response = await ask(`/api/thread/${IDS.thread}`);
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(response.body).toBe(
      JSON.stringify({
        emails: [
          {
            id: IDS.email,
            message_id: '<abc@example.com>',
            direction: 'outbound',
            from_address: { name: 'Ann', address: 'ann@example.com' },
            to_addresses: [{ name: '', address: 'bob@example.org' }],
            subject: 'Grüße \ud83d\ude00',
            text_body: 'Hallo\n',
            date: '2026-01-31T12:00:00.123Z',
            has_attachments: true,
            email_attachments: [
              {
                id: IDS.attachment,
                filename: 'Übersicht "März".pdf',
                content_type: 'application/pdf',
                size_bytes: 20,
                storage_path: `main/${IDS.email}/bersicht.pdf`,
              },
            ],
          },
        ],
      }),
    );
  });

  it('hands the id over in lower case', async () => {
    const application = createRecordingApplication();
    await ask(`/api/thread/${IDS.thread.toUpperCase()}`, { application });
    expect(application.threadReads).toEqual([IDS.thread]);
  });

  it('says in an empty list and in has_attachments that there are none', async () => {
    const { sampleEmail } = await import('../../test/helpers/sample-emails.ts');
    const application = createRecordingApplication({
      readThread: async () => ({ version: '1', emails: toEmailsJson([{ ...sampleEmail, attachments: [] }]) }),
    });
    const [email] = (await ask(`/api/thread/${IDS.thread}`, { application })).json().emails;
    expect(email).toMatchObject({ has_attachments: false, email_attachments: [] });
  });

  it.each([
    'nonsense',
    `${IDS.thread}0`,
    `{${IDS.thread}}`,
    `urn:uuid:${IDS.thread}`,
    'x'.repeat(3000),
    '%00',
  ])('refuses the id %j', async (id) => {
    const response = await ask(`/api/thread/${id}`);
    expect(response.statusCode).toBe(400);
    expect(response.json()).toMatchObject({
      error: 'threadId ist keine gültige UUID.',
      code: 'invalid_uuid',
    });
  });
});

describe('customer emails', () => {
  const url = `/api/customer/${IDS.customer}/emails`;

  it('answers emails and next_cursor', async () => {
    const application = createRecordingApplication({
      listCustomerEmails: async () => ({ emails: toEmailsJson([]), nextCursor: 'abc' }),
    });
    expect((await ask(url, { application })).json()).toEqual({ emails: [], next_cursor: 'abc' });
  });

  it('hands all filters over', async () => {
    const application = createRecordingApplication();
    const query =
      'limit=200&cursor=c&direction=inbound&since=2026-01-01T00:00:00%2B02:00&until=2026-02-01T00:00:00Z';
    await ask(
      `${url.toUpperCase().replace('/API/CUSTOMER', '/api/customer').replace('EMAILS', 'emails')}?${query}`,
      {
        application,
      },
    );
    await ask(url);
    expect(application.customerReads).toEqual([
      {
        customerId: IDS.customer,
        direction: 'inbound',
        since: new Date('2025-12-31T22:00:00Z'),
        until: new Date('2026-02-01T00:00:00Z'),
        limit: 200,
        cursor: 'c',
        within: null,
      },
      {
        customerId: IDS.customer,
        direction: null,
        since: null,
        until: null,
        limit: 50,
        cursor: null,
        within: null,
      },
    ]);
  });

  it.each([
    ['limit=0', 'invalid_request', 'limit'],
    ['limit=201', 'invalid_request', 'limit'],
    ['limit=1.5', 'invalid_request', 'limit'],
    ['limit=', 'invalid_request', 'limit'],
    ['limit=1&limit=2', 'invalid_request', 'limit'],
    ['direction=sideways', 'invalid_request', 'direction'],
    ['since=2026-01-01', 'invalid_request', 'since'],
    ['since=2026-02-30T00:00:00Z', 'invalid_request', 'since'],
    ['until=2026-06-30T23:59:60Z', 'invalid_request', 'until'],
    ['until=yesterday', 'invalid_request', 'until'],
    ['cursor=', 'invalid_request', 'cursor'],
    [`cursor=${'x'.repeat(513)}`, 'invalid_request', 'cursor'],
    ['dircetion=inbound', 'unknown_parameter', 'dircetion'],
    ['__proto__=1', 'unknown_parameter', '__proto__'],
  ])('refuses %s', async (query, code, name) => {
    const response = await ask(`${url}?${query}`);
    expect(response.statusCode).toBe(400);
    expect(response.json().code).toBe(code);
    expect(response.json().error).toContain(name);
  });
});

describe('email detail', () => {
  it('answers everything known, in snake_case', async () => {
    expect((await ask(`/api/emails/${IDS.email}`)).json()).toMatchObject({
      thread_id: IDS.thread,
      account_id: 'main',
      customer_id: IDS.customer,
      company_id: null,
      cc_addresses: [{ name: 'C', address: 'c@example.org' }],
      bcc_addresses: [],
      html_body: '<p>Hallo</p>',
      in_reply_to: ['<one@example.org>'],
      references: ['<zero@example.org>', '<one@example.org>'],
      relay_message_id: '<relay@example.net>',
      state: 'sent',
      state_detail: null,
      recipients: [
        {
          address: 'bob@example.org',
          state: 'accepted',
          reply: { code: 250, enhanced_status: '2.0.0', text: 'Ok' },
        },
        { address: 'c@example.org', state: 'unknown', reply: null },
      ],
      placement: { rule: 'in_reply_to', matched_message_id: '<one@example.org>' },
      size_bytes: 1234,
      created_at: '2026-01-31T12:00:01.000Z',
    });
  });
});

describe('errors', () => {
  it.each([
    ['/api/nope', 404, 'not_found'],
    ['/', 404, 'not_found'],
    ['/api/health/', 404, 'not_found'],
    ['/api/thread', 404, 'not_found'],
    ['/api/thread/%zz', 400, 'invalid_request'],
    [`/api/health?${'x'.repeat(5000)}`, 414, 'uri_too_long'],
  ])('answers GET %s', async (url, status, code) => {
    const response = await ask(url);
    expect(response.statusCode).toBe(status);
    expect(response.json()).toMatchObject({ error: expect.stringMatching(/\S/), code });
  });

  it.each([
    ['DELETE', '/api/send', 'OPTIONS, POST'],
    ['GET', '/api/send', 'OPTIONS, POST'],
    ['POST', `/api/thread/${IDS.thread}`, 'GET, HEAD, OPTIONS'],
    ['PUT', '/api/health', 'GET, HEAD, OPTIONS'],
    ['PROPFIND' as 'GET', '/api/health', 'GET, HEAD, OPTIONS'],
  ] as const)('answers %s %s with 405 and what is allowed', async (method, url, allow) => {
    const response = await ask({ method, url, ...(method === 'GET' ? {} : { payload: '<x/>' }) });
    expect(response.statusCode).toBe(405);
    expect(response.headers['allow']).toBe(allow);
    expect(response.json().code).toBe('method_not_allowed');
  });

  it('answers OPTIONS with what is allowed, and without CORS', async () => {
    const response = await ask({
      method: 'OPTIONS',
      url: '/api/send',
      headers: { origin: 'https://evil.test' },
    });
    expect(response.statusCode).toBe(204);
    expect(response.headers['allow']).toBe('OPTIONS, POST');
    expect(Object.keys(response.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  it('answers HEAD with the headers of GET', async () => {
    const response = await ask({ method: 'HEAD', url: `/api/thread/${IDS.thread}` });
    expect(response.statusCode).toBe(200);
    expect(response.body).toBe('');
    expect(Number(response.headers['content-length'])).toBeGreaterThan(500);
  });

  it('hides what went wrong inside, and logs it once with its cause', async () => {
    const cause = new Error('password=hunter2 at /srv/app.js:1');
    const application = createRecordingApplication({ listThreads: () => Promise.reject(cause) });
    const response = await ask('/api/threads?q=secret', { application });
    expect(response.statusCode).toBe(500);
    expect(response.json()).toMatchObject({ error: 'Interner Fehler.', code: 'internal_error' });
    expect(app?.logs).toHaveLength(1);
    expect(app?.logs[0]).toMatchObject({
      level: 'error',
      fields: { code: 'internal_error', method: 'GET', route: '/api/threads', err: { cause } },
    });
    expect(JSON.stringify(app?.logs)).not.toContain('secret');
  });

  it.each([undefined, null, 'text', 42])('survives that %j is thrown', async (thrown) => {
    const application = createRecordingApplication({ readThread: () => Promise.reject(thrown) });
    const response = await ask(`/api/thread/${IDS.thread}`, { application });
    expect(response.statusCode).toBe(500);
    expect(response.json().code).toBe('internal_error');
  });

  it('does not trust a status or a code that an unknown error brings along', async () => {
    const thrown = Object.assign(new Error('x'), { statusCode: 200, code: 'ok' });
    const application = createRecordingApplication({ readThread: () => Promise.reject(thrown) });
    expect((await ask(`/api/thread/${IDS.thread}`, { application })).statusCode).toBe(500);
  });

  it('says when to try again while the database is unavailable, and logs it', async () => {
    const application = createRecordingApplication({
      readThread: () => Promise.reject(new ServiceError('database_unavailable', { cause: new Error('x') })),
    });
    const response = await ask(`/api/thread/${IDS.thread}`, { application });
    expect(response.statusCode).toBe(503);
    expect(response.headers['retry-after']).toBe('5');
    expect(app?.logs).toMatchObject([{ level: 'warn', fields: { code: 'database_unavailable' } }]);
  });

  it('logs nothing for mistakes of the caller', async () => {
    await ask('/api/thread/x');
    await ask('/api/nope');
    expect(app?.logs).toEqual([]);
  });

  it('has its security headers on every answer', async () => {
    for (const url of ['/api/health', '/api/nope', '/api/thread/x', '/api/thread/%zz']) {
      expect((await ask(url)).headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
        'cache-control': 'no-store',
      });
    }
    for (const url of [
      '/api/docs',
      '/api/docs/static/index.css',
      '/api/docs/none',
      '/unsubscribe/x',
      '/api/nope',
    ]) {
      expect([url, (await ask(url)).headers]).toEqual([
        url,
        expect.objectContaining({
          'x-content-type-options': 'nosniff',
          'content-security-policy': expect.stringContaining("default-src 'none'") as string,
          'cross-origin-opener-policy': 'same-origin',
          'cross-origin-resource-policy': 'same-origin',
          'referrer-policy': 'no-referrer',
        }),
      ]);
    }
  });
});

describe('shutdown', () => {
  it('refuses new requests and lets running ones finish', async () => {
    let finish = (): void => {};
    const running = new Promise<void>((resolve) => (finish = resolve));
    const application = createRecordingApplication();
    const { readThread } = application;
    const { fastify, shutdown } = await start({
      application: { ...application, readThread: (...asked) => running.then(() => readThread(...asked)) },
    });
    const slow = ask(`/api/thread/${IDS.thread}`);
    await new Promise(setImmediate);
    shutdown.end();
    for (const url of ['/api/health', `/api/thread/${IDS.thread}`]) {
      const refused = await fastify.inject(url);
      expect(refused.statusCode).toBe(503);
      expect(refused.headers).toMatchObject({ connection: 'close', 'retry-after': '5' });
      expect(refused.json().code).toBe('shutting_down');
    }
    finish();
    expect((await slow).statusCode).toBe(200);
  });
});

describe('limits', () => {
  it.each([0, -1, 1.5, Number.NaN, Infinity, '5' as unknown as number])('refuses %j', (value) => {
    expect(() => createHttpLimits({ maxTextBytes: value })).toThrow(TypeError);
  });

  it('makes room for Base64 and escapes when more attachments are allowed', () => {
    expect(createHttpLimits({ maxAttachmentBytes: 100 * 1024 * 1024 }).maxBodyBytes).toBe(210 * 1024 * 1024);
  });
});
