/**
 * Measures the thread list and searching in a large mailbox (bench/search-data.sql), each against the plain way in the same run: counting
 * the threads from their emails, and `ilike`. `BENCH_EMAILS` sets the number of emails (1,000,000), `BENCH_DATABASE_URL` names an empty or
 * already filled database; without it an embedded server is started.
 *
 * Buffers are pages of 8 kB that a request touches, over all its statements; times are medians of warm runs.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { createEmailList } from '../dist/areas/emails/email-list.js';
import { startEmbeddedPostgres } from '../dist/connectors/embedded-postgres/server.js';
import { createEmailStore } from '../dist/areas/emails/email-store.js';
import { createThreadList } from '../dist/areas/threads/thread-list.js';
import { parseSearchQuery } from '../dist/core/search/query.js';
import { ANY_THREAD, fillLargeMailbox, logger } from './large-mailbox.mjs';
import { median } from './results.mjs';

const EMAILS = Number(process.env.BENCH_EMAILS ?? 1_000_000);
const RUNS = Number(process.env.BENCH_RUNS ?? 5);

/** The identifiers that the generator uses. */
const idOf = (name) => {
  const hex = createHash('md5').update(name).digest('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
};

/** A pool that can explain its statements instead of only running them. */
class ExplainingPool extends pg.Pool {
  /** null: statements are not explained. */
  plans = null;

  async query(config, values) {
    const { text, values: own } = typeof config === 'string' ? { text: config, values } : config;
    if (this.plans !== null && /^\s*(select|with)/.test(text) && !text.includes('pg_stats')) {
      const explained = await super.query(`explain (analyze, buffers, format json) ${text}`, own ?? values);
      this.plans.push(explained.rows[0]['QUERY PLAN'][0]);
    }
    return super.query(config, values);
  }
}

/** Runs the request RUNS times, warm; returns the median time in ms and the buffers that one more run touches. */
async function measure(pool, act) {
  await act();
  const times = [];
  for (let run = 0; run < RUNS; run += 1) {
    const started = performance.now();
    await act();
    times.push(performance.now() - started);
  }
  pool.plans = [];
  const found = await act();
  const buffers = pool.plans.reduce(
    (sum, { Plan: plan }) => sum + plan['Shared Hit Blocks'] + plan['Shared Read Blocks'],
    0,
  );
  const statements = pool.plans.length;
  pool.plans = null;
  return { ms: median(times), buffers, statements, found: found.length ?? 'a page' };
}

async function compare(pool, name, ours, baseline) {
  const mine = await measure(pool, ours);
  let line = `${name}: ${mine.found} found, ${mine.statements} statement(s), ${mine.buffers} buffers, ${mine.ms.toFixed(1)} ms`;
  if (baseline !== undefined) {
    const started = performance.now();
    const { rows } = await pool.query(
      'explain (analyze, buffers, format json) ' + baseline.text,
      baseline.values,
    );
    const { Plan: plan } = rows[0]['QUERY PLAN'][0];
    const ms = performance.now() - started;
    const buffers = plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
    line += `; plain: ${buffers} buffers, ${ms.toFixed(0)} ms, ${(ms / mine.ms).toFixed(0)} times as long`;
  }
  console.log(line);
}

/** The newest threads, without the stored summaries. */
const plainList = {
  text: `select thread_id, max(date), count(*) from emails where state in ('sent', 'received')
    group by thread_id order by 2 desc limit 51`,
};

const plainSearch = (word) => ({
  text: `select thread_id, max(date) from emails where state in ('sent', 'received') and text_body ilike $1
    group by thread_id order by 2 desc limit 51`,
  values: [`%${word}%`],
});

const folder = mkdtempSync(path.join(tmpdir(), 'email-worker-bench-'));
const server =
  process.env.BENCH_DATABASE_URL === undefined
    ? await startEmbeddedPostgres({ dataDir: folder, logger })
    : null;
const connection = {
  ...(server?.connection ?? { connectionString: process.env.BENCH_DATABASE_URL }),
  options: '-c search_path=email_worker',
};
const pool = new ExplainingPool({ ...connection, max: 1 });
try {
  await fillLargeMailbox(connection, EMAILS);
  const threads = createThreadList(pool);
  const emails = createEmailList(pool);
  const store = createEmailStore(pool);

  const list = (filter) => () => threads.listThreads({ ...ANY_THREAD, ...filter });
  const lists = {
    'all threads': {},
    'unread ones': { unread: true },
    'unanswered ones': { unanswered: true },
    'unread, newest email outbound': { unread: true, direction: 'outbound' },
    'of an account': { accountId: 'support' },
    'of an account, unread and unanswered': { accountId: 'support', unread: true, unanswered: true },
    'of a large customer': { customerId: idOf('silent') },
    'of a large customer, inbound (none)': { customerId: idOf('silent'), direction: 'inbound' },
    'of a small customer': { customerId: idOf('customer300') },
    'of a company, unanswered': { companyId: idOf('company7'), unanswered: true },
    'page in the middle': { after: { date: new Date('2025-06-01'), id: idOf('x') } },
  };
  for (const [name, filter] of Object.entries(lists)) {
    await compare(pool, `threads, ${name}`, list(filter), name === 'all threads' ? plainList : undefined);
  }

  const page = {
    search: null,
    state: null,
    accountId: null,
    defect: null,
    tag: null,
    limit: 51,
    after: null,
  };
  const customer = { since: null, until: null, after: null, limit: 51, customerId: idOf('silent') };
  await compare(pool, 'emails of an account', () => emails({ ...page, accountId: 'support' }));
  await compare(pool, 'emails, state=received', () => emails({ ...page, state: 'received' }));
  await compare(pool, 'emails, state=queued (none)', () => emails({ ...page, state: 'queued' }));
  await compare(pool, 'a large customer, direction=inbound (none)', () =>
    store.listCustomerEmails({ ...customer, direction: 'inbound' }),
  );
  await compare(pool, 'a large customer, both directions', () =>
    store.listCustomerEmails({ ...customer, direction: null }),
  );

  const words = ['w10x', 'w100x', 'w500x', 'w1000x', 'w10000x', 'w150000x', 'gibtesnicht'];
  for (const word of words) {
    const search = parseSearchQuery(word);
    const plain = ['w10x', 'w1000x', 'w150000x'].includes(word) ? plainSearch(word) : undefined;
    await compare(pool, `threads, q=${word}`, list({ search }), plain);
    await compare(pool, `threads, q=${word}, account`, list({ search, accountId: 'support' }));
    await compare(pool, `threads, q=${word}, large customer`, list({ search, customerId: idOf('silent') }));
    await compare(
      pool,
      `threads, q=${word}, small customer`,
      list({ search, customerId: idOf('customer300') }),
    );
    await compare(pool, `threads, q=${word}, unread`, list({ search, unread: true }));
    await compare(pool, `emails, q=${word}`, () => emails({ ...page, search }));
    await compare(pool, `emails, q=${word}, account`, () =>
      emails({ ...page, search, accountId: 'support' }),
    );
    await compare(pool, `emails, q=${word}, state=failed`, () =>
      emails({ ...page, search, state: 'failed' }),
    );
  }
  for (const q of [
    'w10x w20x',
    'w10x w1000x',
    '"w1x w2x"',
    'w100x -w10x',
    '@firma100.example',
    'person77',
    'w10',
    'w1x w2x w3x w100000x',
  ]) {
    const search = parseSearchQuery(q);
    await compare(pool, `threads, q=${q}`, list({ search }));
    await compare(pool, `emails, q=${q}`, () => emails({ ...page, search }));
  }
} finally {
  await pool.end();
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
}
