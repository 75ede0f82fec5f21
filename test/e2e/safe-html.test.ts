/** HTML that was made safe, in a real browser: nothing runs, nothing is fetched, nothing leaves its box. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sanitizeHtml } from '../../src/core/html/sanitize-html.ts';
import { textAsHtml } from '../../src/core/html/text-as-html.ts';
import { FETCHED, HOSTILE_HTML } from '../fixtures/hostile-html.ts';
import { skipWithoutChromium, startChromium } from '../helpers/chromium.ts';
import { openHostilePage, type HostilePage } from '../helpers/hostile-page.ts';
import { some } from '../helpers/runs.ts';

const OWN = '/api/images/0190b2a0-0000-7000-8000-000000000003?expires=1&signature=x';

describe.skipIf(skipWithoutChromium())('in Chromium', () => {
  let browser: Browser;
  let page: HostilePage;
  beforeAll(async () => {
    browser = await startChromium();
    page = await openHostilePage(browser);
  });
  afterAll(async () => {
    await page.close();
    await browser.close();
  });

  it.each([
    ['a script', '<div><img src="data:x" onerror="alert(1)"></div>', 'called alert'],
    ['a request', '<div><img src="https://other.invalid/y"></div>', 'fetched https://other.invalid/y'],
    ['a layer', '<div style="position:fixed;inset:0">x</div>', 'put in: div is fixed'],
    ['a form', '<div><form></form></div>', 'put in: has form'],
    ['a cover', '<div style="margin-left:-100px">x<p style="height:99px">y</div>', 'covers the page'],
  ])('the page would tell of %s', async (_, html, offence) => {
    expect((await page.show(html)).join('\n')).toContain(offence);
  });

  it('nothing happens, whatever the HTML tries', { timeout: 240_000 }, async () => {
    const images = new Map([['logo', OWN]]);
    for (const html of some(HOSTILE_HTML)) {
      const safe = sanitizeHtml(html, { allowRemote: false, images });
      expect([html, safe.html, await page.show(safe.html)]).toEqual([html, safe.html, []]);
    }
  });

  it('only images are fetched when they are allowed', { timeout: 240_000 }, async () => {
    // One is an image beside it, by an element `base`.
    const only = await openHostilePage(browser, [FETCHED, new URL('y', FETCHED).href]);
    for (const html of some(HOSTILE_HTML.filter((one) => one.includes('fetched.invalid')))) {
      const safe = sanitizeHtml(html, { allowRemote: true, images: new Map() });
      const offences = await only.show(safe.html);
      expect([html, safe.html, offences]).toEqual([html, safe.html, []]);
    }
    await only.close();
  });

  it('text stays text', async () => {
    const html = textAsHtml('a < b & c\n<img src=x onerror=alert(1)></div><script>alert(1)</script>');
    expect(await page.show(html)).toEqual([]);
  });
});
