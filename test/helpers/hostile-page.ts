/**
 * Shows, in a real browser, HTML that was made safe, in the most trusting way that a page could, and reports what it did: as part of a page
 * with scripts, without a frame, a policy or a sandbox.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';

const SCRIPT = fileURLToPath(new URL('hostile-page-script.mjs', import.meta.url));

export interface HostilePage {
  /** Violations: scripts that ran, requests that left, elements that act, boxes outside their box. Empty if there are none. */
  show(html: string): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** Opens the page. `allowed` addresses may be fetched: images that the test lets in. */
export async function openHostilePage(
  browser: Browser,
  allowed: readonly string[] = [],
): Promise<HostilePage> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html');
    response.end('<!doctype html><title>page</title><body>');
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const context = await browser.newContext();
  let offences: string[] = [];
  const page = await context.newPage();
  context.on('page', () => offences.push('opened a window'));
  page.on('dialog', (dialog) => {
    offences.push(`dialog: ${dialog.message()}`);
    dialog.dismiss().catch(() => undefined);
  });
  page.on('framenavigated', (frame) => {
    if (frame !== page.mainFrame() || !frame.url().startsWith(origin))
      offences.push(`went to ${frame.url()}`);
  });
  await context.route('**', async (route) => {
    const url = route.request().url();
    if (route.request().isNavigationRequest() && url === `${origin}/`) return await route.continue();
    if (!allowed.includes(url)) offences.push(`fetched ${url}`);
    return await route.abort();
  });
  await page.addInitScript({ path: SCRIPT });
  await page.goto(`${origin}/`);

  return {
    async show(html) {
      offences = [];
      const seen = await page.evaluate<readonly string[]>(`tryOut(${JSON.stringify(html)})`);
      if (page.url() !== `${origin}/`) {
        offences.push(`left for ${page.url()}`);
        await page.goto(`${origin}/`);
      }
      return [...offences, ...seen];
    },
    async close() {
      await context.close();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
