/** Servers of images that misbehave in every way. All of them are on this machine. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { createCertificate } from '../../../test/helpers/certificate.ts';
import { GIF, gifOf, PNG, SVG } from '../../../test/helpers/sample-images.ts';
import { waitUntil } from '../../../test/helpers/wait-until.ts';
import { guardedLookup } from '../webhooks/guarded-lookup.ts';
import { isPublic } from '../webhooks/public-addresses.ts';
import { createImageFetcher, type ImageFetcherOptions } from './fetch-image.ts';

const NEVER = new AbortController().signal;
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface ImageServer {
  readonly port: number;
  readonly requests: IncomingMessage[];
  readonly sockets: Set<Socket>;
}

async function startServer(answer: RequestListener, server = createServer()): Promise<ImageServer> {
  const requests: IncomingMessage[] = [];
  const sockets = new Set<Socket>();
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    requests.push(request);
    answer(request, response);
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return { port: (server.address() as AddressInfo).port, requests, sockets };
}

/** As in the service, but that names ending in `.example` lead to this machine, and that such an address may then be connected to. */
function fetcher(options: Partial<ImageFetcherOptions> = {}) {
  const resolved: string[] = [];
  const lookup = guardedLookup(
    async (host) => {
      resolved.push(host);
      return ['127.0.0.1'];
    },
    (address, host) => {
      if (!host.endsWith('.example')) requirePublic(address);
    },
  );
  return { resolved, fetch: createImageFetcher({ lookup, checkAddress: requirePublic, ...options }) };
}

function requirePublic(address: string): void {
  if (!isPublic(address)) throw Object.assign(new Error(), { code: 'not_a_public_address' });
}

const answerWith =
  (bytes: Buffer, headers: Record<string, string> = { 'content-type': 'image/png' }): RequestListener =>
  (_, response) =>
    void response.writeHead(200, headers).end(bytes);
const REFUSED = { kind: 'none', isSlow: false, detail: 'not_a_public_address' };

describe('an image', () => {
  it('is fetched with nothing of its reader, each time by a connection of its own', async () => {
    const server = await startServer(answerWith(PNG, { 'content-type': 'text/plain', 'set-cookie': 'a=b' }));
    const { fetch } = fetcher();
    const address = `http://images.example:${server.port}/a.png?for=ann`;
    for (let count = 0; count < 2; count += 1)
      expect(await fetch(address, NEVER)).toEqual({ kind: 'image', bytes: PNG });
    expect(server.requests.map(({ url, headers }) => ({ url, headers }))).toEqual(
      Array.from({ length: 2 }, () => ({
        url: '/a.png?for=ann',
        headers: {
          host: `images.example:${server.port}`,
          'user-agent': 'Mozilla/5.0 (compatible; image-proxy)',
          accept: 'image/avif,image/webp,image/png,image/jpeg,image/gif,image/*;q=0.8',
          'accept-encoding': 'identity',
          connection: 'close',
        },
      })),
    );
  });

  it('comes over TLS only from whom the certificate belongs', async () => {
    const { cert, key } = createCertificate({ names: ['images.example'] });
    const server = await startServer(answerWith(GIF), https.createServer({ cert, key }));
    const { fetch } = fetcher({ ca: cert });
    expect(await fetch(`https://images.example:${server.port}/`, NEVER)).toMatchObject({ kind: 'image' });
    expect(await fetch(`https://other.example:${server.port}/`, NEVER)).toMatchObject({
      kind: 'none',
      detail: 'ERR_TLS_CERT_ALTNAME_INVALID',
    });
    expect(server.requests).toHaveLength(1);
  });

  it('may be behind three redirects, and not behind four', async () => {
    const server = await startServer(({ url = '', headers: { host = '' } }, response) => {
      const left = Number(url.slice(1));
      // Also relative, and without a scheme.
      const [a, b] = [`//${host}/${left - 1}`, `/${left - 1}`];
      if (left === 0) response.end(GIF);
      else
        response.writeHead([301, 302, 303, 307, 308][left] ?? 302, { location: left % 2 ? a : b }).end('no');
    });
    const { fetch } = fetcher();
    const at = (path: string) => fetch(`http://images.example:${server.port}${path}`, NEVER);
    expect(await at('/3')).toMatchObject({ kind: 'image' });
    expect(await at('/4')).toMatchObject({ kind: 'none', detail: 'more than 3 redirects' });
    expect(server.requests).toHaveLength(8);
  });
});

describe('an address that is not public', () => {
  const ADDRESSES = [
    '127.0.0.1',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '127.0.0.1.',
    '0.0.0.0',
    '0',
    '10.0.0.1',
    '192.168.1.1',
    '100.64.0.1',
    '169.254.169.254',
    '168.63.129.16',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:a9fe:a9fe]',
    '[64:ff9b::7f00:1]',
    '[fe80::1]',
    '[fd00:ec2::254]',
  ];

  it.each(ADDRESSES)('is not connected to, nor by a redirect: %s', async (host) => {
    const secret = await startServer(answerWith(PNG));
    const server = await startServer(
      (_, response) => void response.writeHead(302, { location: `http://${host}:${secret.port}/` }).end(),
    );
    const { fetch } = fetcher();
    expect(await fetch(`http://${host}:${secret.port}/`, NEVER)).toEqual(REFUSED);
    expect(await fetch(`http://images.example:${server.port}/`, NEVER)).toEqual(REFUSED);
    expect(server.requests).toHaveLength(1);
    expect(secret.requests).toEqual([]);
    expect(secret.sockets.size).toBe(0);
  });

  it.each([
    ['alone', ['127.0.0.1']],
    ['beside a public one', ['8.8.8.8', '127.0.0.1']],
    ['as IPv6', ['::1']],
    ['as IPv4 in IPv6', ['::ffff:127.0.0.1']],
  ])('is not connected to by a name: %s', async (_, addresses) => {
    const secret = await startServer(answerWith(PNG));
    const { fetch } = fetcher({ lookup: guardedLookup(async () => addresses, requirePublic) });
    expect(await fetch(`http://rebound.test:${secret.port}/`, NEVER)).toEqual(REFUSED);
    expect(secret.sockets.size).toBe(0);
  });

  it('is not connected to when the name gets it only for the second connection', async () => {
    const server = await startServer(({ url }, response) => {
      if (url === '/image') response.end(PNG);
      else response.writeHead(302, { location: '/image' }).end();
    });
    let asked = 0;
    // The first answer stands for a public address; the name server then gives another one.
    const lookup = guardedLookup(
      async () => [(asked += 1) === 1 ? '127.0.0.1' : '127.0.0.2'],
      (address) => {
        if (address !== '127.0.0.1') requirePublic(address);
      },
    );
    const { fetch } = fetcher({ lookup });
    expect(await fetch(`http://rebound.test:${server.port}/`, NEVER)).toEqual(REFUSED);
    expect(asked).toBe(2);
    expect(server.requests).toHaveLength(1);
  });

  it('is asked for once for each connection: what was checked is what is connected to', async () => {
    const server = await startServer(answerWith(PNG));
    const { fetch, resolved } = fetcher();
    await fetch(`http://images.example:${server.port}/`, NEVER);
    expect(resolved).toEqual(['images.example']);
  });
});

describe('a redirect', () => {
  it.each([
    'https://user:secret@images.example/',
    'ftp://images.example/a.png',
    'file:///etc/passwd',
    'data:image/png;base64,AAAA',
    'javascript:alert(1)',
    'http://',
    `http://images.example/${'a'.repeat(3000)}`,
  ])('to %s is not followed', async (location) => {
    const server = await startServer((_, response) => void response.writeHead(302, { location }).end());
    const answer = await fetcher().fetch(`http://images.example:${server.port}/`, NEVER);
    expect(answer).toMatchObject({ kind: 'none', detail: 'a redirect to what is not fetched' });
  });

  it('is not read to its end, nor is an error', async () => {
    const server = await startServer((request, response) => {
      if (request.url === '/image') response.end(GIF);
      else {
        response.writeHead(request.url === '/error' ? 404 : 302, { location: '/image' });
        endless(GIF)(request, response);
      }
    });
    const { fetch } = fetcher();
    expect(await fetch(`http://images.example:${server.port}/`, NEVER)).toMatchObject({ kind: 'image' });
    expect(await fetch(`http://images.example:${server.port}/error`, NEVER)).toMatchObject({ kind: 'none' });
    await waitUntil('the connections are closed', () => server.sockets.size === 0, 10_000);
  });

  it('to a port that is no web server is not followed', async () => {
    const server = await startServer(
      (_, response) => void response.writeHead(302, { location: 'http://images.example:25/' }).end(),
    );
    expect(await fetcher().fetch(`http://images.example:${server.port}/`, NEVER)).toMatchObject({
      detail: "port 25 is no web server's",
    });
  });
});

describe('an answer', () => {
  it.each([
    ['HTML', Buffer.from('<!doctype html><script>alert(1)</script>')],
    ['an SVG', SVG],
    ['JSON', Buffer.from('{"AccessKeyId":"ASIA","SecretAccessKey":"secret"}')],
    ['nothing', Buffer.alloc(0)],
    ['half a signature', PNG.subarray(0, 4)],
  ])('that is %s is no image, whatever its type says', async (_, bytes) => {
    const server = await startServer(answerWith(bytes));
    expect(await fetcher().fetch(`http://images.example:${server.port}/`, NEVER)).toEqual({
      kind: 'none',
      isSlow: false,
      detail: 'no raster image',
    });
  });

  it('without the signature of an image is cut off after a few bytes', async () => {
    const server = await startServer(endless(Buffer.from('<p>'.repeat(1000))));
    expect(await fetcher().fetch(`http://images.example:${server.port}/`, NEVER)).toMatchObject({
      detail: 'no raster image',
    });
    await waitUntil('the connection is closed', () => server.sockets.size === 0);
  });

  it.each([
    ['compressed', gzipSync(gifOf(1_000_000)), { 'content-encoding': 'gzip' }, 'a compressed answer'],
    ['compressed in a way unknown', GIF, { 'content-encoding': 'x-own' }, 'a compressed answer'],
  ])('that is %s is not decoded', async (_, bytes, headers, detail) => {
    const server = await startServer(answerWith(bytes, headers));
    expect(await fetcher().fetch(`http://images.example:${server.port}/`, NEVER)).toMatchObject({ detail });
  });

  it.each([201, 204, 206, 304, 400, 401, 403, 404, 500, 503])('of status %s is no image', async (status) => {
    const server = await startServer((_, response) => void response.writeHead(status).end(GIF));
    expect(await fetcher().fetch(`http://images.example:${server.port}/`, NEVER)).toMatchObject({
      detail: `status ${status}`,
    });
  });

  it('without end is cut at the limit', async () => {
    const server = await startServer(endless(gifOf(64 * 1024)));
    expect(
      await fetcher({ maxBytes: 1_000_000 }).fetch(`http://images.example:${server.port}/`, NEVER),
    ).toEqual({
      kind: 'none',
      isSlow: false,
      detail: 'more than 1000000 bytes',
    });
    await waitUntil('the connection is closed', () => server.sockets.size === 0);
  });

  it('that announces too much is not read, and one of just the limit is', async () => {
    const server = await startServer(({ url }, response) => {
      if (url === '/10-gb') response.writeHead(200, { 'content-length': '10737418240' }).write(GIF);
      else response.end(gifOf(url === '/most' ? 100_000 : 100_001));
    });
    const { fetch } = fetcher({ maxBytes: 100_000 });
    const at = (path: string) => fetch(`http://images.example:${server.port}${path}`, NEVER);
    expect(await at('/10-gb')).toMatchObject({ detail: 'more than 100000 bytes' });
    expect(await at('/most')).toMatchObject({ kind: 'image' });
    expect(await at('/more')).toMatchObject({ detail: 'more than 100000 bytes' });
  });

  it.each<[string, RequestListener]>([
    ['sends no head', () => undefined],
    ['sends no body', (_, response) => response.writeHead(200).flushHeaders()],
    [
      'sends its body byte by byte',
      (_, response) => {
        response.write(GIF);
        const timer = setInterval(() => response.write('a'), 20);
        response.once('close', () => clearInterval(timer));
      },
    ],
    [
      'is slow at each redirect',
      ({ url }, response) =>
        void setTimeout(() => response.writeHead(302, { location: `${url}a` }).end(), 200),
    ],
  ])('ends at the deadline when the server %s', async (_, answer) => {
    const server = await startServer(answer);
    const from = performance.now();
    expect(await fetcher({ timeoutMs: 400 }).fetch(`http://images.example:${server.port}/`, NEVER)).toEqual({
      kind: 'none',
      isSlow: true,
      detail: 'no image within 400 ms',
    });
    expect(performance.now() - from).toBeLessThan(5000);
    await waitUntil('the connection is closed', () => server.sockets.size === 0);
  });

  it('may have some interim answers before it, but not without end', async () => {
    const server = await startServer((request, response) => {
      const early = Buffer.from('HTTP/1.1 103 Early Hints\r\n\r\n');
      if (request.url === '/few') {
        request.socket.write(Buffer.concat([early, early]));
        response.end(GIF);
      } else {
        const write = () => {
          while (!request.socket.destroyed && request.socket.write(early));
        };
        request.socket.on('drain', write);
        write();
      }
    });
    const { fetch } = fetcher({ timeoutMs: 5000 });
    expect(await fetch(`http://images.example:${server.port}/few`, NEVER)).toMatchObject({ kind: 'image' });
    expect(await fetch(`http://images.example:${server.port}/`, NEVER)).toEqual({
      kind: 'none',
      isSlow: false,
      detail: 'too many interim answers',
    });
    await waitUntil('the connection is closed', () => server.sockets.size === 0);
  });

  it('that is cut off is no image', async () => {
    const server = await startServer((_, response) => {
      response.writeHead(200, { 'content-length': '1000' }).write(GIF);
      setTimeout(() => response.destroy(), 50);
    });
    expect(await fetcher().fetch(`http://images.example:${server.port}/`, NEVER)).toMatchObject({
      kind: 'none',
      detail: 'ECONNRESET',
    });
  });

  it('that changes the protocol is no image', async () => {
    const server = await startServer((request) =>
      request.socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: a\r\n\r\n'),
    );
    expect(
      await fetcher({ timeoutMs: 5000 }).fetch(`http://images.example:${server.port}/`, NEVER),
    ).toMatchObject({
      kind: 'none',
      isSlow: false,
    });
  });

  it('is not waited for when the service stops', async () => {
    const server = await startServer(() => undefined);
    const stopping = new AbortController();
    const fetching = fetcher().fetch(`http://images.example:${server.port}/`, stopping.signal);
    await waitUntil('the server is asked', () => server.requests.length === 1);
    stopping.abort();
    expect(await fetching).toMatchObject({ kind: 'none', isSlow: false });
  });

  it('is described without anything that its server wrote, and without its path', async () => {
    const server = await startServer((request) => request.socket.end('token=secret\r\n\r\n'));
    const answer = await fetcher().fetch(`http://images.example:${server.port}/secret?token=secret`, NEVER);
    expect(answer).toMatchObject({ kind: 'none', detail: 'HPE_INVALID_CONSTANT' });
    expect(JSON.stringify(answer)).not.toContain('secret');
  });
});

/** Bytes for as long as the client takes them. */
const endless =
  (piece: Buffer): RequestListener =>
  (_, response) => {
    const write = () => {
      while (!response.destroyed && response.write(piece));
    };
    response.on('drain', write);
    write();
  };
