/**
 * Measures the page in Chromium with a large mailbox (search-data.sql; BENCH_EMAILS, by default 330,000 in 100,000 threads): the first
 * view, frames while the list scrolls, the time to open a thread, and searching during typing. `BENCH_DATABASE_URL` names an empty or
 * already filled database; without it an embedded server is started. BENCH_LINE=slow adds a line of 10 Mbit/s with 40 ms.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { startBrowser } from './browser.mjs';
import { startEmbeddedPostgres } from '../dist/connectors/embedded-postgres/server.js';
import { fillLargeMailbox, logger } from './large-mailbox.mjs';
import { SECRET, startServiceIn } from './processes.mjs';
import { median } from './results.mjs';

const EMAILS = Number(process.env.BENCH_EMAILS ?? 330_000);
const RUNS = Number(process.env.BENCH_RUNS ?? 5);
/** 10 Mbit/s both ways. */
const SLOW_LINE = {
  offline: false,
  latency: 40,
  downloadThroughput: 1_250_000,
  uploadThroughput: 1_250_000,
};
/** The length of a frame at 60 a second, and of one that counts as late. */
const FRAME_MS = 1000 / 60;
const LATE_MS = FRAME_MS * 1.5;

async function countOf(connection) {
  const client = new pg.Client(connection);
  await client.connect();
  const { rows } = await client.query(
    'select (select count(*)::int from email_threads) as threads, (select count(*)::int from emails) as emails',
  );
  await client.end();
  return rows[0];
}

const report = (name, values, unit = 'ms') => {
  const shown = values.map((value) => Math.round(value)).toSorted((one, other) => one - other);
  console.log(
    `${name}: ${Math.round(median(values))} ${unit} (${shown[0]} to ${shown.at(-1)}, ${values.length} runs)`,
  );
};

/** Time until the first picture after a condition is met, on the page's own clock; `begin` is a script that starts the change. */
const timeUntil = (page, begin, condition) =>
  page.evaluate(`new Promise((resolve) => {
    const began = performance.now();
    const look = () => {
      if (${condition}) requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - began)));
      else requestAnimationFrame(look);
    };
    ${begin};
    look();
  })`);

async function measureFirstView(browser, url, session) {
  const times = [];
  const paints = [];
  const cpu = [];
  for (let run = 0; run < RUNS; run += 1) {
    // A fresh context for each run: only the session is kept.
    const context = await browser.newContext({
      baseURL: url,
      storageState: session,
      viewport: { width: 1440, height: 900 },
    });
    const page = await context.newPage();
    const line = await context.newCDPSession(page);
    // CPU time of the page itself, however busy the machine is.
    await line.send('Performance.enable', { timeDomain: 'threadTicks' });
    if (process.env.BENCH_LINE === 'slow') {
      await line.send('Network.enable');
      await line.send('Network.emulateNetworkConditions', SLOW_LINE);
    }
    await page.goto('/', { waitUntil: 'commit' });
    await page.locator('.row').first().waitFor();
    const [shown, painted] = await page.evaluate(
      `[performance.now(), performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN]`,
    );
    cpu.push(await taskMs(line));
    times.push(shown);
    paints.push(painted);
    await context.close();
  }
  report('first view, until the threads are there', times);
  report('first contentful paint', paints);
  report('processor time of the first view in its main thread', cpu);
}

/** CPU time of a page's main thread so far. */
async function taskMs(devtools) {
  const { metrics } = await devtools.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'TaskDuration').value * 1000;
}

/** Turns the wheel evenly for some seconds, as fast as a hand does, over several pages of the list. */
async function measureScroll(page) {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
  const before = await taskMs(devtools);
  const frames = await page.evaluate(`new Promise((resolve) => {
    const list = document.querySelector('.list-scroll');
    const frames = [];
    const ends = performance.now() + 5000;
    let last = performance.now();
    const step = (now) => {
      frames.push(now - last);
      last = now;
      list.scrollTop += 40;
      if (now < ends) requestAnimationFrame(step);
      else resolve(frames.slice(1));
    };
    requestAnimationFrame(step);
  })`);
  const cpu = (await taskMs(devtools)) - before;
  const late = frames.filter((ms) => ms > LATE_MS).length;
  const scrolled = await page.evaluate(`document.querySelector('.list-scroll').scrollTop`);
  console.log(
    `scrolling ${Math.round(scrolled)} pixels: ${(1000 / median(frames)).toFixed(0)} frames a second, ` +
      `${late} of ${frames.length} late, the longest ${Math.max(...frames).toFixed(0)} ms, ` +
      `${(cpu / frames.length).toFixed(1)} ms of processor time each`,
  );
}

async function measureThreads(page) {
  const clicks = [];
  const whole = [];
  for (let run = 0; run < RUNS * 2; run += 1) {
    // The time until a picture answers the click, and until the emails are shown.
    const [answered, shown] = await page.evaluate(`new Promise((resolve) => {
      const row = [...document.querySelectorAll('.row-link')][${run + 1}];
      const began = performance.now();
      let answered = null;
      const look = () => {
        const now = performance.now() - began;
        if (answered === null && row.matches('[aria-current]')) answered = now;
        const thread = document.querySelector('.message');
        const title = row.closest('.row').querySelector('.row-subject')?.textContent;
        const heading = document.querySelector('.thread-subject')?.textContent;
        if (thread !== null && heading === title) resolve([answered ?? now, now]);
        else if (now > 20000) resolve([NaN, NaN]);
        else requestAnimationFrame(look);
      };
      row.click();
      requestAnimationFrame(look);
    })`);
    clicks.push(answered);
    whole.push(shown);
    await page.waitForTimeout(300);
  }
  report('opening a thread, until the line is marked', clicks);
  report('opening a thread, until its emails are there', whole);
}

/** The time of each letter, and from the last letter to its results. */
async function measureSearch(page) {
  const keys = [];
  const found = [];
  for (const word of ['w100x', 'w1000x', 'w20000x', 'person77', 'w10x w20x'].slice(0, RUNS)) {
    await page.goto('/f/open');
    await page.locator('.row').first().waitFor();
    await page.locator('.search input').focus();
    await page.evaluate(`window.answered = []; addEventListener('keydown', () => {
      const began = performance.now();
      requestAnimationFrame(() => setTimeout(() => window.answered.push(performance.now() - began)));
    }, { capture: true })`);
    await page.keyboard.type(word);
    found.push(
      await timeUntil(
        page,
        '',
        `location.search.includes(${JSON.stringify(encodeURIComponent(word).replaceAll('%20', '+'))})
         && document.querySelector('.list-scroll[data-is-old]') === null
         && document.querySelector('.row, .list-scroll .empty') !== null`,
      ),
    );
    keys.push(...(await page.evaluate('window.answered')));
  }
  report('typing a letter into the search, until the next picture', keys);
  report(
    'from the last letter until what it finds is there, 250 ms of waiting for further letters included',
    found,
  );
}

const folder = mkdtempSync(path.join(tmpdir(), 'email-worker-bench-page-'));
const server =
  process.env.BENCH_DATABASE_URL === undefined
    ? await startEmbeddedPostgres({ dataDir: folder, logger })
    : null;
const connectionString = process.env.BENCH_DATABASE_URL ?? urlOf(server.connection);
try {
  const connection = { connectionString, options: '-c search_path=email_worker' };
  await fillLargeMailbox(connection, EMAILS);
  const { threads, emails } = await countOf(connection);
  console.log(`${threads} threads, ${emails} emails`);
  const service = await startServiceIn(folder, { DATABASE_URL: connectionString });
  const browser = await startBrowser();
  try {
    const context = await browser.newContext({
      baseURL: service.url,
      viewport: { width: 1440, height: 900 },
    });
    const page = await context.newPage();
    await page.goto('/');
    await page.locator('input[name=secret]').fill(SECRET);
    await page.keyboard.press('Enter');
    await page.locator('.row').first().waitFor();
    await measureFirstView(browser, service.url, await context.storageState());
    await measureScroll(page);
    await page.goto('/');
    await page.locator('.row').nth(12).waitFor();
    await measureThreads(page);
    await measureSearch(page);
  } finally {
    await browser.close();
    await service.stop();
  }
} finally {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** The URL of the embedded server, which listens on a socket. */
function urlOf({ host, port, user, password, database }) {
  const query = new URLSearchParams({ host, port: String(port) });
  return `postgresql://${encodeURIComponent(user)}:${encodeURIComponent(password ?? '')}@localhost/${database}?${query}`;
}
