/**
 * Measures reading threads, each round against bare Fastify with `pg` and one prepared query on the same database: reads per second,
 * latency, and the CPU time of each process for one read. Rounds of all sides alternate: different threads from both; the same few threads,
 * which the service caches; and the same few threads by callers that send the ETag, which is answered with 304. `BENCH_THREADS` sets the
 * number of threads, of 5 emails each (20,000), `BENCH_CONNECTIONS` the number of readers at once (50), `BENCH_ROUNDS` and `BENCH_SECONDS`
 * the duration.
 */
import autocannon from 'autocannon';
import { createHash } from 'node:crypto';
import { cpus } from 'node:os';
import pg from 'pg';
import { connectionOf } from './connection.mjs';
import { cpuOf, databaseCpu } from './cpu.mjs';
import { SECRET, startBareReader, startService } from './processes.mjs';
import { median, medians, record, ROUNDS, SECONDS } from './results.mjs';
import { CONCURRENCY } from './workload.mjs';

const CONNECTIONS = Number(process.env.BENCH_CONNECTIONS ?? CONCURRENCY);
const THREADS = Number(process.env.BENCH_THREADS ?? 20_000);
const headers = { authorization: `Bearer ${SECRET}` };

/** The identifiers that the data below uses. */
const idOf = (thread) => {
  const hex = createHash('md5').update(`thread${thread}`).digest('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
};
const pathOf = (thread) => `/api/thread/${idOf(thread)}`;
const anyOf = (count) => 1 + Math.floor(Math.random() * count);
const anyPath = () => pathOf(anyOf(THREADS));

/** The number of threads that are read again and again. */
const FEW = 200;

/** 5 emails of 1.7 kB in each thread, both directions, three of them with a file. Without triggers and the search index. */
const DATA = `
  set session_replication_role = replica;
  set synchronous_commit = off;
  insert into email_threads (id, account_id) select md5('thread' || i)::uuid, 'default' from generate_series(1, ${THREADS}) i;
  insert into emails (id, account_id, thread_id, direction, message_id, in_reply_to, reference_ids, from_address,
    to_addresses, cc_addresses, bcc_addresses, subject, text_body, date, state, placement_rule, raw_size_bytes, raw,
    identity_key, reply_text)
  select md5('email' || i || '-' || k)::uuid, 'default', md5('thread' || i)::uuid,
    case when k % 2 = 0 then 'inbound' else 'outbound' end, i || '-' || k || '@example.com', '{}', '{}',
    '{"name":"Ada Lovelace","address":"ada@example.org"}', '[{"name":"Vertrieb","address":"sales@example.com"}]', '[]', '[]',
    'Ihre Bestellung ' || i,
    (select string_agg(md5(i::text || k || j), case when j % 7 = 0 then E'\\n' else ' Grüße ' end) from generate_series(1, 40) j),
    timestamptz '2025-01-01' + i * interval '1 minute' + k * interval '1 hour',
    case when k % 2 = 0 then 'received' else 'sent' end, 'new', 2000, '',
    case when k % 2 = 0 then sha256((i || '-' || k)::bytea) end, case when k % 2 = 0 then '' end
  from generate_series(1, ${THREADS}) i, generate_series(1, 5) k;
  insert into email_attachments (id, email_id, ordinal, filename, content_type, size_bytes, storage_path, sha256)
  select md5('file' || i || '-' || k)::uuid, md5('email' || i || '-' || k)::uuid, 0, 'rechnung.pdf', 'application/pdf', 12345,
    'default/' || md5('email' || i || '-' || k)::uuid || '/rechnung.pdf', sha256('x')
  from generate_series(1, ${THREADS}) i, generate_series(1, 5, 2) k;
  set session_replication_role = origin;
  analyze;
  -- What the triggers would have done
  select count(refresh_thread_summaries(ids)) from (
    select array_agg(id) as ids from (select id, row_number() over (order by id) / 1000 as part from email_threads) t group by part
  ) parts;
  select count(refresh_email_json(ids)) from (
    select array_agg(id) as ids from (select id, row_number() over (order by date) / 1000 as part from emails) e group by part
  ) parts;`;

async function load({ url, pid, toRequest = () => ({ path: anyPath() }) }, dataDir) {
  const before = [cpuOf(pid), databaseCpu(dataDir)];
  const result = await autocannon({
    url,
    connections: CONNECTIONS,
    duration: SECONDS,
    headers,
    requests: [{ setupRequest: (request) => ({ ...request, ...toRequest() }) }],
  });
  const refused = result['4xx'] + result['5xx'];
  if (refused > 0 || result.errors > 0) throw new Error(`${refused} refused, ${result.errors} broken`);
  const reads = result['2xx'] + result['3xx'];
  return {
    rate: reads / result.duration,
    node: (cpuOf(pid) - before[0]) / reads,
    database: (databaseCpu(dataDir) - before[1]) / reads,
    p50: result.latency.p50,
    p99: result.latency.p99,
  };
}

console.log(
  `${cpus().length} cores (${cpus()[0].model}), Node.js ${process.version}, ${ROUNDS} rounds of ${SECONDS} s, ${THREADS} threads`,
);
const service = await startService();
try {
  const { dataDir } = service;
  const client = new pg.Client(connectionOf(service.dataDir));
  await client.connect();
  await client.query(DATA);
  await client.query('vacuum analyze');
  await client.end();
  const bare = await startBareReader(service.dataDir);
  for (let index = 0; index < 20; index += 1) {
    const target = anyPath();
    const [a, b] = await Promise.all(
      [bare.url, service.url].map(async (url) => (await fetch(url + target, { headers })).text()),
    );
    if (a !== b) throw new Error(`the two readers do not give the same answer for ${target}`);
  }
  const tags = [];
  for (let thread = 1; thread <= FEW; thread += 1) {
    const response = await fetch(service.url + pathOf(thread), { headers });
    await response.text();
    tags[thread] = response.headers.get('etag');
  }
  const toKept = () => ({ path: pathOf(anyOf(FEW)) });
  const toTagged = () => {
    const thread = anyOf(FEW);
    return { path: pathOf(thread), headers: { ...headers, 'if-none-match': tags[thread] } };
  };
  const sides = {
    baseline: bare,
    service,
    kept: { ...service, toRequest: toKept },
    unchanged: { ...service, toRequest: toTagged },
  };
  const results = Object.fromEntries(Object.keys(sides).map((name) => [name, []]));
  for (const side of Object.values(sides)) await load(side, dataDir);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, side] of Object.entries(sides)) results[name].push(await load(side, dataDir));
  }
  const of = (name, key) => median(results[name].map((result) => result[key]));
  for (const name of Object.keys(sides)) {
    console.log(
      `${name.padEnd(9)} ${of(name, 'rate').toFixed(0)}/s (${results[name].map(({ rate }) => rate.toFixed(0)).join(' ')}), ` +
        `CPU ms for one read: Node.js ${of(name, 'node').toFixed(3)}, PostgreSQL ${of(name, 'database').toFixed(3)}; ` +
        `latency ms: p50 ${of(name, 'p50')}, p99 ${of(name, 'p99')}`,
    );
  }
  const rates = (name) => results[name].map(({ rate }) => rate);
  const cpu = (name) => medians(results[name], { node: 'Node.js', database: 'PostgreSQL' });
  for (const [name, what, goal] of [
    ['service', `reading different threads, ${CONNECTIONS} connections`, 1.7],
    ['kept', 'reading threads that were read a moment ago', undefined],
    ['unchanged', 'asking for threads that have not changed (ETag)', undefined],
  ]) {
    record({
      part: 'read',
      what,
      baseline: 'bare Fastify, pg, one prepared query',
      theirs: rates('baseline'),
      ours: rates(name),
      goal,
      cpu: { theirs: cpu('baseline'), ours: cpu(name) },
    });
  }
  await bare.stop();
} finally {
  await service.stop();
}
