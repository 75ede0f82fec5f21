/**
 * Makes pictures of each view, in light and dark, German and English, on a desktop and on a phone, so that people can look at
 * them: `npm run screenshots -w page [folder]`. Starts a service of its own with the mail of `demo.mjs`, or takes the one
 * that PAGE_URL and API_SECRET name. Needs the built service, the built page and Chromium.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { startBrowser } from '../../bench/browser.mjs';
import { fillWithDemo } from './demo.mjs';

const MAIN = fileURLToPath(new URL('../../dist/bundle/main.js', import.meta.url));
const FOLDER = path.resolve(process.argv[2] ?? path.join(tmpdir(), 'email-worker-screenshots'));
const SECRET = process.env['API_SECRET'] ?? 'screenshots-secret-of-32-characters';
const SUBJECT = 'Angebot für die Dachfenster im Neubau Seestraße';

const DESKTOP = { viewport: { width: 1440, height: 900 } };
const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true };
const LOOKS = [
  { name: 'desktop-light-de', ...DESKTOP, colorScheme: 'light', locale: 'de-DE' },
  { name: 'desktop-dark-en', ...DESKTOP, colorScheme: 'dark', locale: 'en-GB' },
  { name: 'phone-light-en', ...PHONE, colorScheme: 'light', locale: 'en-GB' },
  { name: 'phone-dark-de', ...PHONE, colorScheme: 'dark', locale: 'de-DE' },
];

async function startService() {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'email-worker-screenshots-data-'));
  const child = spawn(process.execPath, [MAIN], {
    env: {
      PATH: process.env['PATH'],
      PORT: '0',
      DATA_DIR: dataDir,
      API_SECRET: SECRET,
      MAIL_FROM: 'Nordlicht Vertrieb <vertrieb@nordlicht.example>',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the service ended with ${code}`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const ready = /"url":"([^"]+)".*email-worker is listening/.exec(line)?.[1];
      if (ready !== undefined) resolve(ready);
    });
  });
  return {
    url,
    async stop() {
      child.removeAllListeners('exit');
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await ended;
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function photograph(browser, url, threads, { name, ...options }) {
  const context = await browser.newContext({ baseURL: url, ...options });
  const page = await context.newPage();
  page.on('console', (message) => {
    if (message.type() === 'error') process.stderr.write(`${name}: ${message.text()}\n`);
  });
  const shoot = (view) => page.screenshot({ path: path.join(FOLDER, `${view}-${name}.png`) });
  await page.goto('/');
  const secret = page.locator('input[name=secret]');
  await secret.waitFor();
  await shoot('login');
  await secret.fill(SECRET);
  await secret.press('Enter');
  await page.locator('.row').first().waitFor();
  await shoot('list');
  await page.goto(`/f/open/${threads[SUBJECT]}`);
  await page.locator('.message').first().waitFor();
  await page.waitForTimeout(400);
  await shoot('thread');
  await page.locator('.thread-actions .button').last().click();
  await page.locator('.side-thread').first().waitFor();
  await shoot('side');
  await page.goto(`/f/open/${threads[SUBJECT]}`);
  await page.locator('.reply-buttons .button').first().click();
  await page.locator('.writer-text').waitFor();
  await shoot('writer');
  await page.locator('.writer-foot .button').nth(1).click();
  await page.locator('.send-later').waitFor();
  await shoot('send-later');
  await page.keyboard.press('Escape');
  await page.goto('/f/open');
  await page.locator('.row-link', { hasText: 'Holzfenster' }).click();
  await page.locator('.mail-frame[data-is-loaded]').waitFor();
  await page.locator('.mark-bar').waitFor();
  await page.waitForTimeout(200);
  await shoot('html');
  for (const [view, place] of Object.entries({
    sent: '/f/sent',
    empty: '/f/failed',
    search: '/search?q=muster',
  })) {
    await page.goto(place);
    await page.locator('.row, .list-scroll .empty').first().waitFor();
    await shoot(view);
  }
  for (const section of [
    'accounts',
    'sends',
    'suppressions',
    'merges',
    'figures',
    'imports',
    'webhooks',
    'keys',
    'audit',
  ]) {
    await page.goto(`/operate/${section}`);
    await page.locator('.operate-table, .cards, .figure, .operate-body .empty').first().waitFor();
    await shoot(`operate-${section}`);
  }
  await context.close();
}

mkdirSync(FOLDER, { recursive: true });
const given = process.env['PAGE_URL'];
const service = given === undefined ? await startService() : { url: given, stop: async () => undefined };
const browser = await startBrowser();
try {
  const threads = await fillWithDemo(service.url, SECRET);
  for (const look of LOOKS) await photograph(browser, service.url, threads, look);
} finally {
  await browser.close();
  await service.stop();
}
process.stderr.write(`screenshots: ${FOLDER}\n`);
