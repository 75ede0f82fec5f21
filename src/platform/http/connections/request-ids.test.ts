import { afterEach, describe, expect, it } from 'vitest';
import { currentRequestId } from '../../base/request-scope.ts';
import { toEmailsJson } from '../../../../test/helpers/emails-json.ts';
import { connectRaw } from '../../../../test/helpers/raw-client.ts';
import {
  AUTHORIZED,
  createTestHttpApp,
  SECRET,
  type TestHttpApp,
} from '../../../../test/helpers/http-app.ts';
import { createRecordingApplication } from '../../../../test/helpers/recording-application.ts';
import { IDS } from '../../../../test/helpers/sample-emails.ts';
import { createAccessLines, type AccessLines } from './access-lines.ts';
import type { AnsweredRequest } from './answered-request.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

let app: TestHttpApp;
afterEach(() => app.close());

describe('X-Request-Id', () => {
  it.each([
    ['a secured route', `/api/thread/${IDS.thread}`, AUTHORIZED],
    ['a wrong secret', `/api/thread/${IDS.thread}`, { authorization: 'Bearer wrong' }],
    ['a path that no route has', '/nothing', {}],
    ['a path that can not be read', '/%zz', {}],
    ['the documentation', '/api/docs', {}],
    ['a file of the documentation that is not there', '/api/docs/static/none.js', {}],
  ])('is in the answer of %s', async (_name, url, headers) => {
    app = await createTestHttpApp({ application: createRecordingApplication() });
    const made = await app.fastify.inject({ url, headers });
    expect(made.headers['x-request-id']).toMatch(UUID);
    const given = await app.fastify.inject({ url, headers: { ...headers, 'x-request-id': 'crm:4711' } });
    expect(given.headers['x-request-id']).toBe('crm:4711');
    const unsafe = await app.fastify.inject({ url, headers: { ...headers, 'x-request-id': '{"a": 1}' } });
    expect(unsafe.headers['x-request-id']).toMatch(UUID);
  });

  it('is new where a caller sends two, and in an answer to what is no HTTP', async () => {
    app = await createTestHttpApp({ application: createRecordingApplication() });
    const port = await app.listen();
    const two = await connectRaw(port);
    await two.write('GET /api/health HTTP/1.1\r\nHost: x\r\nX-Request-Id: a\r\nX-Request-Id: b\r\n');
    await two.write('Connection: close\r\n\r\n');
    expect(await two.closed()).toMatch(/^x-request-id: [0-9a-f-]{36}\r$/m);
    const broken = await connectRaw(port);
    await broken.write('nonsense\r\n\r\n');
    expect(await broken.closed()).toMatch(/^X-Request-Id: [0-9a-f-]{36}\r$/m);
  });

  it('follows what a request awaits, each its own', async () => {
    const seen: (string | undefined)[] = [];
    let open: () => void = () => undefined;
    const together = new Promise<void>((resolve) => (open = resolve));
    const application = createRecordingApplication({
      checkReadiness: async () => {
        seen.push(currentRequestId());
        if (seen.length === 2) open();
        await together;
        seen.push(currentRequestId());
        return { ready: true, checks: [] };
      },
      readThread: async () => {
        seen.push(currentRequestId());
        if (seen.length === 2) open();
        await together;
        seen.push(currentRequestId());
        return { version: '1', emails: toEmailsJson([]) };
      },
    });
    app = await createTestHttpApp({ application });
    const ask = (url: string, id: string) =>
      app.fastify.inject({ url, headers: { ...AUTHORIZED, 'x-request-id': id } });
    await Promise.all([ask('/api/health/ready', 'one'), ask(`/api/thread/${IDS.thread}`, 'two')]);
    expect(seen.toSorted()).toEqual(['one', 'one', 'two', 'two']);
    expect(currentRequestId()).toBeUndefined();
  });

  it('stands in the lines of a failure also where requests are not followed', async () => {
    const application = createRecordingApplication({
      readThread: async () => {
        throw new Error('of the program');
      },
    });
    app = await createTestHttpApp({ application, followsRequests: false });
    const headers = { ...AUTHORIZED, 'x-request-id': 'one' };
    await app.fastify.inject({ url: `/api/thread/${IDS.thread}`, headers });
    expect(app.logs).toMatchObject([{ message: 'request failed', fields: { requestId: 'one' } }]);
  });
});

describe('the access log', () => {
  const lines: Record<string, unknown>[] = [];

  async function start(mode: AccessLines, application = createRecordingApplication()): Promise<void> {
    lines.length = 0;
    const logger = { info: (fields: object) => void lines.push({ ...fields }) };
    app = await createTestHttpApp({ application, observers: [createAccessLines(logger, mode)] });
  }

  it('has a line for each request, with its route and not its path', async () => {
    await start('routes');
    const url = '/api/addresses?prefix=ada@example.org';
    const { payload, statusCode } = await app.fastify.inject({
      url,
      headers: { ...AUTHORIZED, 'x-request-id': 'one' },
    });
    await expect.poll(() => lines).toHaveLength(1);
    expect(lines[0]).toEqual({
      log: 'access',
      requestId: 'one',
      address: '127.0.0.1',
      method: 'GET',
      route: '/api/addresses',
      status: statusCode,
      ms: expect.any(Number),
      bytes: Buffer.byteLength(payload),
      by: { credential: 1 },
    });
  });

  it('has paths where they are wanted, but none that a token stands in, and never a secret', async () => {
    await start('paths');
    const urls = [
      // Parameters that the route does not have may be secrets.
      '/api/threads?limit=1&access_token=a-token&a-token',
      '/unsubscribe/a-token-of-a-recipient',
      '/unsubscribed/a-token-and-a-typo',
    ];
    for (const url of urls) await app.fastify.inject({ url, headers: AUTHORIZED });
    await expect.poll(() => lines).toHaveLength(3);
    expect(lines.map(({ path }) => path)).toEqual(['/api/threads?limit=1&…&…', undefined, undefined]);
    const text = JSON.stringify(lines);
    expect(text).not.toContain('a-token');
    expect(text).not.toContain(SECRET);
  });

  it('tells of a client that went away before its answer', async () => {
    let asked: () => void = () => undefined;
    const isAsked = new Promise<void>((resolve) => (asked = resolve));
    let answer: () => void = () => undefined;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    await start(
      'routes',
      createRecordingApplication({
        readThread: async () => {
          asked();
          await answered;
          return { version: '1', emails: toEmailsJson([]) };
        },
      }),
    );
    const client = await connectRaw(await app.listen());
    await client.write(
      `GET /api/thread/${IDS.thread} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${SECRET}\r\n\r\n`,
    );
    await isAsked;
    client.socket.destroy();
    await expect.poll(() => lines).toHaveLength(1);
    answer();
    expect(lines[0]).toMatchObject({ route: '/api/thread/:threadId', status: null });
  });
});

it('observers are told of a path without a route, by no name that a caller chose', async () => {
  const told: AnsweredRequest[] = [];
  app = await createTestHttpApp({
    application: createRecordingApplication(),
    observers: [(answered) => told.push(answered)],
  });
  await app.fastify.inject('/made/up');
  await expect.poll(() => told).toHaveLength(1);
  expect(told[0]).toMatchObject({ route: null, status: 404 });
});
