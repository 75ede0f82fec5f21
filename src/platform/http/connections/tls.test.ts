/** HTTP over TLS, served by the service itself, over real sockets. */
import { once } from 'node:events';
import { Agent, request, type AgentOptions, type RequestOptions } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { createCertificate, type TestCertificate } from '../../../../test/helpers/certificate.ts';
import {
  AUTHORIZED,
  createTestHttpApp,
  type TestHttpApp,
  type TestHttpAppOptions,
} from '../../../../test/helpers/http-app.ts';
import { connectRaw } from '../../../../test/helpers/raw-client.ts';
import { createRecordingApplication } from '../../../../test/helpers/recording-application.ts';
import { IDS } from '../../../../test/helpers/sample-emails.ts';
import type { Pem } from '../../base/tls.ts';

const certificate = createCertificate();
const agents: Agent[] = [];
const sockets: TLSSocket[] = [];
let app: TestHttpApp;
let port: number;
let renew: (renewed: Pem) => void;

async function start(options: Partial<TestHttpAppOptions> = {}): Promise<void> {
  const source = { current: certificate as Pem };
  const listeners = new Set<(renewed: Pem) => void>();
  renew = (renewed) => {
    source.current = renewed;
    for (const listener of listeners) listener(renewed);
  };
  app = await createTestHttpApp({
    application: createRecordingApplication(),
    tls: {
      get current() {
        return source.current;
      },
      follow(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    ...options,
  });
  port = await app.listen();
}

afterEach(async () => {
  for (const agent of agents.splice(0)) agent.destroy();
  for (const socket of sockets.splice(0)) socket.destroy();
  await app.close();
});

function agentFor({ cert }: TestCertificate, options: AgentOptions = {}) {
  const agent = new Agent({ ca: cert, ...options });
  agents.push(agent);
  return agent;
}

interface Answer extends Pick<IncomingMessage, 'headers'> {
  readonly status: number | undefined;
  readonly json: Record<string, unknown>;
}

async function get(path: string, options: RequestOptions = {}): Promise<Answer> {
  const asked = request({ host: '127.0.0.1', port, path, agent: agentFor(certificate), ...options });
  asked.end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  const json = JSON.parse(await text(answer)) as Record<string, unknown>;
  return { status: answer.statusCode, headers: answer.headers, json };
}

/** A client that has completed its handshake. */
async function handshake(options: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connectTls({ host: '127.0.0.1', port, ca: certificate.cert, ...options });
  sockets.push(socket);
  await once(socket, 'secureConnect');
  socket.on('error', () => {});
  return socket;
}

const closed = (socket: TLSSocket) =>
  new Promise<void>((resolve) => (socket.closed ? resolve() : socket.once('close', () => resolve())));

describe('with a certificate', () => {
  it('answers over TLS, to clients that check it', async () => {
    await start();
    expect(await get('/api/health')).toMatchObject({ status: 200, json: { status: 'ok' } });
    const thread = await get(`/api/thread/${IDS.thread}`, { headers: AUTHORIZED });
    expect(thread.status).toBe(200);
  });

  it('speaks TLS 1.2 and 1.3, and nothing older', async () => {
    await start();
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const socket = await handshake({ minVersion: version, maxVersion: version });
      expect(socket.getProtocol()).toBe(version);
    }
    // The client's own security level would not let it try.
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    await expect(handshake(old)).rejects.toMatchObject({ code: 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION' });
  });

  it('agrees on HTTP/1.1 by ALPN, and refuses clients that want nothing but HTTP/2', async () => {
    await start();
    expect((await handshake({ ALPNProtocols: ['h2', 'http/1.1'] })).alpnProtocol).toBe('http/1.1');
    await expect(handshake({ ALPNProtocols: ['h2'] })).rejects.toMatchObject({
      code: 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL',
    });
    expect((await get('/api/health')).status).toBe(200);
  });

  it.each([
    ['a request', 'GET /api/health HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a request of another method', 'PATCH /api/emails/1 HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a request with a body', 'POST /api/send HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}'],
  ])('tells %s without TLS in words that it has to be https', async (_, plain) => {
    await start();
    const client = await connectRaw(port);
    await client.write(plain);
    const answer = Buffer.from(await client.closed(), 'latin1').toString();
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({
      error:
        'Die Anfrage ist ungültig: Hier wird nur HTTPS gesprochen: Die Adresse muss mit https:// beginnen.',
      code: 'invalid_request',
    });
    expect((await get('/api/health')).status).toBe(200);
  });

  it('answers broken HTTP within TLS as it does without', async () => {
    await start();
    const socket = await handshake();
    socket.write('nonsense\r\n\r\n');
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('Sie ist kein gültiges HTTP.');
  });

  it('takes a client that sends garbage, or nothing, for none', { tags: ['long'] }, async () => {
    // The request at the end must complete a handshake, too, however busy the machine is.
    await start({ limits: { handshakeTimeoutMs: 3000 } });
    const silent = await connectRaw(port);
    const slow = await connectRaw(port);
    // The beginning of a handshake that never continues.
    await slow.write(Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01]));
    const rubbish = await connectRaw(port);
    await rubbish.write(Buffer.from([0x16, 0x03, 0x01, 0x00, 0x02, 0xff, 0xff]));
    expect(await silent.closed()).toBe('');
    expect(await slow.closed()).toBe('');
    await rubbish.closed();
    expect((await get('/api/health')).status).toBe(200);
  });

  it('tells browsers of HSTS when it is wanted, with every answer', async () => {
    const maxAge = 30 * 86_400;
    await start({ hstsDays: 30 });
    expect((await get('/api/health')).headers['strict-transport-security']).toBe(`max-age=${maxAge}`);
    const missing = await get('/nowhere');
    expect(missing).toMatchObject({
      status: 404,
      headers: { 'strict-transport-security': `max-age=${maxAge}` },
    });
    await app.close();
    await start();
    expect((await get('/api/health')).headers).not.toHaveProperty('strict-transport-security');
  });
});

describe('HSTS', () => {
  it('is told over a trusted proxy’s https, and never over http', async () => {
    await start({ tls: null, hstsDays: 1, trustedProxies: ['127.0.0.1'] });
    const ask = (proto: string) =>
      app.fastify.inject({ url: '/api/health', headers: { 'x-forwarded-proto': proto } });
    expect((await ask('https')).headers['strict-transport-security']).toBe('max-age=86400');
    expect((await ask('http')).headers).not.toHaveProperty('strict-transport-security');
  });
});

describe('connections over TLS', () => {
  it('have a slot from their first packet on; one with the right secret keeps it', async () => {
    await start({ limits: { maxConnections: 2 } });
    const agent = agentFor(certificate, { keepAlive: true });
    const asThread = { agent, headers: AUTHORIZED };
    expect((await get(`/api/thread/${IDS.thread}`, asThread)).status).toBe(200);
    // Takes the other slot without a handshake.
    const first = await connectRaw(port);
    const second = await handshake();
    expect(await first.closed()).toBe('');
    const third = await connectRaw(port);
    await closed(second);
    expect((await get(`/api/thread/${IDS.thread}`, asThread)).status).toBe(200);
    expect(Object.values(agent.freeSockets).flat()).toHaveLength(1);
    third.socket.destroy();
    expect(app.events).toContainEqual(expect.objectContaining({ event: 'http.full', max: 2 }));
  });

  it('that find no slot get 503', async () => {
    await start({ limits: { maxConnections: 1 } });
    const agent = agentFor(certificate, { keepAlive: true });
    expect((await get(`/api/thread/${IDS.thread}`, { agent, headers: AUTHORIZED })).status).toBe(200);
    expect(await get('/api/health')).toMatchObject({ status: 503, json: { code: 'busy' } });
  });

  it('do not hold up the end of the service, whatever state they are in', async () => {
    // Longer than the test may take.
    await start({ limits: { handshakeTimeoutMs: 3_600_000, keepAliveTimeoutMs: 3_600_000 } });
    const silent = await connectRaw(port);
    const begun = await connectRaw(port);
    await begun.write(Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01]));
    const ready = await handshake();
    const used = agentFor(certificate, { keepAlive: true });
    await get('/api/health', { agent: used });
    const readyEnds = closed(ready);
    await app.close();
    expect(await Promise.all([silent.closed(), begun.closed(), readyEnds])).toEqual(['', '', undefined]);
  });
});

describe('a renewed certificate', () => {
  it('is served to new connections; those that are open go on, and no request fails', async () => {
    await start();
    // Another subject: a client that trusts both chooses the authority by its subject.
    const renewed = createCertificate({ names: ['renewed.example.com', 'localhost'] });
    const both = `${certificate.cert}${renewed.cert}`;
    const kept = agentFor(certificate, { keepAlive: true, maxSockets: 1 });
    const answers = [(await get('/api/health', { agent: kept })).status];
    const over = new AbortController();
    /** Requests one after the other, each over a new connection or all over one connection. */
    const load = async (options: () => RequestOptions) => {
      while (!over.signal.aborted) answers.push((await get('/api/health', options())).status);
    };
    const loads = [
      load(() => ({ agent: kept })),
      // Sessions may be resumed, as browsers do.
      load(() => ({ agent: new Agent({ ca: both }) })),
      load(() => ({ agent: new Agent({ ca: both, maxVersion: 'TLSv1.2' }) })),
    ];
    for (let round = 0; round < 10; round += 1) {
      const count = answers.length;
      renew(round % 2 === 0 ? renewed : certificate);
      await expect.poll(() => answers.length).toBeGreaterThan(count + 5);
    }
    renew(renewed);
    over.abort();
    await Promise.all(loads);
    expect(new Set(answers)).toEqual(new Set([200]));
    expect(Object.values(kept.freeSockets).flat()).toHaveLength(1);
    const fresh = await handshake({ ca: renewed.cert });
    expect(fresh.authorized).toBe(true);
    await expect(handshake()).rejects.toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  });

  it('does not bring older versions back', async () => {
    await start();
    renew(certificate);
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    await expect(handshake(old)).rejects.toMatchObject({ code: 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION' });
  });
});
