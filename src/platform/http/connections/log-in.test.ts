/** Failed log-ins are counted, slowed down and logged; and who gets a connection when there are too many. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createTestHttpApp, SECRET, type TestHttpApp } from '../../../../test/helpers/http-app.ts';
import { connectRaw, type RawClient } from '../../../../test/helpers/raw-client.ts';
import { createRecordingApplication } from '../../../../test/helpers/recording-application.ts';
import { IDS } from '../../../../test/helpers/sample-emails.ts';
import type { ShownKey } from '../../access/key-ring.ts';
import { MAX_FAILURES } from './login-failures.ts';

/** Any token is a key of its own. */
const KEYS = {
  find: (token: string): ShownKey => ({
    caller: {
      author: { kind: 'key', id: token, name: token },
      rights: ['read'],
      accounts: null,
      expiresAt: null,
      rateLimit: null,
    },
    isValid: () => true,
  }),
  whyRefused: () => null,
  refresh: () => Promise.resolve(),
};

let app: TestHttpApp;
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await app.close();
});

async function start(options: Partial<Parameters<typeof createTestHttpApp>[0]> = {}): Promise<void> {
  app = await createTestHttpApp({ application: createRecordingApplication(), ...options });
}

async function get(
  secret: string | null,
  { from = '192.0.2.1', ...headers }: Readonly<Record<string, string>> = {},
): Promise<{ status: number; headers: Record<string, unknown>; json: Record<string, unknown> }> {
  const response = await app.fastify.inject({
    url: `/api/thread/${IDS.thread}`,
    remoteAddress: from,
    headers: { ...headers, ...(secret === null ? {} : { authorization: `Bearer ${secret}` }) },
  });
  return { status: response.statusCode, headers: response.headers, json: response.json() };
}

async function failTooOften(headers: Readonly<Record<string, string>> = {}): Promise<void> {
  for (let failure = 0; failure < MAX_FAILURES; failure++) {
    expect((await get(`wrong-${failure}`, headers)).status).toBe(401);
  }
}

describe('an address with too many wrong secrets', () => {
  it('gets 429, with the time to wait and a closed connection', async () => {
    await start();
    await failTooOften();
    const { status, headers, json } = await get('wrong');
    expect(status).toBe(429);
    expect(json).toMatchObject({
      error:
        'Zu viele Anfragen mit falschem Zugangsgeheimnis. Bitte später erneut versuchen; das richtige gilt jederzeit.',
      code: 'too_many_failed_logins',
    });
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(headers['retry-after'])).toBeLessThanOrEqual(60);
    expect(headers['connection']).toBe('close');
  });

  it('gets in with the right one all the same, so that clients behind the same proxy are not locked out', async () => {
    await start();
    await failTooOften();
    expect((await get('wrong')).status).toBe(429);
    expect((await get(SECRET)).status).toBe(200);
    expect((await get('wrong')).status).toBe(429);
  });

  it('does not slow down other addresses, requests without a secret, and operations that need none', async () => {
    await start();
    await failTooOften();
    expect((await get('wrong', { from: '192.0.2.2' })).status).toBe(401);
    expect((await get(null)).status).toBe(401);
    const health = await app.fastify.inject({ url: '/api/health', remoteAddress: '192.0.2.1' });
    expect(health.statusCode).toBe(200);
  });

  it('is an IPv6 network of 64 bits', async () => {
    await start();
    for (let host = 0; host < MAX_FAILURES; host++)
      await get('wrong', { from: `2001:db8::${host.toString(16)}` });
    expect((await get('wrong', { from: '2001:db8::abc:1' })).status).toBe(429);
    expect((await get('wrong', { from: '2001:db8:0:1::1' })).status).toBe(401);
  });

  it('is in the security log, a few times, and never with the secrets it tried', async () => {
    await start();
    await failTooOften();
    for (let failure = 0; failure < 60; failure++) await get('almost-the-secret');
    await get(null, { from: '192.0.2.9' });
    expect(app.events).toEqual([
      { event: 'login.failed', address: '192.0.2.1', reason: 'wrong', count: 1 },
      { event: 'login.failed', address: '192.0.2.1', reason: 'wrong', count: 10 },
      { event: 'login.throttled', address: '192.0.2.1', count: MAX_FAILURES + 1 },
      { event: 'login.failed', address: '192.0.2.1', reason: 'wrong', count: 100 },
      { event: 'login.failed', address: '192.0.2.9', reason: 'missing', count: 1 },
    ]);
  });
});

describe('X-Forwarded-For', () => {
  const forwarded = (address: string) => ({ from: '10.0.0.1', 'x-forwarded-for': address });

  it('is ignored by default, whichever client sends it', async () => {
    await start();
    for (let client = 0; client <= MAX_FAILURES; client++)
      await get('wrong', forwarded(`203.0.113.${client}`));
    expect((await get('wrong', forwarded('203.0.113.200'))).status).toBe(429);
    expect(app.events[0]).toMatchObject({ address: '10.0.0.1' });
  });

  it('names the client behind a trusted proxy: the last address that is not a trusted proxy', async () => {
    await start({ trustedProxies: ['10.0.0.0/8'] });
    await failTooOften(forwarded('198.51.100.1, 203.0.113.1, 10.0.0.2'));
    expect((await get('wrong', forwarded('198.51.100.9, 203.0.113.1'))).status).toBe(429);
    expect((await get('wrong', forwarded('203.0.113.1, 203.0.113.2'))).status).toBe(401);
    expect((await get('wrong', { from: '192.0.2.1', 'x-forwarded-for': '203.0.113.1' })).status).toBe(401);
    expect(app.events.at(-1)).toMatchObject({ address: '192.0.2.1' });
  });

  it('that is no address counts as the proxy', async () => {
    await start({ trustedProxies: ['10.0.0.1'] });
    await get('wrong', forwarded('<script>\u0007'));
    expect(app.events).toEqual([{ event: 'login.failed', address: '10.0.0.1', reason: 'wrong', count: 1 }]);
  });
});

describe('connections', () => {
  const HEALTH = 'GET /api/health HTTP/1.1\r\nHost: x\r\n\r\n';
  const THREAD = `GET /api/thread/${IDS.thread} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${SECRET}\r\n\r\n`;

  async function connectTo(port: number): Promise<RawClient> {
    const client = await connectRaw(port);
    sockets.push(client.socket);
    return client;
  }

  async function ask({ write, receive, received }: RawClient, request: string): Promise<string> {
    const from = received().length;
    await write(request);
    await receive(new RegExp(`^[^]{${from}}HTTP/1.1 [^]*\\}$`));
    return received().slice(from);
  }

  it('of strangers make room, the oldest first, and those with the secret stay', async () => {
    await start({ limits: { maxConnections: 5 } });
    const port = await app.listen();
    const known = await connectTo(port);
    expect(await ask(known, THREAD)).toContain('200 OK');
    const strangers: RawClient[] = [];
    for (let index = 0; index < 40; index++) strangers.push(await connectTo(port));
    const open = () => strangers.filter(({ socket }) => !socket.destroyed);
    await expect.poll(open).toHaveLength(4);
    expect(open()).toEqual(strangers.slice(-4));
    expect(await ask(known, THREAD)).toContain('200 OK');
    const late = await connectTo(port);
    expect(await ask(late, THREAD)).toContain('200 OK');
    expect(app.events).toEqual([
      { event: 'http.full', max: 5, count: 1 },
      { event: 'http.full', max: 5, count: 10 },
    ]);
  });

  it('beyond those with the secret get 503, without having done anything', async () => {
    await start({ limits: { maxConnections: 2 } });
    const port = await app.listen();
    for (let index = 0; index < 2; index++)
      expect(await ask(await connectTo(port), THREAD)).toContain('200 OK');
    const third = await connectTo(port);
    const answer = await ask(third, THREAD);
    expect(answer).toMatch(/^HTTP\/1.1 503 [^]*retry-after: 5[^]*"code":"busy"/);
    await third.closed();
    sockets.splice(0, 1)[0]?.destroy();
    await expect.poll(async () => await ask(await connectTo(port), HEALTH)).toContain('200 OK');
  });

  it('of one key keep half of the slots, and end with their answers beyond that, so that others get in', async () => {
    await start({ limits: { maxConnections: 6 }, keys: KEYS });
    const port = await app.listen();
    const requestOf = (key: string) =>
      `GET /api/thread/${IDS.thread} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`;
    const kept: RawClient[] = [];
    for (let index = 0; index < 8; index++) {
      const client = await connectTo(port);
      const answer = await ask(client, requestOf('a'));
      expect(answer).toContain('200 OK');
      expect(/^connection: close/im.test(answer)).toBe(index >= 3);
      if (index < 3) kept.push(client);
      else await client.closed();
    }
    for (const client of kept) expect(await ask(client, requestOf('a'))).toContain('200 OK');
    for (let index = 0; index < 3; index++)
      expect(await ask(await connectTo(port), requestOf('b'))).toMatch(/200 OK(?![^]*connection: close)/i);
  });

  it('of strangers make room from the address that has most of them', async () => {
    await start({ limits: { maxConnections: 5 } });
    const port = await app.listen();
    const quiet = await connectRaw(port, { localAddress: '127.0.0.2' });
    sockets.push(quiet.socket);
    const flood: RawClient[] = [];
    for (let index = 0; index < 40; index++) flood.push(await connectTo(port));
    await expect.poll(() => flood.filter(({ socket }) => !socket.destroyed)).toHaveLength(4);
    expect(await ask(quiet, THREAD)).toContain('200 OK');
  });

  it('that say nothing are closed', async () => {
    await start({ limits: { headersTimeoutMs: 200 } });
    const port = await app.listen();
    const silent = connect({ port, host: '127.0.0.1' });
    sockets.push(silent);
    silent.resume();
    await once(silent, 'close');
    expect(silent.destroyed).toBe(true);
  });
});
