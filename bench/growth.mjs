/**
 * Measures how reads and writes grow with the mailbox: CPU time and buffers (pages of 8 kB that PostgreSQL touches, planning included) of
 * one operation with `BENCH_SIZES` emails (10000,1000000,10000000), filled by growth-fill.mjs. Each size has its own server with the
 * service's settings; rounds of all sizes alternate (`BENCH_ROUNDS`, 5). Reads call the functions that HTTP calls, without the cache of
 * threads; sends and received mail go through the service.
 *
 * `BENCH_FOLDER` names a folder that keeps the filled data for the next run; `BENCH_ONLY=read` or `write` measures one part alone.
 * Autovacuum is off meanwhile: its reads would count.
 */
import autocannon from 'autocannon';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { startEmbeddedPostgres } from '../dist/connectors/embedded-postgres/server.js';
import { createEmailStore } from '../dist/areas/emails/email-store.js';
import { ThreadCache } from '../dist/areas/threads/thread-cache.js';
import { createThreadList } from '../dist/areas/threads/thread-list.js';
import { createThreadReader } from '../dist/areas/threads/read-thread.js';
import { parseSearchQuery } from '../dist/core/search/query.js';
import { connectionOf } from './connection.mjs';
import { databaseCpu, serviceCpu } from './cpu.mjs';
import { freePort } from './free-port.mjs';
import { fillFolder } from './growth-fill.mjs';
import { ANY_THREAD, logger } from './large-mailbox.mjs';
import { deliver } from './lmtp-client.mjs';
import { mails } from './mail-archive.mjs';
import { SECRET, startServiceIn, startSink } from './processes.mjs';
import { spread } from './results.mjs';
import { CONCURRENCY, mail } from './workload.mjs';

const SIZES = (process.env.BENCH_SIZES ?? '10000,1000000,10000000').split(',').map(Number);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const PARTS = (process.env.BENCH_ONLY ?? 'read,write').split(',');
/** Operations of a round: their CPU time is a hundred times a clock tick. */
const READS = 1500;
const PAGES = 200;
const SEARCHES = 60;
const SENDS = 400;
const RECEIVED = 200;
const RECIPIENT = 'verkauf@example.com';
const SCHEMA = '-c search_path=email_worker';
/** For the work that follows the last mail, and until PostgreSQL has counted the work of idle connections. */
const QUIET_MS = 12_000;

const pick = (values) => values[Math.floor(Math.random() * values.length)];

/** The threads, words and customers that are asked for; drawn in advance, so that choosing does not count. */
async function drawTargets(pool) {
  const rows = async (text) => (await pool.query(text)).rows;
  const [{ threads }] = await rows('select count(*)::int as threads from email_threads');
  const share = Math.min(100, (100 * 20_000) / threads);
  return {
    threads: (await rows(`select id from email_threads tablesample bernoulli (${share})`)).map(
      ({ id }) => id,
    ),
    recent: (
      await rows('select thread_id from thread_summaries order by last_activity_at desc limit 1000')
    ).map(({ thread_id: id }) => id),
    // Customers with at least one page of emails.
    customers: (
      await rows(`select customer_id from customers c where customer_id <> md5('silent')::uuid and (
        select count(*) from (select from emails e where e.customer_id = c.customer_id limit 51) e) = 51 limit 500`)
    ).map(({ customer_id: id }) => id),
  };
}

/** Name → how often in a round, how many at once, and one operation. */
function readsOf(pool, targets) {
  const readThread = createThreadReader(pool, new ThreadCache(0));
  const threads = createThreadList(pool);
  const emails = createEmailStore(pool);
  const list = (filter) => () => threads.listThreads({ ...ANY_THREAD, ...filter });
  const search = (text) => list({ search: parseSearchQuery(text) });
  const ofCustomer = (customerId) => () =>
    emails.listCustomerEmails({
      customerId: customerId(),
      direction: null,
      since: null,
      until: null,
      within: null,
      limit: 50,
      after: null,
    });
  const page = (act) => ({ count: PAGES, atOnce: 4, act });
  const found = (act) => ({ count: SEARCHES, atOnce: 4, act });
  return {
    'a thread, any': {
      count: READS,
      atOnce: CONCURRENCY,
      act: () => readThread(pick(targets.threads), null),
    },
    'a thread, one of the newest 1,000': {
      count: READS,
      atOnce: CONCURRENCY,
      act: () => readThread(pick(targets.recent), null),
    },
    'a thread, one at a time': {
      count: READS / 3,
      atOnce: 1,
      act: () => readThread(pick(targets.threads), null),
    },
    'page of a customer’s emails': page(ofCustomer(() => pick(targets.customers))),
    'page of threads': page(list({})),
    '… a year deep': page(
      list({ after: { date: new Date('2025-10-26'), id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' } }),
    ),
    '… unread': page(list({ unread: true })),
    '… of an account, unanswered': page(list({ accountId: 'support', unanswered: true })),
    '… with files': page(list({ hasAttachments: true })),
    'search, a common word (w10x)': found(search('w10x')),
    'search, a word of one in 400 emails (w1000x)': found(search('w1000x')),
    'search, a rare word (w150000x)': found(search('w150000x')),
    'search, two words (w10x w20x)': found(search('w10x w20x')),
    'search, an address (@firma100.example)': found(search('@firma100.example')),
  };
}

async function runMany({ count, atOnce, act }) {
  let left = count;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (left > 0) {
        left -= 1;
        await act();
      }
    }),
  );
}

/** Buffers that PostgreSQL has touched in a database so far, as its connections have reported. */
async function buffersOf(client) {
  const { rows } = await client.query(
    'select blks_hit + blks_read as buffers from pg_stat_database where datname = current_database()',
  );
  return Number(rows[0].buffers);
}

/** Name → size → the costs of one operation in each round. */
const results = new Map();
const add = (name, size, costs) => {
  if (!results.has(name)) results.set(name, new Map(SIZES.map((each) => [each, []])));
  results.get(name).get(size).push(costs);
};

async function measureReads(folders) {
  const sides = [];
  try {
    for (const [size, dataDir] of folders) {
      const server = await startEmbeddedPostgres({ dataDir, logger });
      const pool = new pg.Pool({ ...server.connection, options: SCHEMA, max: 4, idleTimeoutMillis: 0 });
      await pool.query('alter system set autovacuum = off');
      await pool.query('select pg_reload_conf()');
      const targets = await drawTargets(pool);
      sides.push({ size, dataDir, server, pool, reads: readsOf(pool, targets) });
    }
    /** Makes each connection report its work so far. */
    const tell = async (pool) => {
      const clients = await Promise.all(Array.from({ length: 4 }, () => pool.connect()));
      for (const client of clients) await client.query('select pg_stat_force_next_flush()');
      for (const client of clients) await client.query('select 1');
      const buffers = await buffersOf(clients[0]);
      for (const client of clients) client.release();
      return buffers;
    };
    for (const name of Object.keys(sides[0].reads)) {
      for (let round = 0; round <= ROUNDS; round += 1) {
        for (const { size, dataDir, pool, reads } of sides) {
          const read = reads[name];
          const before = [await tell(pool), databaseCpu(dataDir), process.cpuUsage()];
          const began = performance.now();
          await runMany(read);
          const ms = performance.now() - began;
          const node = process.cpuUsage(before[2]);
          const database = databaseCpu(dataDir) - before[1];
          const buffers = (await tell(pool)) - before[0];
          // The first round makes plans and warms caches.
          if (round === 0) continue;
          add(name, size, {
            database: database / read.count,
            node: (node.user + node.system) / 1000 / read.count,
            buffers: buffers / read.count,
            ms: (ms * read.atOnce) / read.count,
          });
        }
      }
      report(name);
    }
  } finally {
    for (const { pool, server } of sides) {
      await pool.end();
      await server.stop();
    }
  }
}

async function measureWrites(folders) {
  const sink = await startSink();
  const sides = [];
  const generator = mails((ROUNDS + 1) * RECEIVED * folders.length);
  try {
    for (const [size, dataDir] of folders) {
      const port = await freePort();
      const began = performance.now();
      const service = await startServiceIn(dataDir, {
        SMTP_URL: `smtp://127.0.0.1:${sink.port}?max_messages_per_connection=1000000`,
        LMTP_LISTEN: `127.0.0.1:${port}`,
        MAIL_FROM: RECIPIENT,
      });
      console.log(`${size}: ready after ${((performance.now() - began) / 1000).toFixed(1)} s`);
      const client = new pg.Client({ ...connectionOf(dataDir), options: SCHEMA });
      await client.connect();
      sides.push({ size, dataDir, port, service, client });
    }
    const writes = {
      'a send of 2 kB': {
        count: SENDS,
        async act({ service }) {
          const result = await autocannon({
            url: `${service.url}/api/send`,
            method: 'POST',
            body: JSON.stringify(mail),
            connections: CONCURRENCY,
            amount: SENDS,
            // In seconds; a busy machine is slow.
            timeout: 120,
            headers: { authorization: `Bearer ${SECRET}`, 'content-type': 'application/json' },
          });
          if (result['2xx'] !== SENDS) throw new Error(`${result['2xx']} of ${SENDS} sends were accepted`);
        },
      },
      'a received mail of 5 kB, LMTP': {
        count: RECEIVED,
        async act({ port }) {
          const batch = Array.from({ length: RECEIVED }, () => generator.next().value);
          await deliver({ port, recipient: RECIPIENT, mails: batch, connections: 10 });
        },
      },
    };
    for (const [name, { count, act }] of Object.entries(writes)) {
      for (let round = 0; round <= ROUNDS; round += 1) {
        for (const side of sides) {
          const { size, client, service } = side;
          const before = { ...serviceCpu(service), buffers: await buffersOf(client) };
          const began = performance.now();
          await act(side);
          const ms = performance.now() - began;
          await wait(QUIET_MS);
          const after = { ...serviceCpu(service), buffers: await buffersOf(client) };
          if (round === 0) continue;
          const costs = Object.keys(before).map((part) => [part, (after[part] - before[part]) / count]);
          add(name, size, { ...Object.fromEntries(costs), ms: ms / count });
        }
      }
      report(name);
    }
  } finally {
    for (const { client, service } of sides) {
      await client.end();
      await service.stop();
    }
    await sink.stop();
  }
}

function report(name) {
  for (const [size, rounds] of results.get(name)) {
    const of = (key) => rounds.map((round) => round[key]);
    const sum = rounds.map(({ node, database }) => node + database);
    console.log(
      `${name} | ${size} | buffers ${spread(of('buffers'), 1)} | PostgreSQL ${spread(of('database'), 3)} ms | ` +
        `Node.js ${spread(of('node'), 3)} ms | both ${spread(sum, 3)} ms | takes ${spread(of('ms'), 2)} ms`,
    );
  }
}

async function reportSizes(folders) {
  for (const [size, dataDir] of folders) {
    const server = await startEmbeddedPostgres({ dataDir, logger });
    const client = new pg.Client({ ...server.connection, options: SCHEMA });
    await client.connect();
    const { rows } =
      await client.query(`select relname, pg_table_size(oid) as own, pg_indexes_size(oid) as indexes from pg_class
      where relkind = 'r' and relnamespace = 'email_worker'::regnamespace and pg_total_relation_size(oid) > 1000000
      order by pg_total_relation_size(oid) desc`);
    for (const { relname, own, indexes } of rows)
      console.log(
        `${size} | ${relname} | ${(own / size).toFixed(0)} + ${(indexes / size).toFixed(0)} bytes an email`,
      );
    // A folder that is kept has the settings of the service.
    await client.query('alter system reset autovacuum');
    await client.end();
    await server.stop();
  }
}

const root = process.env.BENCH_FOLDER ?? mkdtempSync(path.join(tmpdir(), 'email-worker-growth-'));
mkdirSync(root, { recursive: true });
const folders = SIZES.map((size) => [size, path.join(root, String(size))]);
const busy = () => `load ${loadavg()[0].toFixed(1)}`;
try {
  for (const [size, dataDir] of folders) {
    const seconds = await fillFolder(dataDir, size);
    if (seconds !== null) console.log(`${size}: filled in ${JSON.stringify(seconds)} s`);
  }
  console.log(
    `${cpus().length} cores (${cpus()[0].model}), Node.js ${process.version}, ${ROUNDS} rounds, ${busy()}`,
  );
  if (PARTS.includes('read')) await measureReads(folders);
  if (PARTS.includes('write')) await measureWrites(folders);
  await reportSizes(folders);
  console.log(busy());
} finally {
  if (process.env.BENCH_FOLDER === undefined) rmSync(root, { recursive: true, force: true });
}
