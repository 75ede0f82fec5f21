/** The page of a running service in Chromium: logs in, and collects the browser's complaints. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { startChromium } from './chromium.ts';
import { TEST_SECRET } from './service-process.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const DESKTOP = { viewport: { width: 1360, height: 860 }, locale: 'en-GB' };
/** For a busy machine. */
const PATIENCE_MS = 90_000;
/**
 * `TEST_PAGE_SLOWNESS=6`: scripts of the page take six times as long, as on a busy machine or an old phone. By hand, to find tests that look
 * at the page once where they have to wait.
 */
const SLOWNESS = Number(process.env['TEST_PAGE_SLOWNESS'] ?? 1);

/** A browser for the tests of a file. Each test closes what it opened; a test whose browser complained fails. */
export function usePages() {
  let browser: Browser;
  let complaints: string[] = [];

  beforeAll(async () => {
    browser = await startChromium();
  });
  afterEach(async () => {
    const heard = complaints;
    complaints = [];
    // Messages from here on come from pages that are being closed, and belong to no test.
    await Promise.all(browser.contexts().map((context) => context.close()));
    if (heard.length > 0) throw new Error(`the browser complained: ${heard.join('\n')}`);
  });
  afterAll(() => browser.close());

  return {
    /** Opens a place of the page, and logs in; the caller checks if that worked. */
    async logIn(
      url: string,
      place: string,
      secret: string,
      options: BrowserContextOptions = DESKTOP,
    ): Promise<Page> {
      // Colours of a moving element would be judged halfway.
      const context = await browser.newContext({ baseURL: url, reducedMotion: 'reduce', ...options });
      context.setDefaultTimeout(PATIENCE_MS);
      const page = await context.newPage();
      if (SLOWNESS > 1) {
        const tools = await context.newCDPSession(page);
        await tools.send('Emulation.setCPUThrottlingRate', { rate: SLOWNESS });
      }
      // The list of this test: the next test has another one.
      const heard = complaints;
      page.on('console', (message) => {
        // The browser itself reports each 4xx answer, such as before a login, and a connection that a test has cut.
        if (message.type() === 'error' && !/status of 4\d\d|INTERNET_DISCONNECTED/.test(message.text()))
          heard.push(message.text());
      });
      page.on('pageerror', (error) => heard.push(error.message));
      await page.goto(place);
      await page.locator('input[name=secret]').fill(secret);
      await page.keyboard.press('Enter');
      return page;
    },
    /** The same with a valid secret. */
    async open(
      url: string,
      place: string,
      secret = TEST_SECRET,
      options: BrowserContextOptions = DESKTOP,
    ): Promise<Page> {
      const page = await this.logIn(url, place, secret, options);
      await page.locator('#list').waitFor();
      // Keys have an effect once the page is painted.
      await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))');
      return page;
    },
  };
}

/**
 * Presses the button of a notice as soon as it appears, by a script in the page: the notice, or the time to undo a send, may be over
 * before a busy machine lets a test press it. Call it before the act that shows the notice.
 */
export async function pressInNotice(page: Page, name: string): Promise<void> {
  await page.evaluate(`new MutationObserver((_, watching) => {
    const button = [...document.querySelectorAll('.toast button')].find(({ textContent }) => textContent === '${name}');
    if (button === undefined) return;
    watching.disconnect();
    button.click();
  }).observe(document.body, { childList: true, subtree: true })`);
}

/** Notices of this page stay until their button is pressed, as while a pointer is on them. */
export async function keepNotices(page: Page): Promise<void> {
  await page.evaluate(`new MutationObserver((changes) => {
    for (const { addedNodes } of changes)
      for (const node of addedNodes)
        if (node.matches?.('.toast')) node.dispatchEvent(new PointerEvent('pointerover', { bubbles: true }));
  }).observe(document.querySelector('.toasts'), { childList: true })`);
}

/** Faults that axe finds against WCAG 2.2 AA and good practice, by rule and place. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate(`axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })
    .then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html.slice(0, 200))))`);
}
