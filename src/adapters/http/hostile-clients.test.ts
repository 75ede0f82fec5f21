import { once } from 'node:events';
import { connect } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { toEmailsJson } from '../../../test/helpers/emails-json.ts';
import { createTestHttpApp, SECRET, type TestHttpApp } from '../../../test/helpers/http-app.ts';
import { connectRaw, type RawClient } from '../../../test/helpers/raw-client.ts';
import {
  createRecordingApplication,
  FILE,
  IDS,
  sampleAttachment,
  type RecordingApplication,
} from '../../../test/helpers/recording-application.ts';
import type { Application } from '../../app/application.ts';
import type { HttpLimits } from './limits.ts';

let app: TestHttpApp;
let application: RecordingApplication;
let port: number;
const clients: RawClient[] = [];

async function start(limits: Partial<HttpLimits> = {}, overrides: Partial<Application> = {}): Promise<void> {
  application = createRecordingApplication(overrides);
  app = await createTestHttpApp({ application, limits });
  port = await app.listen();
}

async function client(): Promise<RawClient> {
  const made = await connectRaw(port);
  clients.push(made);
  return made;
}

afterEach(async () => {
  for (const { socket } of clients.splice(0)) socket.destroy();
  await app.close();
});

const request = (method: string, path: string, headers: readonly string[] = []): string =>
  [`${method} ${path} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${SECRET}`, ...headers, '', ''].join(
    '\r\n',
  );

const sendRequest = (...headers: readonly string[]): string =>
  request('POST', '/api/send', ['Content-Type: application/json', ...headers]);

const small = JSON.stringify({ to: 'a@example.com', subject: 's', text_body: 't' });

/** The beginning of a send whose attachment is on its way: 1 MiB of Base64. */
const beginning = Buffer.from(
  `{"to":"a@example.com","subject":"s","text_body":"t","attachments":[{"filename":"f","content":"${'QUJD'.repeat(262_144)}`,
);
const ending = Buffer.from('"}]}');

/** The one error in a raw answer. */
function parseAnswer(raw: string): {
  readonly status: number;
  readonly head: string;
  readonly code: unknown;
} {
  const [head = '', body = ''] = raw.split('\r\n\r\n', 2);
  const json = JSON.parse(Buffer.from(body, 'latin1').toString('utf8')) as Record<string, unknown>;
  expect(json['error']).toEqual(expect.stringMatching(/\S/));
  return { status: Number(head.split(' ')[1]), head: head.toLowerCase(), code: json['code'] };
}

/** How many connections the service has. */
function connections({ fastify }: TestHttpApp): Promise<number> {
  return new Promise((resolve, reject) => {
    fastify.server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
  });
}

describe('broken HTTP gets a JSON error and a closed connection', () => {
  it.each([
    ['no HTTP', 'nonsense\r\n\r\n', 400, 'invalid_request'],
    ['a TLS hello', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001', 400, 'invalid_request'],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'invalid_request'],
    ['an unknown method', 'FROB / HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'invalid_request'],
    ['NUL in a header', 'GET / HTTP/1.1\r\nHost: x\r\nA: \u0000\r\n\r\n', 400, 'invalid_request'],
    [
      'two lengths',
      'POST /api/send HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
      400,
      'invalid_request',
    ],
    [
      'a length and chunks (request smuggling)',
      'POST /api/send HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
      'invalid_request',
    ],
    ['a negative length', sendRequest('Content-Length: -1'), 400, 'invalid_request'],
    ['a huge length', sendRequest(`Content-Length: ${'9'.repeat(30)}`), 400, 'invalid_request'],
    [
      'headers that are too large',
      request('GET', '/api/health', [`A: ${'x'.repeat(20_000)}`]),
      431,
      'headers_too_large',
    ],
    ['a path that is too large', request('GET', `/${'x'.repeat(20_000)}`), 431, 'headers_too_large'],
    ['a bad chunk', `${sendRequest('Transfer-Encoding: chunked')}zz\r\n`, 400, 'invalid_request'],
  ])('%s', async (_name, text, status, code) => {
    await start();
    const { write, closed } = await client();
    await write(Buffer.from(text, 'latin1'));
    expect(parseAnswer(await closed())).toMatchObject({
      status,
      code,
      head: expect.stringMatching(/content-type: application\/json[^]*connection: close/),
    });
    expect(application.sends).toEqual([]);
  });

  it('for a request without Host, but not in HTTP/1.0', async () => {
    await start();
    const { write, receive } = await client();
    await write('GET /api/health HTTP/1.1\r\n\r\n');
    expect(parseAnswer(await receive('"code"'))).toMatchObject({ status: 400, code: 'invalid_request' });
    const old = await client();
    await old.write('GET /api/health HTTP/1.0\r\n\r\n');
    expect(await old.closed()).toContain('200 OK');
  });

  it.each([
    ['two Host fields', ['Host: x', 'Host: y'], 'Die Kopfzeile Host ist mehrfach angegeben.'],
    ['two equal Host fields', ['Host: x', 'hOST: x'], 'Die Kopfzeile Host ist mehrfach angegeben.'],
    ['a Host with a path', ['Host: x/y'], 'Die Kopfzeile Host ist ungültig.'],
    ['a Host with a user', ['Host: a@x'], 'Die Kopfzeile Host ist ungültig.'],
    ['a Host with a space', ['Host: x y'], 'Die Kopfzeile Host ist ungültig.'],
    [
      'two secrets',
      ['Host: x', `Authorization: Bearer ${SECRET}`, 'Authorization: Bearer other'],
      'Die Kopfzeile Authorization ist mehrfach angegeben.',
    ],
    [
      'two content types',
      ['Host: x', 'Content-Type: application/json', 'Content-Type: text/plain'],
      'Die Kopfzeile Content-Type ist mehrfach angegeben.',
    ],
  ])('for %s', async (_name, headers, detail) => {
    await start();
    const { write, receive } = await client();
    await write(`${['GET /api/health HTTP/1.1', ...headers].join('\r\n')}\r\n\r\n`);
    const answer = await receive('"code"');
    expect(parseAnswer(answer)).toMatchObject({ status: 400, code: 'invalid_request' });
    expect(Buffer.from(answer, 'latin1').toString('utf8')).toContain(detail);
  });

  it.each(['', 'example.com', 'example.com:3000', '127.0.0.1:80', '[::1]:3000', 'EXAMPLE.com.', 'x_y:'])(
    'but not for the Host "%s"',
    async (host) => {
      await start();
      const { write, receive } = await client();
      await write(`GET /api/health HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      expect(await receive('email-worker-api')).toContain('200 OK');
    },
  );

  it('for headers that never end', async () => {
    await start({ headersTimeoutMs: 200, requestTimeoutMs: 5000 });
    const { write, closed } = await client();
    await write('GET /api/health HTTP/1.1\r\nHost: x\r\nA: ');
    expect(parseAnswer(await closed())).toMatchObject({ status: 408, code: 'request_timeout' });
  });

  it('but never in the middle of another answer', async () => {
    const source = new PassThrough();
    await start({}, { openAttachment: async () => source });
    const { write, receive, closed } = await client();
    await write(request('GET', `/api/attachments/${IDS.attachment}`));
    source.write('01234');
    await receive('01234');
    await write('nonsense\r\n\r\n');
    expect((await closed()).split('\r\n\r\n')[1]).toBe('01234');
    await expect.poll(() => source.destroyed).toBe(true);
  });
});

describe('bodies', () => {
  it('may come in chunks, byte by byte', async () => {
    await start();
    const { write, receive } = await client();
    await write(sendRequest('Transfer-Encoding: chunked'));
    for (const byte of small) await write(`1\r\n${byte}\r\n`);
    await write('0\r\n\r\n');
    expect(await receive('"sent"')).toContain('200 OK');
    expect(application.sends).toHaveLength(1);
  });

  it('that stop are given up with 408, and nothing is left', async () => {
    await start({ bodyIdleTimeoutMs: 150 });
    const { write, closed } = await client();
    await write(sendRequest('Content-Length: 9000000'));
    await write(beginning);
    await expect.poll(() => app.spooled()).toHaveLength(1);
    expect(parseAnswer(await closed())).toMatchObject({
      status: 408,
      code: 'request_timeout',
      head: expect.stringContaining('connection: close'),
    });
    await expect.poll(() => app.spooled()).toEqual([]);
  });

  it('that break off leave nothing, and nobody is blamed', async () => {
    await start();
    const { write, socket } = await client();
    await write(sendRequest('Content-Length: 9000000'));
    await write(beginning);
    await expect.poll(() => app.spooled()).toHaveLength(1);
    socket.resetAndDestroy();
    await expect.poll(() => app.spooled()).toEqual([]);
    expect(application.sends).toEqual([]);
    expect(app.logs).toEqual([]);
  });

  it.each([
    ['declared', `Content-Length: ${small.length + 5}`, small],
    ['chunked', 'Transfer-Encoding: chunked', `${small.length.toString(16)}\r\n${small}\r\n`],
  ])('that are cut off by the end of the connection are not sent: %s', async (_name, header, body) => {
    await start();
    const { write, socket, closed } = await client();
    await write(sendRequest(header));
    await write(body);
    socket.end();
    expect(parseAnswer(await closed())).toMatchObject({ status: 400, code: 'invalid_request' });
    expect(application.sends).toEqual([]);
  });

  it('that are longer than declared do not become part of the send', async () => {
    await start();
    const { write, closed } = await client();
    await write(`${sendRequest(`Content-Length: ${small.length}`)}${small}nonsense\r\n\r\n`);
    const answer = await closed();
    expect(application.sends).toHaveLength(1);
    expect(answer).not.toContain('internal_error');
  });

  it('that are far too large are refused before they come', async () => {
    await start();
    const { write, closed } = await client();
    await write(sendRequest('Content-Length: 10000000000'));
    expect(parseAnswer(await closed())).toMatchObject({ status: 413, code: 'payload_too_large' });
  });

  describe.each([
    ['declared', (bytes: number) => sendRequest(`Content-Length: ${bytes}`), 413, 'payload_too_large'],
    [
      'declared, with Expect',
      (bytes: number) => sendRequest(`Content-Length: ${bytes}`, 'Expect: 100-continue'),
      413,
      'payload_too_large',
    ],
    [
      'declared, without the secret',
      (bytes: number) => `POST /api/send HTTP/1.1\r\nHost: x\r\nContent-Length: ${bytes}\r\n\r\n`,
      401,
      'unauthorized',
    ],
    ['behind a head that is no HTTP', () => 'nonsense\r\n\r\n', 400, 'invalid_request'],
    ['in a header', () => request('GET', '/', [`A: ${'x'.repeat(20_000)}`]), 431, 'headers_too_large'],
  ])('that are far too large, %s', (_name, head, status, code) => {
    it('get their answer also when the client writes everything before it reads', async () => {
      await start({ maxBodyBytes: 100_000 });
      const { write, socket, closed } = await client();
      socket.pause();
      await write(head(40_000_000));
      for (let piece = 0; piece < 40; piece++) await write(Buffer.alloc(1_000_000, ' '));
      socket.resume();
      expect(parseAnswer(await closed())).toMatchObject({
        status,
        code,
        head: expect.stringContaining('connection: close'),
      });
    });

    it('are cut off when they do not end', async () => {
      await start({ maxBodyBytes: 100_000, lingerBytes: 3_000_000 });
      const { write, socket } = await client();
      await write(head(10_000_000_000));
      const piece = Buffer.alloc(100_000, ' ');
      while (!socket.destroyed) await write(piece);
      expect(socket.bytesWritten).toBeLessThan(100_000_000);
    });

    it('are cut off when nothing comes any more', async () => {
      await start({ maxBodyBytes: 100_000, lingerIdleMs: 200 });
      const half = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
      half.resume();
      half.on('error', () => {});
      half.write(head(10_000_000_000));
      await once(half, 'end');
      await expect.poll(() => connections(app)).toBe(0);
      half.destroy();
    });

    it('do not hold up the end of the service', async () => {
      await start({ maxBodyBytes: 100_000 });
      const half = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
      half.resume();
      half.on('error', () => {});
      half.write(head(10_000_000_000));
      await once(half, 'end');
      await app.fastify.close();
      expect(app.fastify.server.listening).toBe(false);
      half.destroy();
    });
  });

  it('that are refused are read away, so that the answer arrives and the connection lives on', async () => {
    await start();
    const { write, receive, received } = await client();
    const body = Buffer.alloc(8_000_000, ' ');
    await write(`POST /api/send HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n`);
    await write(body);
    expect(parseAnswer(await receive('"code"'))).toMatchObject({ status: 401, code: 'unauthorized' });
    expect(received().toLowerCase()).not.toContain('connection: close');
    await write(request('GET', '/api/health'));
    await receive('email-worker-api');
  });

  it('with too large attachments are refused at once, and the rest is read away', async () => {
    await start({ maxAttachmentBytes: 100_000, maxBodyBytes: 9_000_000 });
    const { write, receive } = await client();
    const size = beginning.length + ending.length;
    await write(sendRequest(`Content-Length: ${size}`));
    await write(beginning);
    expect(parseAnswer(await receive('"code"'))).toMatchObject({
      status: 413,
      code: 'attachments_too_large',
    });
    expect(await app.spooled()).toEqual([]);
    await write(ending);
    await write(request('GET', '/api/health'));
    await receive('email-worker-api');
  });

  it('that never end are read away only so far', async () => {
    await start({ maxBodyBytes: 500_000 });
    const { write, socket, closed } = await client();
    await write(sendRequest('Transfer-Encoding: chunked'));
    const chunk = Buffer.from(`10000\r\n${' '.repeat(0x10000)}\r\n`);
    while (!socket.destroyed) await write(chunk);
    expect(parseAnswer(await closed())).toMatchObject({ status: 413, code: 'payload_too_large' });
  });

  it('are asked for with 100 Continue only when they are wanted', async () => {
    await start();
    const refused = await client();
    await refused.write(
      'POST /api/send HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n',
    );
    const answer = await refused.closed();
    expect(answer).not.toContain('100 Continue');
    expect(parseAnswer(answer)).toMatchObject({ status: 401 });

    const wanted = await client();
    await wanted.write(sendRequest(`Content-Length: ${small.length}`, 'Expect: 100-continue'));
    await wanted.receive('100 Continue');
    await wanted.write(small);
    expect(await wanted.receive('"sent"')).toContain('200 OK');
  });

  it('come also with expectations nobody knows', async () => {
    await start();
    const { write, receive } = await client();
    await write(sendRequest(`Content-Length: ${small.length}`, 'Expect: 200-ok'));
    await write(small);
    expect(await receive('"sent"')).toContain('200 OK');
  });
});

describe('connections', () => {
  it('may carry requests without waiting, answered in order', async () => {
    await start();
    const { write, receive } = await client();
    await write(
      request('GET', '/api/health') +
        `${sendRequest(`Content-Length: ${small.length}`)}${small}` +
        request('GET', '/api/nope'),
    );
    expect(await receive('not_found')).toMatch(/email-worker-api[^]*"sent"[^]*not_found/);
  });

  it('close after the answer once shutdown began', async () => {
    await start();
    const { write, receive, closed } = await client();
    await write(request('GET', '/api/health'));
    await receive('email-worker-api');
    app.beginShutdown();
    await write(request('GET', '/api/health'));
    expect(await closed()).toMatch(/503 [^]*connection: close[^]*shutting_down/i);
  });

  it('end with the answer that was under way when shutdown began', async () => {
    let finish = (): void => {};
    const running = new Promise<void>((resolve) => (finish = resolve));
    await start({}, { readThread: () => running.then(() => toEmailsJson([])) });
    const { write, closed } = await client();
    await write(request('GET', `/api/thread/${IDS.thread}`));
    const other = await client();
    await other.write(request('GET', '/api/health'));
    await other.receive('email-worker-api');
    app.beginShutdown();
    const closing = app.fastify.close();
    finish();
    expect(await closed()).toMatch(/200 OK[^]*connection: close[^]*"emails":\[\]/i);
    await closing;
  });

  it('end with the download that was under way when shutdown began', async () => {
    const source = new PassThrough();
    await start({}, { openAttachment: async () => source });
    const { write, receive, closed } = await client();
    await write(request('GET', `/api/attachments/${IDS.attachment}`));
    source.write(FILE.subarray(0, 5));
    await receive('01234');
    const closing = app.fastify.close();
    source.end(FILE.subarray(5));
    expect(await closed()).toContain(FILE.toString());
    await closing;
  });

  it('that wait for a request do not hold up the end', async () => {
    await start();
    const { write, receive, closed } = await client();
    await write(request('GET', '/api/health'));
    await receive('email-worker-api');
    await app.fastify.close();
    expect(await closed()).toContain('200 OK');
  });
});

describe('downloads', () => {
  const download = request('GET', `/api/attachments/${IDS.attachment}`);
  const large = { ...sampleAttachment, sizeBytes: 1_000_000_000 };

  it('are ended when the client goes away', async () => {
    const source = new Readable({
      read() {
        this.push(Buffer.alloc(65_536));
      },
    });
    await start({}, { readAttachment: async () => large, openAttachment: async () => source });
    const { write, socket } = await client();
    await write(download);
    await once(socket, 'data');
    socket.resetAndDestroy();
    await expect.poll(() => source.destroyed).toBe(true);
    expect(app.logs).toEqual([]);
  });

  it('are ended when the client takes nothing any more', async () => {
    const source = new Readable({
      read() {
        this.push(Buffer.alloc(65_536));
      },
    });
    const overrides = { readAttachment: async () => large, openAttachment: async () => source };
    await start({ answerIdleTimeoutMs: 300 }, overrides);
    const { write, socket, closed } = await client();
    socket.pause();
    await write(download);
    await expect.poll(() => source.destroyed).toBe(true);
    socket.resume();
    expect((await closed()).length).toBeLessThan(large.sizeBytes);
    expect(app.logs).toEqual([]);
  });

  it('that fail in the middle cut the connection, and are logged', async () => {
    const source = new PassThrough();
    await start({}, { openAttachment: async () => source });
    const { write, receive, closed } = await client();
    await write(download);
    source.write('01234');
    await receive('01234');
    source.destroy(new Error('disk on fire'));
    const answer = await closed();
    expect(answer).not.toContain('disk on fire');
    await expect.poll(() => app.logs).toMatchObject([{ level: 'error' }]);
  });

  it('of a file that is shorter than recorded cut the connection', async () => {
    const bytes = FILE.subarray(1);
    await start({}, { openAttachment: async () => Readable.from([bytes], { objectMode: false }) });
    const { write, closed } = await client();
    await write(download + request('GET', '/api/health'));
    expect(await closed()).not.toContain('email-worker-api');
    await expect.poll(() => app.logs).toMatchObject([{ level: 'error' }]);
  });

  it('of a file that is longer than recorded are an error', async () => {
    const bytes = Buffer.concat([FILE, FILE]);
    await start({}, { openAttachment: async () => Readable.from([bytes], { objectMode: false }) });
    const { write, receive } = await client();
    await write(download);
    const answer = await receive('"code"');
    expect(parseAnswer(answer)).toMatchObject({ status: 500, code: 'internal_error' });
    expect(answer).not.toMatch(/etag|disposition|application.pdf/i);
    expect(app.logs).toMatchObject([{ level: 'error' }]);
  });
});
