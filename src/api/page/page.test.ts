/** The page's files as a browser receives them. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { brotliDecompressSync, brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestHttpApp, type TestHttpApp } from '../../../test/helpers/http-app.ts';
import { createRecordingApplication } from '../../../test/helpers/recording-application.ts';

const HTML =
  '<!doctype html><title>Mail</title><script type="module" src="/assets/index-a1b2c3.js"></script>';
const SCRIPT = 'console.log("hello")';
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

let temp: string;
let folder: string;
let app: TestHttpApp;

beforeAll(async () => {
  temp = await mkdtemp(path.join(tmpdir(), 'email-worker-page-'));
  folder = path.join(temp, 'page');
  await mkdir(path.join(folder, 'assets'), { recursive: true });
  const files = {
    'index.html': HTML,
    'index.html.br': brotliCompressSync(HTML),
    'index.html.gz': gzipSync(HTML),
    'assets/index-a1b2c3.js': SCRIPT,
    'assets/index-a1b2c3.js.br': brotliCompressSync(SCRIPT),
    'icon.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  };
  for (const [name, content] of Object.entries(files)) await writeFile(path.join(folder, name), content);
  await writeFile(path.join(temp, 'beside.txt'), 'not of the page');
  app = await createTestHttpApp({ application: createRecordingApplication(), page: folder });
});
afterAll(async () => {
  await app.close();
  await rm(temp, { recursive: true, force: true });
});

const get = (
  url: string,
  headers: Readonly<Record<string, string>> = {},
  method: 'GET' | 'HEAD' | 'POST' = 'GET',
) => app.fastify.inject({ url, method, headers });

describe('the page', () => {
  it('is at / and at every address that only its script knows', async () => {
    for (const url of [
      '/',
      '/t/0190b2a0-0000-7000-8000-000000000003',
      '/search?q=a%20b',
      '/login/x',
      '/apiary',
    ]) {
      const response = await get(url, { accept: BROWSER });
      expect([url, response.statusCode, response.body]).toEqual([url, 200, HTML]);
      expect(response.headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-cache',
        vary: 'accept-encoding',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
      });
    }
    expect((await get('/', { accept: BROWSER }, 'HEAD')).body).toBe('');
  });

  it('may run and load only what is its own, and no other page frames it', async () => {
    const csp = String((await get('/')).headers['content-security-policy']);
    const directives = new Map(csp.split('; ').map((one) => one.split(/ (.*)/s) as [string, string]));
    expect(directives.get('default-src')).toBe("'none'");
    expect(directives.get('script-src')).toBe("'self'");
    expect(directives.get('style-src')).toBe("'self'");
    expect(directives.get('connect-src')).toBe("'self'");
    expect(directives.get('frame-ancestors')).toBe("'none'");
    expect(directives.get('base-uri')).toBe("'none'");
    expect(csp).not.toMatch(/unsafe|https?:|\*/);
  });

  it.each([
    ['/api/nothing', 404],
    ['/api', 404],
    ['/api/threads', 401],
    ['/mcp', 404],
    ['/unsubscribe', 404],
    ['/assets/index-old.js', 404],
    ['/assets/../index.html.br', 200],
    ['/..%2fbeside.txt', 200],
  ])('does not hide the answer of %s', async (url, status) => {
    const response = await get(url, { accept: BROWSER });
    expect(response.statusCode).toBe(status);
    expect(response.body).not.toContain('not of the page');
    expect(response.body.startsWith('{')).toBe(status !== 200);
  });

  it('is nothing to programs, nor for other methods', async () => {
    expect((await get('/t/1')).json()).toMatchObject({ code: 'not_found' });
    expect((await get('/t/1', { accept: 'application/json' })).statusCode).toBe(404);
    expect((await get('/t/1', { accept: BROWSER }, 'POST')).statusCode).toBe(404);
    expect((await get('/', { accept: BROWSER }, 'POST')).json()).toMatchObject({
      code: 'method_not_allowed',
    });
  });

  it('is sent compressed to those who take it, and not at all to those who have it', async () => {
    const compressed = await get('/', { 'accept-encoding': 'gzip, deflate, br, zstd' });
    expect(compressed.headers['content-encoding']).toBe('br');
    expect(brotliDecompressSync(compressed.rawPayload).toString()).toBe(HTML);
    expect((await get('/', { 'accept-encoding': 'gzip' })).headers['content-encoding']).toBe('gzip');
    expect((await get('/', { 'accept-encoding': 'identity' })).body).toBe(HTML);
    const etag = String(compressed.headers.etag);
    const again = await get('/', { 'accept-encoding': 'br', 'if-none-match': etag });
    expect([again.statusCode, again.body, again.headers['cache-control']]).toEqual([304, '', 'no-cache']);
    // Another encoding is a different representation.
    expect((await get('/', { 'if-none-match': etag })).statusCode).toBe(200);
  });
});

describe('a file of the page', () => {
  it('that is named by its content is kept for ever', async () => {
    const response = await get('/assets/index-a1b2c3.js', { 'accept-encoding': 'br' });
    expect(brotliDecompressSync(response.rawPayload).toString()).toBe(SCRIPT);
    expect(response.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'content-encoding': 'br',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      vary: 'accept-encoding',
    });
    expect((await get('/assets/index-a1b2c3.js')).body).toBe(SCRIPT);
  });

  it('of another name is asked for each time', async () => {
    const response = await get('/icon.svg');
    expect([response.statusCode, response.headers['cache-control']]).toEqual([200, 'no-cache']);
    expect(response.headers['content-type']).toBe('image/svg+xml');
    const again = await get('/icon.svg', { 'if-none-match': String(response.headers.etag) });
    expect(again.statusCode).toBe(304);
  });

  it('that is only a compressed copy has no address', async () => {
    expect((await get('/index.html.br')).statusCode).toBe(404);
    expect((await get('/assets/index-a1b2c3.js.br')).statusCode).toBe(404);
  });
});

it('without a page there is none', async () => {
  const bare = await createTestHttpApp({ application: createRecordingApplication() });
  try {
    expect((await bare.fastify.inject({ url: '/', headers: { accept: BROWSER } })).statusCode).toBe(404);
  } finally {
    await bare.close();
  }
});
