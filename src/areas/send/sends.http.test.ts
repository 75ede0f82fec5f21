import { afterEach, describe, expect, it } from 'vitest';
import { AUTHORIZED, createTestHttpApp, type TestHttpApp } from '../../../test/helpers/http-app.ts';
import { createRecordingApplication } from '../../../test/helpers/recording-application.ts';
import { IDS } from '../../../test/helpers/sample-emails.ts';
import type { Application } from '../../api/application.ts';
import type { EmailsRequest } from '../emails/use-cases.ts';
import type { SendRequest } from './use-cases.ts';
import { ServiceError } from '../../core/errors.ts';

const apps: TestHttpApp[] = [];

afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
});

async function createApp(overrides: Partial<Application> = {}) {
  const application = createRecordingApplication(overrides);
  const app = await createTestHttpApp({ application });
  apps.push(app);
  return { app, application };
}

async function call(
  method: 'GET' | 'POST',
  url: string,
  options: { overrides?: Partial<Application>; headers?: Record<string, string>; body?: unknown } = {},
) {
  const { app, application } = await createApp(options.overrides);
  const response = await app.fastify.inject({
    method,
    url,
    headers: { ...AUTHORIZED, ...options.headers },
    ...(options.body === undefined ? {} : { payload: options.body as object }),
  });
  return { response, json: response.json<Record<string, unknown>>(), application };
}

const BODY = { to: 'a@example.com', subject: 's', text_body: 't' };

const queued: Partial<Application> = {
  sendMessage: async (_request, folder) => {
    await folder.remove();
    return { kind: 'queued', id: IDS.email, messageId: 'abc@example.com' as never, threadId: IDS.thread };
  },
};

describe('a send for the queue', () => {
  it('is answered with 202, the preference applied', async () => {
    const { response, json } = await call('POST', '/api/send', {
      overrides: queued,
      headers: { prefer: 'respond-async' },
      body: BODY,
    });
    expect(response.statusCode).toBe(202);
    expect(response.headers).toMatchObject({
      'preference-applied': 'respond-async',
      location: `/api/emails/${IDS.email}`,
    });
    expect(json).toEqual({
      status: 'queued',
      id: IDS.email,
      messageId: '<abc@example.com>',
      threadId: IDS.thread,
    });
  });

  it('may be scheduled without a preference', async () => {
    const { response } = await call('POST', '/api/send', {
      overrides: queued,
      body: { ...BODY, send_at: '2026-12-01T08:00:00+01:00' },
    });
    expect(response.statusCode).toBe(202);
    expect(response.headers['preference-applied']).toBeUndefined();
  });

  it('hands on what was asked for', async () => {
    const { application } = await call('POST', '/api/send', {
      headers: { prefer: 'respond-async' },
      body: { ...BODY, send_at: '2026-12-01T08:00:00.5+01:00', priority: 'high', lane: 'reminders' },
    });
    expect(application.sends[0]?.request).toMatchObject({
      respondAsync: true,
      sendAt: new Date('2026-12-01T07:00:00.500Z'),
      priority: 'high',
      lane: 'reminders',
    } satisfies Partial<SendRequest>);
  });

  it.each([
    [{ send_at: '2026-12-01' }, 'invalid_send_at'],
    [{ send_at: '2026-12-01T08:00:00' }, 'invalid_send_at'],
    [{ send_at: '2026-13-01T08:00:00Z' }, 'invalid_send_at'],
    [{ send_at: '2027-02-29T08:00:00Z' }, 'invalid_send_at'],
    [{ send_at: '2027-02-30T08:00:00Z' }, 'invalid_send_at'],
    [{ send_at: '2027-04-31T08:00:00Z' }, 'invalid_send_at'],
    [{ send_at: '2026-12-01T24:00:00Z' }, 'invalid_send_at'],
    [{ send_at: 'tomorrow' }, 'invalid_send_at'],
    [{ send_at: 5 }, 'invalid_request'],
    [{ priority: 'urgent' }, 'invalid_request'],
    [{ priority: 1 }, 'invalid_request'],
    [{ lane: ['a'] }, 'invalid_request'],
  ])('with %j is refused', async (fields, code) => {
    const { response, json } = await call('POST', '/api/send', { body: { ...BODY, ...fields } });
    expect([response.statusCode, json['code']]).toEqual([400, code]);
  });

  it.each([
    ['metadata', '{"n":1e400}'],
    ['metadata', '{"a":[{"n":-1e999}]}'],
    ['metadata', '{"n":-0}'],
    ['metadata', '{"n":-0.0e5}'],
    ['variables', '{"n":1e400}'],
  ])('with %s %s, which JSON can not give back, is refused', async (field, value) => {
    const { app } = await createApp();
    const body = `${JSON.stringify({ ...BODY, template_id: IDS.thread }).slice(0, -1)},"${field}":${value}}`;
    const response = await app.fastify.inject({
      method: 'POST',
      url: '/api/send',
      headers: { ...AUTHORIZED, 'content-type': 'application/json' },
      body,
    });
    expect([response.statusCode, response.json()['code']]).toEqual([400, 'invalid_request']);
    expect(response.json()['error']).toContain(field);
  });

  it('over the limit of its account is told when to try again', async () => {
    const { response, json } = await call('POST', '/api/send', {
      overrides: {
        sendMessage: async (_request, folder) => {
          await folder.remove();
          throw new ServiceError('rate_limited', { retryAfterSeconds: 42 });
        },
      },
      body: BODY,
    });
    expect([response.statusCode, json['code'], response.headers['retry-after']]).toEqual([
      429,
      'rate_limited',
      '42',
    ]);
  });
});

describe('GET /api/emails', () => {
  it('lists emails with their state', async () => {
    const requests: EmailsRequest[] = [];
    const { application } = await createApp();
    const { response, json } = await call('GET', '/api/emails?state=deferred&account_id=main&limit=7', {
      overrides: {
        listEmails: async (request) => {
          requests.push(request);
          return { ...(await application.listEmails(request)), nextCursor: 'next' };
        },
      },
    });
    expect(response.statusCode).toBe(200);
    expect(requests).toEqual([
      {
        q: null,
        searchIn: {},
        state: 'deferred',
        defect: null,
        tag: null,
        accountId: 'main',
        within: null,
        limit: 7,
        cursor: null,
      },
    ]);
    expect(json['next_cursor']).toBe('next');
    expect(json['emails']).toEqual([
      expect.objectContaining({
        id: IDS.email,
        message_id: '<abc@example.com>',
        state: 'deferred',
        state_detail: '451 4.7.1 later',
        thread_id: IDS.thread,
        account_id: 'main',
        next_attempt_at: '2026-01-31T12:05:00.000Z',
      }),
    ]);
  });

  it.each(['state=gone', 'limit=0', 'limit=201', 'cursor=', 'stat=sent'])('refuses %s', async (query) => {
    const { response } = await call('GET', `/api/emails?${query}`);
    expect(response.statusCode).toBe(400);
  });
});

describe('an email in full', () => {
  it('tells its attempts', async () => {
    const { json } = await call('GET', `/api/emails/${IDS.email}`);
    expect(json).toMatchObject({
      attempts: [
        {
          number: 1,
          started_at: '2026-01-31T12:00:00.200Z',
          ended_at: '2026-01-31T12:00:00.900Z',
          outcome: 'accepted',
          reply: { code: 250, enhanced_status: '2.0.0', text: 'Ok' },
          detail: '250 2.0.0 Ok',
        },
      ],
      next_attempt_at: null,
      give_up_at: null,
    });
  });
});

describe('an operator', () => {
  it.each([
    ['{"outcome":"lost"}', 400, 'invalid_request'],
    ['{}', 400, 'invalid_request'],
    ['[]', 400, 'invalid_request'],
    ['{"outcome":"sent","x":1}', 400, 'unknown_field'],
    ['{', 400, 'invalid_json'],
    ['"\ufffd', 400, 'invalid_json'],
    [`"${'x'.repeat(5000)}"`, 413, 'payload_too_large'],
  ])('that resolves with %s is refused', async (payload, status, code) => {
    const { response, json } = await call('POST', `/api/emails/${IDS.email}/resolve`, {
      headers: { 'content-type': 'application/json' },
      body: payload,
    });
    expect([response.statusCode, json['code']]).toEqual([status, code]);
  });

  it.each(['x', `${IDS.email}0`])('is told that %s is no email', async (id) => {
    const { json } = await call('POST', `/api/emails/${id}/cancel`);
    expect(json['code']).toBe('invalid_uuid');
  });

  it('needs the secret', async () => {
    const { app } = await createApp();
    for (const verb of ['cancel', 'retry', 'resolve']) {
      const response = await app.fastify.inject({ method: 'POST', url: `/api/emails/${IDS.email}/${verb}` });
      expect(response.statusCode).toBe(401);
    }
  });
});
