/** Bodies that stall, break off, are too large, or never end. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { TestHttpApp } from '../../test/helpers/http-app.ts';
import {
  parseRawError,
  rawRequest,
  rawSend,
  SMALL_SEND,
  startRawHttp,
  type RawHttp,
} from '../../test/helpers/raw-http.ts';
import type { HttpLimits } from '../platform/http/connections/limits.ts';

let http: RawHttp;
async function start(limits?: Partial<HttpLimits>): Promise<void> {
  http = await startRawHttp(limits);
}
afterEach(() => http.close());

/** The beginning of a send whose attachment is under way: 1 MiB of Base64. */
const beginning = Buffer.from(
  `{"to":"a@example.com","subject":"s","text_body":"t","attachments":[{"filename":"f","content":"${'QUJD'.repeat(262_144)}`,
);
const ending = Buffer.from('"}]}');

/** The number of the service's connections. */
function connections({ fastify }: TestHttpApp): Promise<number> {
  return new Promise((resolve, reject) => {
    fastify.server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
  });
}

describe('bodies', () => {
  it('may come in chunks, byte by byte', async () => {
    await start();
    const { write, receive } = await http.client();
    await write(rawSend('Transfer-Encoding: chunked'));
    for (const byte of SMALL_SEND) await write(`1\r\n${byte}\r\n`);
    await write('0\r\n\r\n');
    expect(await receive('"sent"')).toContain('200 OK');
    expect(http.application.sends).toHaveLength(1);
  });

  it('that stop are given up with 408, and nothing is left', async () => {
    // Long enough even on a busy machine to see what has arrived by then.
    await start({ bodyIdleTimeoutMs: 2000 });
    const { write, closed } = await http.client();
    await write(rawSend('Content-Length: 9000000'));
    await write(beginning);
    await expect.poll(() => http.app.spooled()).toHaveLength(1);
    expect(parseRawError(await closed())).toMatchObject({
      status: 408,
      code: 'request_timeout',
      head: expect.stringContaining('connection: close'),
    });
    await expect.poll(() => http.app.spooled()).toEqual([]);
  });

  it('that break off leave nothing, and no failure is logged', async () => {
    await start();
    const { write, socket } = await http.client();
    await write(rawSend('Content-Length: 9000000'));
    await write(beginning);
    await expect.poll(() => http.app.spooled()).toHaveLength(1);
    socket.resetAndDestroy();
    await expect.poll(() => http.app.spooled()).toEqual([]);
    expect(http.application.sends).toEqual([]);
    expect(http.app.logs).toEqual([]);
  });

  it.each([
    ['declared', `Content-Length: ${SMALL_SEND.length + 5}`, SMALL_SEND],
    ['chunked', 'Transfer-Encoding: chunked', `${SMALL_SEND.length.toString(16)}\r\n${SMALL_SEND}\r\n`],
  ])('that are cut off by the end of the connection are not sent: %s', async (_name, header, body) => {
    await start();
    const { write, socket, closed } = await http.client();
    await write(rawSend(header));
    await write(body);
    socket.end();
    expect(parseRawError(await closed())).toMatchObject({ status: 400, code: 'invalid_request' });
    expect(http.application.sends).toEqual([]);
  });

  it('that are longer than declared do not become part of the send', async () => {
    await start();
    const { write, closed } = await http.client();
    await write(`${rawSend(`Content-Length: ${SMALL_SEND.length}`)}${SMALL_SEND}nonsense\r\n\r\n`);
    const answer = await closed();
    expect(http.application.sends).toHaveLength(1);
    expect(answer).not.toContain('internal_error');
  });

  it('that are far too large are refused before they come', async () => {
    await start();
    const { write, closed } = await http.client();
    await write(rawSend('Content-Length: 10000000000'));
    expect(parseRawError(await closed())).toMatchObject({ status: 413, code: 'payload_too_large' });
  });

  describe.each([
    ['declared', (bytes: number) => rawSend(`Content-Length: ${bytes}`), 413, 'payload_too_large'],
    [
      'declared, with Expect',
      (bytes: number) => rawSend(`Content-Length: ${bytes}`, 'Expect: 100-continue'),
      413,
      'payload_too_large',
    ],
    [
      'declared, without the secret',
      (bytes: number) => `POST /api/send HTTP/1.1\r\nHost: x\r\nContent-Length: ${bytes}\r\n\r\n`,
      401,
      'missing_credentials',
    ],
    ['behind a head that is no HTTP', () => 'nonsense\r\n\r\n', 400, 'invalid_request'],
    ['in a header', () => rawRequest('GET', '/', [`A: ${'x'.repeat(20_000)}`]), 431, 'headers_too_large'],
  ])('that are far too large, %s', (_name, head, status, code) => {
    it('get their answer also when the client writes everything before it reads', async () => {
      await start({ maxBodyBytes: 100_000 });
      const { write, socket, closed } = await http.client();
      socket.pause();
      await write(head(40_000_000));
      for (let piece = 0; piece < 40; piece++) await write(Buffer.alloc(1_000_000, ' '));
      socket.resume();
      expect(parseRawError(await closed())).toMatchObject({
        status,
        code,
        head: expect.stringContaining('connection: close'),
      });
    });

    it('are cut off when they do not end', async () => {
      await start({ maxBodyBytes: 100_000, lingerBytes: 3_000_000 });
      const { write, socket } = await http.client();
      await write(head(10_000_000_000));
      const piece = Buffer.alloc(100_000, ' ');
      while (!socket.destroyed) await write(piece);
      expect(socket.bytesWritten).toBeLessThan(100_000_000);
    });

    it('are cut off when nothing comes any more', async () => {
      await start({ maxBodyBytes: 100_000, lingerIdleMs: 200 });
      const half = connect({ port: http.port, host: '127.0.0.1', allowHalfOpen: true });
      half.resume();
      half.on('error', () => {});
      half.write(head(10_000_000_000));
      await once(half, 'end');
      await expect.poll(() => connections(http.app)).toBe(0);
      half.destroy();
    });

    it('do not delay the shutdown of the service', async () => {
      await start({ maxBodyBytes: 100_000 });
      const half = connect({ port: http.port, host: '127.0.0.1', allowHalfOpen: true });
      half.resume();
      half.on('error', () => {});
      half.write(head(10_000_000_000));
      await once(half, 'end');
      await http.app.fastify.close();
      expect(http.app.fastify.server.listening).toBe(false);
      half.destroy();
    });
  });

  it('that are refused are read and dropped, so that the answer arrives and the connection stays open', async () => {
    await start();
    const { write, receive, received } = await http.client();
    const body = Buffer.alloc(8_000_000, ' ');
    await write(`POST /api/send HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n`);
    await write(body);
    expect(parseRawError(await receive('"code"'))).toMatchObject({
      status: 401,
      code: 'missing_credentials',
    });
    expect(received().toLowerCase()).not.toContain('connection: close');
    await write(rawRequest('GET', '/api/health'));
    await receive('email-worker-api');
  });

  it('with attachments that are too large are refused at once, and the rest is read and dropped', async () => {
    await start({ maxAttachmentBytes: 100_000, maxBodyBytes: 9_000_000 });
    const { write, receive } = await http.client();
    const size = beginning.length + ending.length;
    await write(rawSend(`Content-Length: ${size}`));
    await write(beginning);
    expect(parseRawError(await receive('"code"'))).toMatchObject({
      status: 413,
      code: 'attachments_too_large',
    });
    expect(await http.app.spooled()).toEqual([]);
    await write(ending);
    await write(rawRequest('GET', '/api/health'));
    await receive('email-worker-api');
  });

  it('that never end are read and dropped only up to a limit', async () => {
    await start({ maxBodyBytes: 500_000 });
    const { write, socket, closed } = await http.client();
    await write(rawSend('Transfer-Encoding: chunked'));
    const chunk = Buffer.from(`10000\r\n${' '.repeat(0x10000)}\r\n`);
    while (!socket.destroyed) await write(chunk);
    expect(parseRawError(await closed())).toMatchObject({ status: 413, code: 'payload_too_large' });
  });

  it('are asked for with 100 Continue only when they are wanted', async () => {
    await start();
    const refused = await http.client();
    await refused.write(
      'POST /api/send HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n',
    );
    const answer = await refused.closed();
    expect(answer).not.toContain('100 Continue');
    expect(parseRawError(answer)).toMatchObject({ status: 401 });

    const wanted = await http.client();
    await wanted.write(rawSend(`Content-Length: ${SMALL_SEND.length}`, 'Expect: 100-continue'));
    await wanted.receive('100 Continue');
    await wanted.write(SMALL_SEND);
    expect(await wanted.receive('"sent"')).toContain('200 OK');
  });

  it('also come with unknown expectations', async () => {
    await start();
    const { write, receive } = await http.client();
    await write(rawSend(`Content-Length: ${SMALL_SEND.length}`, 'Expect: 200-ok'));
    await write(SMALL_SEND);
    expect(await receive('"sent"')).toContain('200 OK');
  });
});
