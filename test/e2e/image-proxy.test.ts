/** Remote images of mail, which the service loads for its readers; the sender's server is on this machine, behind a public name. */
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { skipWithoutChromium } from '../helpers/chromium.ts';
import { startImageServer, PUBLIC_NAMES, type ImageServer } from '../helpers/image-server.ts';
import { mail, receive } from '../helpers/inbound-mail.ts';
import { usePages } from '../helpers/open-page.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { getJson } from '../helpers/running-service.ts';
import { PNG, SVG } from '../helpers/sample-images.ts';
import {
  disposeService,
  startServiceProcess,
  TEST_SECRET,
  type ServiceProcess,
} from '../helpers/service-process.ts';

interface Shown {
  readonly html_safe: string;
  readonly image_proxy: boolean;
  readonly removed: { readonly remote_images: number };
}

const HEADERS = ['MIME-Version: 1.0', 'Content-Type: text/html; charset=utf-8'];
let database: TestDatabase;
let service: ServiceProcess;
let sender: ImageServer;

const start = (env: Readonly<Record<string, string>> = {}, dataDir?: string) =>
  startServiceProcess({
    env: { DATABASE_URL: database.connectionString, ...PUBLIC_NAMES, ...env },
    ...(dataDir === undefined ? {} : { dataDir }),
  });

beforeAll(async () => {
  database = await createTestDatabase();
  service = await start();
});
afterAll(async () => {
  await disposeService(service);
  await database.drop();
});
beforeEach(async () => {
  sender = await startImageServer(({ url = '' }, response) => {
    if (url.startsWith('/gone')) response.writeHead(404).end();
    else if (url.startsWith('/svg')) response.writeHead(200, { 'content-type': 'image/png' }).end(SVG);
    else if (url.startsWith('/inward'))
      response.writeHead(302, { location: `http://127.0.0.1:${sender.port}/secret` }).end();
    else response.writeHead(200, { 'content-type': 'image/png', 'set-cookie': 'a=b', 'x-own': 'a' }).end(PNG);
  });
});
afterEach(() => sender.close());

const receiveHtml = async (html: string) => await receive(service, mail({ headers: HEADERS, body: html }));
const shownOf = (id: string, query = '?remote=allow', from = service) =>
  getJson<Shown>(from, `/api/emails/${id}/html${query}`);
/** The paths of this service in safe HTML. */
const pathsIn = (html: string): string[] =>
  [...html.matchAll(/\/api\/images\/[^"&]+(?:&(?:amp;|#x26;)?[^"&)]+)+/g)].map(([found]) =>
    found.replaceAll(/&(?:amp;|#x26;)/g, '&'),
  );
const pathOf = async (address: string): Promise<string> => {
  const { id } = await receiveHtml(`<img src="${address}" alt="a">`);
  return pathsIn((await shownOf(id)).html_safe)[0] ?? '';
};
/** As an image of a page asks: without a secret. */
const load = (place: string, from = service) => fetch(from.url + place);
const codeOf = async (response: Response) => ((await response.json()) as { code: string }).code;

describe('a remote image', () => {
  it('is loaded by the service, once, with nothing of its reader', async () => {
    const place = await pathOf(`${sender.url}/a.png?for=token-7`);
    for (let count = 0; count < 2; count += 1) {
      const response = await load(place);
      expect(response.status).toBe(200);
      expect(Buffer.from(await response.arrayBuffer())).toEqual(PNG);
      const headers = Object.fromEntries(response.headers);
      expect(headers).toMatchObject({
        'content-type': 'image/png',
        'content-length': String(PNG.length),
        'content-disposition': expect.stringMatching(/^inline; filename="image";/) as unknown,
        'content-security-policy': "sandbox; default-src 'none'",
        'x-content-type-options': 'nosniff',
        'cross-origin-resource-policy': 'cross-origin',
        'cache-control': expect.stringMatching(/^private, max-age=\d+, immutable$/) as unknown,
      });
      expect(headers).not.toHaveProperty('set-cookie');
      expect(headers).not.toHaveProperty('x-own');
    }
    expect(sender.paths()).toEqual(['/a.png?for=token-7']);
    expect(Object.keys(sender.requests[0]?.headers ?? {}).sort()).toEqual([
      'accept',
      'accept-encoding',
      'connection',
      'host',
      'user-agent',
    ]);
    expect(await readdir(path.join(service.dataDir, 'remote-images'))).toHaveLength(1);
  });

  it('needs an address that the service made, for this email and this image', async () => {
    const place = await pathOf(`${sender.url}/a.png`);
    const other = await pathOf(`${sender.url}/b.png`);
    const idOf = (one: string) => new URL(one, service.url).pathname.split('/').at(-1) ?? '';
    const field = (one: string, name: string) => new URL(one, service.url).searchParams.get(name) ?? '';
    const changed = (name: string, value: string) => place.replace(field(place, name), value);
    for (const wrong of [
      place.replace(idOf(place), idOf(other)),
      changed('address', field(other, 'address')),
      changed('address', Buffer.from(`http://127.0.0.1:${sender.port}/`).toString('base64url')),
      changed('signature', field(other, 'signature')),
      changed('expires', '1769864400'),
      changed('by', 'AAAAAAAAAAAA'),
      place.replace(/&by=[^&]+/, ''),
      place.replace(/address=[^&]+&/, ''),
    ]) {
      const response = await load(wrong);
      expect([wrong, response.status, await codeOf(response)]).toEqual([wrong, 404, 'image_not_found']);
    }
    expect((await load(place.replace(/&signature=.*/, ''))).status).toBe(400);
    expect((await load(`${place}&more=a`)).status).toBe(400);
    expect((await load(`${place}&address=YQ`)).status).toBe(400);
    expect(sender.requests).toEqual([]);
  });

  it.each([
    ['an address of this machine', () => `http://127.0.0.1:${sender.port}/secret`],
    ['its decimal form', () => `http://2130706433:${sender.port}/secret`],
    ['the address of a cloud with secrets', () => `http://169.254.169.254:${sender.port}/latest/meta-data/`],
    ['a name of this machine', () => `http://localhost:${sender.port}/secret`],
    ['a name that leads inwards', () => `http://a.rebound.test:${sender.port}/secret`],
  ])('is not loaded from %s', async (_, address) => {
    const response = await load(await pathOf(address()));
    expect([response.status, await codeOf(response)]).toEqual([404, 'remote_image_unavailable']);
    expect(sender.requests).toEqual([]);
  });

  it.each(['/inward', '/svg', '/gone'])('is not shown when its server answers wrongly: %s', async (place) => {
    const own = await pathOf(sender.url + place);
    for (let count = 0; count < 2; count += 1) {
      const response = await load(own);
      expect([response.status, await codeOf(response)]).toEqual([404, 'remote_image_unavailable']);
    }
    expect(sender.paths()).toEqual([place]);
  });

  it('is gone with its email', async () => {
    const { id } = await receiveHtml(`<img src="${sender.url}/deleted.png" alt="a">`);
    const [place = ''] = pathsIn((await shownOf(id)).html_safe);
    expect((await load(place)).status).toBe(200);
    expect((await service.request(`/api/emails/${id}`, { method: 'DELETE' })).ok).toBe(true);
    expect(await codeOf(await load(place))).toBe('image_not_found');
  });

  it('leaves no more than the host of its server in the log', async () => {
    await load(await pathOf(`${sender.url}/gone/logged?for=token-8`));
    const log = service.log.join('\n');
    expect(log).toContain(`"host":"images.example:${sender.port}"`);
    expect(log).not.toMatch(/token-[78]|\/gone\/logged/);
  });

  it('keeps its address in a forward, and is counted while it is blocked', async () => {
    const { id } = await receiveHtml(`<img src="${sender.url}/a.png" alt="a"><p>Text</p>`);
    const blocked = await shownOf(id, '');
    expect(pathsIn(blocked.html_safe)).toEqual([]);
    expect(blocked).toMatchObject({ image_proxy: true, removed: { remote_images: 1 } });
    const json = { to: 'colleague@example.com', text_body: 'See below.' };
    const sent = await service.request(`/api/emails/${id}/forward`, { json });
    const { id: forward } = (await sent.json()) as { id: string };
    const raw = await (await service.request(`/api/emails/${forward}/raw`)).text();
    expect(raw).toContain('images.example');
    expect(raw).not.toContain('/api/images');
    expect(sender.requests).toEqual([]);
  });
});

describe('with IMAGE_PROXY=off', () => {
  it('browsers load remote images, the service loads none, and what it kept is gone', async () => {
    const { id } = await receiveHtml(`<img src="${sender.url}/a.png" alt="a">`);
    const [place = ''] = pathsIn((await shownOf(id)).html_safe);
    const first = await start();
    expect((await load(place, first)).status).toBe(200);
    expect(await first.stop()).toBe(0);
    const folder = path.join(first.dataDir, 'remote-images');
    expect(await readdir(folder)).toHaveLength(1);
    const off = await start({ IMAGE_PROXY: 'off' }, first.dataDir);
    try {
      const shown = await shownOf(id, '?remote=allow', off);
      expect(shown.html_safe).toContain(`src="${sender.url}/a.png"`);
      expect(shown.image_proxy).toBe(false);
      const asDocument = await off.request(`/api/emails/${id}/html?remote=allow`, {
        headers: { accept: 'text/html' },
      });
      expect(asDocument.headers.get('content-security-policy')).toContain(
        "img-src 'self' data: https: http:;",
      );
      expect(await codeOf(await load(place, off))).toBe('image_not_found');
      await expect(readdir(folder)).rejects.toThrow('ENOENT');
      expect(sender.paths()).toEqual(['/a.png']);
    } finally {
      await disposeService(off);
    }
  });
});

describe.skipIf(skipWithoutChromium())('in Chromium', () => {
  const pages = usePages();

  /** Opens the thread; returns the addresses outside the service that the browser asks for. */
  async function openThread(threadId: string): Promise<{ page: Page; outside: string[] }> {
    const page = await pages.open(service.url, '/', TEST_SECRET);
    const outside: string[] = [];
    page.on('request', (request) => {
      if (request.url().startsWith('http') && !request.url().startsWith(`${service.url}/`))
        outside.push(request.url());
    });
    await page.goto(`/t/${threadId}`);
    await page.locator('.mail-frame[data-is-loaded]').waitFor();
    return { page, outside };
  }

  /** The images of the mail, once the browser has tried to load all of them; the width of one that failed is 0. */
  async function loadedImages(page: Page, count: number) {
    const read = () =>
      page.evaluate<{ alt: string; width: number; isOver: boolean }[]>(`
        [...document.querySelector('.mail-frame').contentDocument.images].map((one) => ({
          alt: one.alt,
          width: one.naturalWidth,
          isOver: one.complete && one.currentSrc.includes('/api/images/'),
        }))`);
    const all = Array.from({ length: count }, () => true);
    await expect.poll(async () => (await read()).map(({ isOver }) => isOver)).toEqual(all);
    return (await read()).map(({ alt, width }) => ({ alt, width }));
  }

  it('shows images of every kind on consent, and only the service asks the sender', async () => {
    const { threadId } = await receiveHtml(
      `<style>.sheet{background-image:url(${sender.url}/sheet.png)}</style>` +
        `<img src="${sender.url}/img.png?for=ann" alt="logo" width="40" height="40">` +
        `<table background="${sender.url}/table.png"><tr><td>Text</td></tr></table>` +
        `<p style="background:url('${sender.url}/style.png')">Text</p><p class="sheet">Text</p>`,
    );
    const { page, outside } = await openThread(threadId);
    await page.getByText('but neither your network address nor your browser').waitFor();
    expect(sender.requests).toEqual([]);
    await page.getByRole('button', { name: 'Show images' }).click();
    expect(await loadedImages(page, 1)).toEqual([{ alt: 'logo', width: 1 }]);
    await expect
      .poll(() => sender.paths().sort())
      .toEqual(['/img.png?for=ann', '/sheet.png', '/style.png', '/table.png']);
    expect(new Set(sender.requests.map(({ headers }) => headers['user-agent']))).toEqual(
      new Set(['Mozilla/5.0 (compatible; image-proxy)']),
    );
    expect(outside).toEqual([]);
    // By another reader, with a browser of its own.
    const again = await openThread(threadId);
    await again.page.getByRole('button', { name: 'Show images' }).click();
    expect(await loadedImages(again.page, 1)).toEqual([{ alt: 'logo', width: 1 }]);
    expect(sender.requests).toHaveLength(4);
    expect(again.outside).toEqual([]);
  });

  it('shows the rest of an email whose images cannot be loaded', async () => {
    const { threadId } = await receiveHtml(
      `<img src="${sender.url}/gone.png" alt="our logo"><img src="http://127.0.0.1:${sender.port}/" alt="inside"><p>Good news</p>`,
    );
    const { page, outside } = await openThread(threadId);
    await page.getByRole('button', { name: 'Show images' }).click();
    expect(await loadedImages(page, 2)).toEqual([
      { alt: 'our logo', width: 0 },
      { alt: 'inside', width: 0 },
    ]);
    await page.locator('.mail-frame').contentFrame().getByText('Good news').waitFor();
    expect(outside).toEqual([]);
    expect(sender.paths()).toEqual(['/gone.png']);
  });

  it('the policy of the frame stops an address that was not rewritten', async () => {
    const { id, threadId } = await receiveHtml(`<img src="${sender.url}/a.png" alt="a">`);
    const context = (await openThread(threadId)).page.context();
    const page = await context.newPage();
    // Requests that the policy stops do not get this far.
    const outside: string[] = [];
    await page.route(
      (url) => url.hostname === 'images.example',
      async (route) => {
        outside.push(new URL(route.request().url()).pathname);
        await route.abort();
      },
    );
    let hasPolicy = true;
    await page.route('**/api/emails/*/html*', async (route) => {
      const response = await route.fetch();
      const headers = response.headers();
      if (!hasPolicy) delete headers['content-security-policy'];
      const body = `<p style="background:url(${sender.url}/c.png)">Text<img src="${sender.url}/b.png">`;
      await route.fulfill({ response, headers, body });
    });
    const show = async () => {
      await page.goto(`/api/emails/${id}/html?remote=allow`);
      await page.getByText('Text').waitFor();
      return outside.sort();
    };
    expect(await show()).toEqual([]);
    hasPolicy = false;
    expect(await show()).toEqual(['/b.png', '/c.png']);
    expect(sender.requests).toEqual([]);
  });
});
