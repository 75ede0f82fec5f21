/** DNS rebinding: the name under which a request comes, on every door. */
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import {
  disposeService,
  startServiceProcess,
  TEST_SECRET,
  type ServiceProcess,
} from '../helpers/service-process.ts';

let database: TestDatabase;
let service: ServiceProcess;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await startServiceProcess({
    env: {
      DATABASE_URL: database.connectionString,
      PUBLIC_URL: 'https://mail.example.com/post',
      ALLOWED_HOSTS: 'mail.intern.example, Post',
      TRUSTED_PROXIES: '127.0.0.1',
    },
  });
});
afterAll(async () => {
  await disposeService(service);
  await database.drop();
});

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly cookie: string;
}

/** `fetch` sends the host of the address. */
function ask(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body = '',
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(service.url + path, { method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => (text += part));
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          text,
          cookie: response.headers['set-cookie']?.[0]?.split(';')[0] ?? '',
        }),
      );
    });
    request.on('error', reject);
    request.end(body);
  });
}

const JSON_BODY = { 'content-type': 'application/json' };
const BEARER = { authorization: `Bearer ${TEST_SECRET}` };
const LOGIN = JSON.stringify({ secret: TEST_SECRET });

describe('a request under a name that leads here, but is not ours', () => {
  it('is refused on every door, by an error that names the variable', async () => {
    const { cookie } = await ask('POST', '/api/session', JSON_BODY, LOGIN);
    expect(cookie).not.toBe('');
    const doors: readonly (readonly [string, string, Readonly<Record<string, string>>, string?])[] = [
      ['GET', '/', { accept: 'text/html' }],
      ['GET', '/t/x', { accept: 'text/html' }],
      ['GET', '/assets/none.js', {}],
      ['GET', '/api/threads', { cookie }],
      ['GET', '/api/events', { cookie, accept: 'text/event-stream' }],
      ['POST', '/mcp', { cookie, ...JSON_BODY }, '{}'],
      ['POST', '/api/session', JSON_BODY, LOGIN],
      // A bearer of its own choice opens no door to log in.
      ['POST', '/api/session', { ...JSON_BODY, authorization: 'Bearer x' }, LOGIN],
      ['GET', '/api/docs', {}],
      ['GET', '/api/openapi.json', {}],
      ['GET', '/unsubscribe/x', {}],
      ['GET', '/api/nope', {}],
    ];
    for (const host of ['evil.test', 'evil.test:3000', 'localhost.evil.test', '127.0.0.1.evil.test']) {
      for (const [method, path, headers, body] of doors) {
        const { status, text } = await ask(method, path, { ...headers, host }, body);
        expect([host, method, path, status, text]).toEqual([
          host,
          method,
          path,
          421,
          expect.stringContaining('unknown_host'),
        ]);
        expect(text).toContain('ALLOWED_HOSTS');
      }
    }
  });

  it('is refused whatever it claims of a proxy', async () => {
    const forwarded = { 'x-forwarded-host': 'localhost', 'x-forwarded-proto': 'https' };
    expect((await ask('GET', '/', { host: 'evil.test', ...forwarded })).status).toBe(421);
    expect((await ask('GET', '/', { 'x-forwarded-host': 'evil.test' })).status).toBe(421);
  });
});

describe('a request under another name', () => {
  it.each([
    'localhost',
    'localhost:3000',
    'app.localhost',
    '127.0.0.1',
    '192.0.2.7:9999',
    '[::1]:3000',
    '[2001:db8::1]',
    'mail.example.com',
    'MAIL.EXAMPLE.COM.',
    'mail.intern.example:8080',
    'post',
  ])('is answered when the name is ours or an address: %s', async (host) => {
    expect((await ask('GET', '/api/openapi.json', { host })).status).toBe(200);
  });

  it('is answered for probes, and for programs, whose bearer no page knows', async () => {
    const host = 'email-worker.mail.svc';
    for (const path of ['/api/health', '/api/health/ready'])
      expect([path, (await ask('GET', path, { host })).status]).toEqual([path, 200]);
    expect((await ask('GET', '/api/threads', { host, ...BEARER })).status).toBe(200);
    expect((await ask('GET', '/api/threads', { host, authorization: 'Bearer x' })).status).toBe(401);
  });
});
