/** Requests to endpoints that misbehave in every way. */
import { once } from 'node:events';
import { createServer, type Server, type Socket, type AddressInfo } from 'node:net';
import https from 'node:https';
import { afterEach, describe, expect, it } from 'vitest';
import { createCertificate } from '../../../test/helpers/certificate.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../../test/helpers/webhook-receiver.ts';
import { waitUntil } from '../../../test/helpers/wait-until.ts';
import { createWebhookPoster, type WebhookPoster } from './post-webhook.ts';
import { createTargetRules } from './public-addresses.ts';
import type { ResolveHost } from './resolve-host.ts';

const SECRET = `whsec_${Buffer.from('a secret of thirty-two bytes 123').toString('base64')}`;
const NEVER = new AbortController().signal;
const LOOPBACK = { networks: ['127.0.0.1'], hosts: [] };

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function poster(
  options: {
    allow?: { networks: string[]; hosts: string[] };
    timeoutMs?: number;
    resolve?: ResolveHost;
    ca?: string;
  } = {},
): WebhookPoster {
  const { allow = LOOPBACK, timeoutMs = 20_000, ...others } = options;
  const made = createWebhookPoster({
    targets: createTargetRules(allow),
    timeoutMs,
    clock: () => new Date(),
    ...others,
  });
  closing.push(() => made.close());
  return made;
}

const request = (url: string, more: { headers?: Record<string, string> } = {}) => ({
  url,
  secrets: { secrets: [{ secret: SECRET, until: null }], headers: more.headers ?? {} },
  eventId: '000512b000000004',
  body: JSON.stringify({ id: '000512b000000004', type: 'email.sent', subject: 'Grüße \u{1f600}' }),
});

/** Answers each request with the bytes that `say` writes. */
async function startRaw(
  say: (socket: Socket, count: number) => void,
): Promise<{ url: string; count: () => number }> {
  let count = 0;
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    let text = '';
    socket.on('data', (piece) => {
      text += piece.toString('latin1');
      if (!text.includes('\r\n\r\n') || !text.endsWith('}')) return;
      text = '';
      count += 1;
      say(socket, count);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, count: () => count };
}

async function startReceiver(): Promise<WebhookReceiver> {
  const receiver = await startWebhookReceiver();
  receiver.secret = SECRET;
  closing.push(() => receiver.close());
  return receiver;
}

describe('a request', () => {
  it('is signed so that the library of Standard Webhooks takes it, whatever the body says', async () => {
    const receiver = await startReceiver();
    const answer = await poster().post(
      request(receiver.url, { headers: { Authorization: 'Bearer x' } }),
      NEVER,
    );
    expect(answer).toMatchObject({ status: 204, error: null, text: '', retryAfterMs: null });
    expect(receiver.faults).toEqual([]);
    expect(receiver.received[0]?.headers).toMatchObject({
      'content-type': 'application/json',
      authorization: 'Bearer x',
    });
  });

  it('is signed with each secret that has not ended', async () => {
    const receiver = await startReceiver();
    const secrets = [
      { secret: SECRET, until: null },
      { secret: 'whsec_b2xkIG9sZCBvbGQgb2xkIG9sZCBvbGQ=', until: new Date(Date.now() + 60_000) },
      { secret: 'whsec_ZW5kZWQgZW5kZWQgZW5kZWQgZW5kZWQ=', until: new Date(Date.now() - 1) },
    ];
    await poster().post({ ...request(receiver.url), secrets: { secrets, headers: {} } }, NEVER);
    expect(receiver.received[0]?.headers['webhook-signature']?.split(' ')).toHaveLength(2);
  });

  it('goes over TLS only to whom the certificate belongs', async () => {
    const { cert, key } = createCertificate({ names: ['localhost'] });
    const server = https.createServer({ cert, key }, (incoming, response) => {
      incoming.resume().once('end', () => response.writeHead(200).end('ok'));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    closing.push(() => {
      server.close();
      server.closeAllConnections();
    });
    const { port } = server.address() as AddressInfo;
    const resolve = async () => ['127.0.0.1'];
    const { post } = poster({ ca: cert, resolve });
    expect(await post(request(`https://localhost:${port}/`), NEVER)).toMatchObject({
      status: 200,
      text: 'ok',
    });
    expect(await post(request(`https://other.example:${port}/`), NEVER)).toMatchObject({
      status: null,
      error: expect.stringMatching(/certificate|altnames/i) as string,
    });
  });

  it('is not sent again to where a redirect leads', async () => {
    const other = await startReceiver();
    const receiver = await startReceiver();
    receiver.respond = (response) => void response.writeHead(307, { location: other.url }).end();
    expect(await poster().post(request(receiver.url), NEVER)).toMatchObject({ status: 307 });
    expect(other.received).toEqual([]);
  });

  it.each([
    ['7', 7000],
    ['later', null],
  ])('has the Retry-After of its answer: %s', async (value, ms) => {
    const receiver = await startReceiver();
    receiver.respond = (response) => void response.writeHead(429, { 'retry-after': value }).end();
    expect(await poster().post(request(receiver.url), NEVER)).toMatchObject({
      status: 429,
      retryAfterMs: ms,
    });
  });

  it('keeps 4 kB of the answer, without half characters', async () => {
    const receiver = await startReceiver();
    receiver.respond = (response) => void response.writeHead(500).end(`a\0${'ä'.repeat(5000)}`);
    const { text } = await poster().post(request(receiver.url), NEVER);
    expect(text).toBe(`a\u{fffd}${'ä'.repeat(2047)}`);
  });

  it('uses a connection again, and another one when the endpoint closed it', async () => {
    const receiver = await startReceiver();
    const ports = new Set<number>();
    receiver.respond = (response, event, incoming) => {
      ports.add(incoming.socket.remotePort ?? 0);
      response.writeHead(204).end();
      // Closes the connection when the answer has been written.
      if (event.path === '/close') setImmediate(() => incoming.socket.resetAndDestroy());
    };
    const { post } = poster();
    for (let count = 0; count < 3; count += 1) await post(request(receiver.url), NEVER);
    expect(ports.size).toBe(1);
    for (let count = 0; count < 5; count += 1) {
      expect(await post(request(receiver.url.replace('/hook', '/close')), NEVER)).toMatchObject({
        status: 204,
      });
    }
  });
});

describe('an endpoint', () => {
  it('that does not answer has failed when the time is over', async () => {
    const silent = await startRaw(() => undefined);
    expect(await poster({ timeoutMs: 300 }).post(request(silent.url), NEVER)).toMatchObject({
      status: null,
      error: 'no answer within 300 ms',
    });
  });

  it('that sends its head byte by byte has failed when the time is over', async () => {
    const slow = await startRaw((socket) => {
      const timer = setInterval(() => socket.write('H'), 20);
      socket.once('close', () => clearInterval(timer));
    });
    const answer = await poster({ timeoutMs: 400 }).post(request(slow.url), NEVER);
    expect(answer.status).toBeNull();
  });

  it.each([
    ['sends its body byte by byte', 'HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n', true],
    ['announces more than it sends', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort', false],
    ['cuts a chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nshort', false],
    ['sends less than a byte of a body', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n', true],
  ])('that %s has taken the event all the same', async (_, head, isOpen) => {
    const endpoint = await startRaw((socket) => {
      socket.write(head);
      if (!isOpen) return void socket.end();
      const timer = setInterval(() => head.includes('1000000') && socket.write('a'), 50);
      socket.once('close', () => clearInterval(timer));
    });
    expect(await poster().post(request(endpoint.url), NEVER)).toMatchObject({ status: 200, error: null });
  });

  it('that streams for ever is cut, and has taken the event', async () => {
    let written = 0;
    const endless = await startRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      const piece = Buffer.alloc(16_384, 'a');
      const go = () => {
        while (!socket.destroyed && written < 1e9) {
          written += piece.length;
          if (!socket.write(piece)) return void socket.once('drain', go);
        }
      };
      go();
    });
    const answer = await poster().post(request(endless.url), NEVER);
    expect(answer).toMatchObject({ status: 200, text: 'a'.repeat(4096) });
    expect(written).toBeLessThan(50e6);
  });

  it.each([
    ['resets', (socket: Socket) => void socket.resetAndDestroy()],
    ['closes', (socket: Socket) => void socket.end()],
    ['speaks no HTTP', (socket: Socket) => void socket.end('220 smtp.example.com ESMTP\r\n')],
    [
      'has a head without end',
      (socket: Socket) => void socket.write(`HTTP/1.1 200 OK\r\nX: ${'a'.repeat(1e6)}`),
    ],
    [
      'answers twice over',
      (socket: Socket) =>
        void socket.end('HTTP/1.1 500 No\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nab'),
    ],
  ])('that %s has failed', async (_, say) => {
    const endpoint = await startRaw(say);
    const answer = await poster().post(request(endpoint.url), NEVER);
    expect(answer.status === null ? answer.error : answer.status).not.toBe(200);
    expect(answer.status).toBeNull();
    expect(answer.error).toMatch(/\S/);
    expect(answer.error).not.toContain(SECRET);
  });

  it('that says 100 or 103 first, and then answers, has answered', async () => {
    const endpoint = await startRaw((socket) =>
      socket.end('HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n'),
    );
    expect(await poster().post(request(endpoint.url), NEVER)).toMatchObject({ status: 204 });
  });

  it.each([
    ['HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n', false],
    ['HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nmore', true],
    ['HTTP/1.1 101 Switching Protocols\r\n\r\n', false],
  ])('that changes the protocol has failed, and its connection is closed: %j', async (head, isEnd) => {
    const closed: boolean[] = [];
    const endpoint = await startRaw((socket) => {
      socket.once('close', () => closed.push(true));
      if (isEnd) socket.end(head);
      else socket.write(head);
    });
    const { post } = poster();
    for (const count of [1, 2]) {
      expect(await post(request(endpoint.url), NEVER)).toMatchObject({ status: 101, error: null, text: '' });
      await waitUntil('the connection is closed', () => closed.length === count);
    }
  });

  it('that says 102 without end has failed when the time is over', async () => {
    const endless = await startRaw((socket) => {
      const timer = setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'), 20);
      socket.once('close', () => clearInterval(timer));
    });
    expect(await poster({ timeoutMs: 300 }).post(request(endless.url), NEVER)).toMatchObject({
      status: null,
    });
  });

  it('that is not there has failed', async () => {
    const receiver = await startWebhookReceiver();
    await receiver.close();
    expect((await poster().post(request(receiver.url), NEVER)).error).toContain('ECONNREFUSED');
  });

  it('gets no more when the process stops', async () => {
    const silent = await startRaw(() => undefined);
    const stopping = new AbortController();
    const posted = poster().post(request(silent.url), stopping.signal);
    await waitUntil('it is there', () => silent.count() === 1);
    stopping.abort(new Error('the process stops'));
    await expect(posted).rejects.toThrow('the process stops');
  });
});

describe('a name', () => {
  it('that leads elsewhere after it was looked up gains nothing', async () => {
    const receiver = await startReceiver();
    const answers = [['93.184.215.14'], ['127.0.0.1']];
    let lookups = 0;
    const resolve = async () => answers[Math.min(lookups++, 1)] ?? [];
    // As a check before the connection would.
    expect(await resolve()).toEqual(['93.184.215.14']);
    const { post } = poster({ allow: { networks: [], hosts: [] }, resolve });
    const { status, error } = await post(request(`https://rebinding.example:${receiver.port}/`), NEVER);
    expect({ status, error }).toEqual({
      status: null,
      error: '127.0.0.1 is not public, and not in WEBHOOK_ALLOW',
    });
    expect(receiver.received).toEqual([]);
    expect(lookups).toBe(2);
  });

  it.each([
    ['127.0.0.1'],
    ['::1'],
    ['::ffff:127.0.0.1'],
    ['93.184.215.14', '127.0.0.1'],
    ['127.0.0.1', '93.184.215.14'],
    ['169.254.169.254'],
    ['64:ff9b::7f00:1'],
  ])('that leads to %s, and %s, is not connected to', async (...addresses) => {
    const { post } = poster({
      allow: { networks: [], hosts: [] },
      resolve: async () => addresses.filter((address) => address !== undefined),
    });
    expect((await post(request('https://inside.example/'), NEVER)).error).toContain('not public');
  });

  it('of a network that is allowed is connected to, without TLS only there', async () => {
    const receiver = await startReceiver();
    const { post } = poster({ resolve: async () => ['127.0.0.1'] });
    const url = `http://crm.internal:${receiver.port}/`;
    expect(await post(request(url), NEVER)).toMatchObject({ status: 204 });
    const outside = poster({ resolve: async () => ['93.184.215.14'] });
    expect((await outside.post(request(url), NEVER)).error).toContain('without TLS');
  });

  it('that is allowed itself may lead anywhere', async () => {
    const receiver = await startReceiver();
    const allow = { networks: [], hosts: ['crm.internal'] };
    const { post } = poster({ allow, resolve: async () => ['127.0.0.1'] });
    const url = (host: string) => `http://${host}:${receiver.port}/`;
    expect(await post(request(url('crm.internal')), NEVER)).toMatchObject({ status: 204 });
    expect(await post(request(url('CRM.internal.')), NEVER)).toMatchObject({ status: 204 });
    expect(await post(request(url('other.internal')), NEVER)).toMatchObject({ status: null });
  });

  it('that is not there has failed', async () => {
    const { post } = poster({
      resolve: () =>
        Promise.reject(Object.assign(new Error('queryA ENOTFOUND gone.example'), { code: 'ENOTFOUND' })),
    });
    expect((await post(request('https://gone.example/'), NEVER)).error).toContain('ENOTFOUND');
    const empty = poster({ resolve: async () => [] });
    expect((await empty.post(request('https://gone.example/'), NEVER)).error).toContain('no address');
  });

  it('is found by its own resolver, also where only the hosts file knows it', async () => {
    const receiver = await startReceiver();
    const { post } = poster();
    expect(await post(request(`http://localhost:${receiver.port}/`), NEVER)).toMatchObject({
      status: expect.anything() as number,
    });
  });
});

it.each(['http://127.0.0.1:1/', 'https://127.0.0.1:1/', 'https://[::1]:1/', 'https://[::ffff:7f00:1]:1/'])(
  'an address that is not public is not connected to: %s',
  async (url) => {
    const { post } = poster({ allow: { networks: [], hosts: [] } });
    expect((await post(request(url), NEVER)).error).toMatch(/not public/);
  },
);
