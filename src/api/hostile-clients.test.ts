/** Clients that write broken HTTP, or that are connected when the service ends. */
import { PassThrough } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { toEmailsJson } from '../../test/helpers/emails-json.ts';
import { SECRET } from '../../test/helpers/http-app.ts';
import {
  parseRawError,
  rawRequest,
  rawSend,
  SMALL_SEND,
  startRawHttp,
  type RawHttp,
} from '../../test/helpers/raw-http.ts';
import { FILE, IDS } from '../../test/helpers/sample-emails.ts';
import type { Application } from './application.ts';
import type { HttpLimits } from '../platform/http/connections/limits.ts';

let http: RawHttp;
async function start(limits?: Partial<HttpLimits>, overrides?: Partial<Application>): Promise<void> {
  http = await startRawHttp(limits, overrides);
}
afterEach(() => http.close());

const CHUNKED = 'Transfer-Encoding: chunked';
const KEPT = 'Connection: keep-alive';
const fields = (count: number): string[] => Array.from({ length: count }, () => 'a:b');
const inOldHttp = (request: string): string => request.replace(' HTTP/1.1', ' HTTP/1.0');

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
    ['a negative length', rawSend('Content-Length: -1'), 400, 'invalid_request'],
    ['a huge length', rawSend(`Content-Length: ${'9'.repeat(30)}`), 400, 'invalid_request'],
    [
      'headers that are too large',
      rawRequest('GET', '/api/health', [`A: ${'x'.repeat(20_000)}`]),
      431,
      'headers_too_large',
    ],
    ['a path that is too large', rawRequest('GET', `/${'x'.repeat(20_000)}`), 431, 'headers_too_large'],
    ['a bad chunk', `${rawSend('Transfer-Encoding: chunked')}zz\r\n`, 400, 'invalid_request'],
  ])('%s', async (_name, text, status, code) => {
    await start();
    const { write, closed } = await http.client();
    await write(Buffer.from(text, 'latin1'));
    expect(parseRawError(await closed())).toMatchObject({
      status,
      code,
      head: expect.stringMatching(/content-type: application\/json[^]*connection: close/),
    });
    expect(http.application.sends).toEqual([]);
  });

  it.each([
    ['more header fields than are read', rawSend(...fields(200), 'Content-Length: 2'), 431],
    ['more header fields than Node.js passes on', rawSend(...fields(2000), 'Content-Length: 2'), 431],
    ['chunks in HTTP/1.0', inOldHttp(rawSend('Connection: keep-alive', CHUNKED)), 400],
    ['chunks in HTTP/1.0 at a bad path', inOldHttp(rawRequest('POST', '/%zz', [KEPT, CHUNKED])), 400],
    ['a compressed transfer', rawSend('Transfer-Encoding: gzip, chunked'), 501],
    ['a compressed transfer in two fields', rawSend('Transfer-Encoding: gzip', CHUNKED), 501],
  ])('%s, and nothing behind it is taken for a request', async (_name, head, status) => {
    await start();
    const { write, closed } = await http.client();
    const body = head.includes('chunked') ? '2\r\n{}\r\n0\r\n\r\n' : '{}';
    await write(
      `${head}${body}${rawSend(`Content-Length: ${SMALL_SEND.length}`)}${SMALL_SEND}${rawRequest('GET', '/api/health')}`,
    );
    const answer = await closed();
    expect(parseRawError(answer)).toMatchObject({
      status,
      head: expect.stringMatching(/connection: close/) as string,
    });
    expect(answer.match(/^HTTP\/1\.1 /gm)).toHaveLength(1);
    expect(http.application.sends).toEqual([]);
  });

  it('but not for as many header fields as proxies send, nor for chunks in any case of letters', async () => {
    await start();
    const { write, receive } = await http.client();
    const chunks = `${SMALL_SEND.length.toString(16)}\r\n${SMALL_SEND}\r\n0\r\n\r\n`;
    await write(`${rawSend(...fields(190), 'Transfer-Encoding: CHUNKED')}${chunks}`);
    expect(await receive('"sent"')).toContain('200 OK');
  });

  it('for a request without Host, but not in HTTP/1.0', async () => {
    await start();
    const { write, receive } = await http.client();
    await write('GET /api/health HTTP/1.1\r\n\r\n');
    expect(parseRawError(await receive('"code"'))).toMatchObject({ status: 400, code: 'invalid_request' });
    const old = await http.client();
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
    const { write, receive } = await http.client();
    await write(`${['GET /api/health HTTP/1.1', ...headers].join('\r\n')}\r\n\r\n`);
    const answer = await receive('"code"');
    expect(parseRawError(answer)).toMatchObject({ status: 400, code: 'invalid_request' });
    expect(Buffer.from(answer, 'latin1').toString('utf8')).toContain(detail);
  });

  it.each(['', 'example.com', 'example.com:3000', '127.0.0.1:80', '[::1]:3000', 'EXAMPLE.com.', 'x_y:'])(
    'but not for the Host "%s"',
    async (host) => {
      await start();
      const { write, receive } = await http.client();
      await write(`GET /api/health HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      expect(await receive('email-worker-api')).toContain('200 OK');
    },
  );

  it('for headers that never end', async () => {
    await start({ headersTimeoutMs: 200, requestTimeoutMs: 5000 });
    const { write, closed } = await http.client();
    await write('GET /api/health HTTP/1.1\r\nHost: x\r\nA: ');
    expect(parseRawError(await closed())).toMatchObject({ status: 408, code: 'request_timeout' });
  });

  it('but never in the middle of another answer', async () => {
    const source = new PassThrough();
    await start({}, { openAttachment: async () => source });
    const { write, receive, closed } = await http.client();
    await write(rawRequest('GET', `/api/attachments/${IDS.attachment}`));
    source.write('01234');
    await receive('01234');
    await write('nonsense\r\n\r\n');
    expect((await closed()).split('\r\n\r\n')[1]).toBe('01234');
    await expect.poll(() => source.destroyed).toBe(true);
  });
});

describe('connections', () => {
  it('may carry requests without waiting, answered in order', async () => {
    await start();
    const { write, receive } = await http.client();
    await write(
      rawRequest('GET', '/api/health') +
        `${rawSend(`Content-Length: ${SMALL_SEND.length}`)}${SMALL_SEND}` +
        rawRequest('GET', '/api/nope'),
    );
    expect(await receive('not_found')).toMatch(/email-worker-api[^]*"sent"[^]*not_found/);
  });

  it('close after the answer once shutdown began', async () => {
    await start();
    const { write, receive, closed } = await http.client();
    await write(rawRequest('GET', '/api/health'));
    await receive('email-worker-api');
    http.app.shutdown.end();
    await write(rawRequest('GET', '/api/health'));
    expect(await closed()).toMatch(/503 [^]*connection: close[^]*shutting_down/i);
  });

  it('end with the answer that was under way when shutdown began', async () => {
    let finish = (): void => {};
    const running = new Promise<void>((resolve) => (finish = resolve));
    await start({}, { readThread: () => running.then(() => ({ version: '0', emails: toEmailsJson([]) })) });
    const { write, closed } = await http.client();
    await write(rawRequest('GET', `/api/thread/${IDS.thread}`));
    const other = await http.client();
    await other.write(rawRequest('GET', '/api/health'));
    await other.receive('email-worker-api');
    http.app.shutdown.end();
    const closing = http.app.fastify.close();
    finish();
    expect(await closed()).toMatch(/200 OK[^]*connection: close[^]*"emails":\[\]/i);
    await closing;
  });

  it('end with the download that was under way when shutdown began', async () => {
    const source = new PassThrough();
    await start({}, { openAttachment: async () => source });
    const { write, receive, closed } = await http.client();
    await write(rawRequest('GET', `/api/attachments/${IDS.attachment}`));
    source.write(FILE.subarray(0, 5));
    await receive('01234');
    const closing = http.app.fastify.close();
    source.end(FILE.subarray(5));
    expect(await closed()).toContain(FILE.toString());
    await closing;
  });

  it('that wait for a request do not delay the shutdown', async () => {
    await start();
    const { write, receive, closed } = await http.client();
    await write(rawRequest('GET', '/api/health'));
    await receive('email-worker-api');
    await http.app.fastify.close();
    expect(await closed()).toContain('200 OK');
  });
});
