/** The TypeScript client in Chromium: the packed files as they are, without a bundler, against the real service. */
import { readFileSync } from 'node:fs';
import { createServer, request as forward, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { transform } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { skipWithoutChromium, startChromium } from '../helpers/chromium.ts';
import { startServiceWithSink } from '../helpers/running-service.ts';
import { TEST_SECRET, type ServiceProcess } from '../helpers/service-process.ts';
import { makeProject, readmeProgram, type Project } from './package.ts';

const IMPORTS = {
  'email-worker-client': '/node_modules/email-worker-client/dist/index.js',
  'openapi-fetch': '/node_modules/openapi-fetch/dist/index.mjs',
};
const PAGE = `<!doctype html><title>test</title><script type="importmap">${JSON.stringify({ imports: IMPORTS })}</script>`;

describe.skipIf(skipWithoutChromium())('in Chromium', () => {
  let service: ServiceProcess;
  let end: () => Promise<void>;
  let project: Project;
  let server: Server;
  let origin: string;
  let browser: Browser;
  let page: Page;
  let redirectTo = '';

  /** Serves the page, the files of the package, and the API as a proxy would at the page's origin. */
  function serve(): Server {
    return createServer((request, response) => {
      const { pathname, search } = new URL(request.url ?? '/', 'http://page.test');
      if (pathname.startsWith('/api/')) {
        const { method, headers } = request;
        const onward = forward(service.url + pathname + search, { method, headers }, (answer) => {
          response.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(response);
        });
        request.pipe(onward);
      } else if (pathname.startsWith('/moved/')) {
        response.writeHead(307, { location: `${redirectTo}/api/health` }).end();
      } else if (pathname === '/') {
        response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE);
      } else if (/\.m?js$/.test(pathname)) {
        const text = readFileSync(path.join(project.folder, pathname));
        response.writeHead(200, { 'content-type': 'text/javascript' }).end(text);
      } else {
        response.writeHead(404).end();
      }
    });
  }

  beforeAll(async () => {
    [{ service, end }, project, browser] = await Promise.all([
      startServiceWithSink(),
      makeProject(),
      startChromium(),
    ]);
    const { code } = await transform(readmeProgram('browser'), { loader: 'ts', format: 'esm' });
    await project.write('readme.js', code);
    server = serve();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    page = await browser.newPage();
    await page.goto(origin);
    // The README reads its settings from `process.env`, as in Node.js.
    await page.evaluate((env) => Object.assign(globalThis, { process: { env } }), {
      EMAIL_WORKER_URL: origin,
      API_SECRET: TEST_SECRET,
    });
  });
  afterAll(async () => {
    await browser.close();
    await new Promise((resolve) => server.close(resolve).closeAllConnections());
    await project.dispose();
    await end();
  });

  it('the examples of the README run', async () => {
    const lines: string[] = [];
    page.on('console', (message) => lines.push(message.text()));
    await page.evaluate("import('/readme.js')");
    expect(lines).toEqual(
      expect.arrayContaining([
        'outbound Hello Good morning!',
        'true euros',
        'received true',
        'eve@example.com manual',
        '404 Der Thread wurde nicht gefunden. null',
      ]),
    );
    expect(await (await service.request('/api/emails?q=offer.txt')).json()).toMatchObject({
      emails: [{ email_attachments: [{ filename: 'offer.txt' }, { filename: 'logo.svg' }] }],
    });
  });

  it('a redirect to another origin is an error, and takes no secret there', async () => {
    const seen: unknown[] = [];
    const elsewhere = createServer((request, response) => {
      seen.push(request.headers);
      response
        .writeHead(200, { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' })
        .end('{}');
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
    redirectTo = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;
    const code = await page.evaluate(`(async () => {
      const { createClient } = await import('email-worker-client');
      const client = createClient({ url: location.origin + '/moved', secret: process.env.API_SECRET });
      return client.accounts.list().then(() => 'listed', (error) => error.code);
    })()`);
    await new Promise((resolve) => elsewhere.close(resolve).closeAllConnections());
    expect(code).toBe('unexpected_redirect');
    expect(seen).toEqual([]);
  });
});
