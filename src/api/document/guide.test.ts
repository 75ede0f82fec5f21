import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestHttpApp, type TestHttpApp } from '../../../test/helpers/http-app.ts';
import { createRecordingApplication } from '../../../test/helpers/recording-application.ts';
import { makeTempFolder } from '../../../test/helpers/temp-folder.ts';
import { createGuide } from './guide.ts';

describe('the guide', () => {
  let app: TestHttpApp;
  const get = (url: string) => app.fastify.inject(url);
  const linksOf = (html: string) => [...html.matchAll(/href="(\/[^"]*)"/g)].map(([, url = '']) => url);

  beforeAll(async () => {
    app = await createTestHttpApp({
      application: createRecordingApplication(),
      guide: fileURLToPath(new URL('../../../docs', import.meta.url)),
    });
  });
  afterAll(() => app.close());

  it('is served without scripts, and each page of it leads to pages and headings that are there', async () => {
    const { headers, body } = await get('/api/docs/guide');
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(headers['content-security-policy']).toContain("default-src 'none'; style-src 'self';");
    const pages = linksOf(body).filter((url) => url.startsWith('/api/docs/') && !url.includes('#'));
    expect(pages.length).toBeGreaterThan(15);
    const links = new Set<string>();
    for (const page of pages) for (const link of linksOf((await get(page)).body)) links.add(link);
    for (const link of links) {
      const [url = '', anchor] = link.split('#');
      const { statusCode, body: text } = await get(url);
      const hasAnchor = anchor === undefined || text.includes(`id="${anchor}"`);
      expect([link, statusCode, hasAnchor]).toEqual([link, 200, true]);
    }
  });

  it('is linked by the OpenAPI document', async () => {
    const document = (await get('/api/openapi.json')).json<{
      externalDocs: { url: string };
      tags: { externalDocs: { url: string } }[];
    }>();
    for (const { externalDocs } of [document, ...document.tags])
      expect([externalDocs.url, (await get(externalDocs.url)).statusCode]).toEqual([externalDocs.url, 200]);
  });

  it.each([
    '/api/docs/..%2fREADME',
    '/api/docs/%2e%2e/README',
    '/api/docs/openapi.json',
    '/api/docs/constructor',
  ])('has no other file: %s', async (url) => {
    expect((await get(url)).statusCode).toBe(404);
  });
});

it('a page shows HTML in its text as text where it is code, and links that leave the pages as text', async () => {
  const folder = await makeTempFolder();
  await mkdir(path.join(folder.path, 'api'));
  const text = '# `<b>` & more\n\n`<script>` [out](../../src/main.ts) [b](../b.md#c "t")';
  await writeFile(path.join(folder.path, 'api/a.md'), text);
  const html = await createGuide(folder.path, '/api/docs').page('a');
  await folder.remove();
  expect(html).toContain('<h1 id="b--more"><code>&lt;b&gt;</code> &amp; more</h1>');
  expect(html).toContain('<code>&lt;script&gt;</code> out <a href="/api/docs/b#c">b</a>');
});
