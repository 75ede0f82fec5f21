import { afterEach, describe, expect, it } from 'vitest';
import { AUTHORIZED, createTestHttpApp, type TestHttpApp } from '../../test/helpers/http-app.ts';
import { createRecordingApplication } from '../../test/helpers/recording-application.ts';
import { IDS } from '../../test/helpers/sample-emails.ts';

let app: TestHttpApp;
afterEach(() => app.close());

async function call(method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, body?: unknown) {
  app = await createTestHttpApp({ application: createRecordingApplication() });
  const response = await app.fastify.inject({
    method,
    url,
    headers: { ...AUTHORIZED, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
  });
  return { status: response.statusCode, ...response.json<{ code?: string; error?: string }>() };
}

const NOTE = '/api/suppressions/x@example.org';
const ADDRESSES = `/api/customer/${IDS.customer}/addresses`;
const KEYS = '/api/keys';
const KEY = { name: 'CRM', rights: ['read'] };
const SPLIT = `/api/thread/${IDS.thread}/split`;

describe('a small JSON body', () => {
  it.each([
    ['PUT', NOTE, { note: 5 }, 'note muss eine Zeichenkette sein.'],
    ['PUT', NOTE, { note: true }, 'note muss eine Zeichenkette sein.'],
    ['PUT', NOTE, { note: ['a'] }, 'note muss eine Zeichenkette sein.'],
    [
      'PUT',
      ADDRESSES,
      { addresses: [null], domains: [] },
      'addresses[0] muss eine Zeichenkette oder ein Objekt sein.',
    ],
    [
      'PUT',
      ADDRESSES,
      { addresses: [], domains: ['a', 5] },
      'domains[1] muss eine Zeichenkette oder ein Objekt sein.',
    ],
    [
      'PUT',
      ADDRESSES,
      { addresses: [{ address: 5 }], domains: [] },
      'addresses[0].address muss eine Zeichenkette sein.',
    ],
    ['POST', KEYS, { ...KEY, account_ids: 5 }, 'account_ids muss eine Zeichenkette oder eine Liste sein.'],
    ['POST', KEYS, { ...KEY, account_ids: [5] }, 'account_ids[0] muss eine Zeichenkette sein.'],
    ['POST', KEYS, { ...KEY, account_ids: [null] }, 'account_ids[0] muss eine Zeichenkette sein.'],
    ['POST', KEYS, { ...KEY, account_ids: 'info' }, 'account_ids hat nicht die verlangte Form.'],
    ['PUT', ADDRESSES, { addresses: 'a@example.org', domains: [] }, 'addresses muss eine Liste sein.'],
    ['POST', SPLIT, { email_ids: IDS.email }, 'email_ids muss eine Liste sein.'],
    ['POST', SPLIT, { email_ids: [] }, 'email_ids muss mindestens einen Eintrag haben.'],
    ['POST', SPLIT, {}, 'email_ids fehlt.'],
    ['POST', SPLIT, [], 'Ein JSON-Objekt wird erwartet.'],
    ['POST', SPLIT, null, 'Ein JSON-Objekt wird erwartet.'],
  ] as const)('%s %s %j is refused', async (method, url, body, detail) => {
    expect(await call(method, url, body)).toMatchObject({
      status: 400,
      code: 'invalid_request',
      error: `Die Anfrage ist ungültig: ${detail}`,
    });
  });

  it.each([
    ['PUT', ADDRESSES, { adresses: [] }, 'adresses'],
    ['PUT', ADDRESSES, JSON.parse('{"__proto__":1}'), '__proto__'],
    ['POST', `/api/thread/${IDS.thread}/read`, { x: 1 }, 'x'],
    ['POST', `/api/thread/${IDS.thread}/unread`, { x: 1 }, 'x'],
    ['POST', `/api/emails/${IDS.email}/cancel`, { x: 1 }, 'x'],
    ['POST', `/api/emails/${IDS.email}/retry`, { send_at: '2026-01-01T00:00:00Z' }, 'send_at'],
    ['POST', `/api/quarantine/${IDS.email}/retry`, { x: 1 }, 'x'],
    ['DELETE', NOTE, { note: 'x' }, 'note'],
  ] as const)(
    '%s %s %j is refused for its unknown field before anything else',
    async (method, url, body, field) => {
      expect(await call(method, url, body)).toMatchObject({
        status: 400,
        code: 'unknown_field',
        error: expect.stringContaining(field),
      });
    },
  );

  it.each([
    ['PUT', NOTE, '{"note":"a","note":"a"}', 'note'],
    ['PUT', NOTE, '{"note":"a","\\u006eote":"b"}', 'note'],
    ['PUT', ADDRESSES, '{"addresses":[],"domains":[],"addresses":["a@example.org"]}', 'addresses'],
    ['PUT', ADDRESSES, '{"addresses":[{"x":1,"x":2}],"domains":[]}', 'x'],
    ['PUT', ADDRESSES, '{"__proto__":1,"__proto__":2}', '__proto__'],
    ['POST', SPLIT, '{"email_ids":[],"email_ids":[]}', 'email_ids'],
    ['POST', `/api/thread/${IDS.thread}/read`, '{"x":1,"x":1}', 'x'],
  ] as const)('%s %s %s is refused for the field that it names twice', async (method, url, body, field) => {
    app = await createTestHttpApp({ application: createRecordingApplication() });
    const headers = { ...AUTHORIZED, 'content-type': 'application/json' };
    const response = await app.fastify.inject({ method, url, headers, payload: body });
    expect(response.statusCode).toBe(400);
    expect(response.json()).toMatchObject({
      error: `Das Feld ${field} ist mehrfach angegeben.`,
      code: 'duplicate_field',
    });
  });

  describe.each([
    ['POST', `/api/thread/${IDS.thread}/read`],
    ['POST', `/api/emails/${IDS.email}/cancel`],
    ['POST', `/api/emails/${IDS.email}/retry`],
    ['POST', `/api/quarantine/${IDS.email}/retry`],
    ['DELETE', NOTE],
  ] as const)('%s %s needs none', (method, url) => {
    it.each([undefined, {}])('and takes %j', async (body) => {
      expect(await call(method, url, body)).toMatchObject({ status: 200 });
    });

    it('and refuses what is no JSON', async () => {
      app = await createTestHttpApp({ application: createRecordingApplication() });
      const headers = { ...AUTHORIZED, 'content-type': 'text/plain' };
      const response = await app.fastify.inject({ method, url, headers, payload: 'x' });
      expect(response.statusCode).toBe(415);
    });
  });
});

it.each(['unread=true&unread=false', 'limit=1&limit=2', 'unread=true&unread=true'])(
  '%s is told that it is given more than once',
  async (query) => {
    expect(await call('GET', `/api/threads?${query}`)).toMatchObject({
      status: 400,
      code: 'invalid_request',
      error: expect.stringMatching(/: (unread|limit) ist mehrfach angegeben\.$/),
    });
  },
);
