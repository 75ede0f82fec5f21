/**
 * Measures backup, a second backup, verify and restore by the built program, with a large database of the embedded server: time, CPU time,
 * and the peak memory of the program and of the server. `BENCH_EMAILS` sets the number of emails (30,000); every fifth one has a file.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { migrateToLatest } from '../dist/platform/db/migrate.js';
import { startEmbeddedPostgres } from '../dist/connectors/embedded-postgres/server.js';

const EMAILS = Number(process.env.BENCH_EMAILS ?? 30_000);
const FILE_EVERY = 5;
const FILE_BYTES = 6000;
const MAIN = fileURLToPath(new URL('../dist/bundle/main.js', import.meta.url));
const logger = { debug() {}, info() {}, warn: console.warn, error: console.error };
/** Makes the process print the resources it used when it ends. */
const TELL = `data:text/javascript,process.on('exit',()=>{const u=process.resourceUsage();process.stderr.write('USED '+JSON.stringify(u)+'\\n')})`;

const folder = mkdtempSync(path.join(tmpdir(), 'email-worker-backup-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
const source = path.join(folder, 'source');
const target = path.join(folder, 'target');
const place = path.join(folder, 'place');
mkdirSync(source);
mkdirSync(target);

await fill();
const mb = (bytes) => `${(bytes / 1e6).toFixed(0)} MB`;
await measure('backup', source, 'backup', place);
console.log(
  `  on the disk: ${mb(sizeOf(path.join(place, 'backups')))} of the database, ${mb(sizeOf(path.join(place, 'files')))} of files`,
);
await measure('the next one', source, 'backup', place);
await measure('verify', source, 'verify', place);
await measure('restore', target, 'restore', place);

async function fill() {
  const server = await startEmbeddedPostgres({ dataDir: source, logger });
  const connection = { ...server.connection, options: '-c search_path=email_worker' };
  const pool = new pg.Pool(connection);
  await migrateToLatest(pool);
  await pool.end();
  const client = new pg.Client(connection);
  await client.connect();
  await client.query('set session_replication_role = replica; set synchronous_commit = off');
  const threads = Math.ceil(EMAILS / 3);
  await client.query(
    `insert into email_threads (id, account_id) select md5('t' || i)::uuid, 'default' from generate_series(1, ${threads}) i`,
  );
  // A text of some 1,100 bytes, half of which compress away, and a message of the same size.
  await client.query(`
    insert into emails (id, account_id, thread_id, direction, message_id, in_reply_to, reference_ids, from_address, to_addresses,
      cc_addresses, bcc_addresses, subject, text_body, date, state, placement_rule, raw_size_bytes, raw, identity_key, reply_text)
    select md5('e' || i)::uuid, 'default', md5('t' || (1 + i % ${threads}))::uuid, 'inbound', i || '@example.com', '{}', '{}',
      jsonb_build_object('name', 'Person ' || i, 'address', 'p' || i || '@example.com'), '[]', '[]', '[]', 'Subject ' || i, body,
      timestamptz '2025-01-01' + i * interval '1 minute', 'received', 'new', 1200, convert_to(body, 'UTF8'), sha256(i::text::bytea), ''
    from generate_series(1, ${EMAILS}) i
      cross join lateral (select string_agg(md5((i * 40 + n)::text), ' ') as body from generate_series(1, 34) n where i > 0) b`);
  await client.query(`
    insert into email_json (email_id, thread_id, date, is_listed, files, has_files, json, direction, account_id)
    select id, thread_id, date, true, 0, false, to_jsonb(text_body)::text, direction, account_id from emails`);
  await fillFiles(client);
  await client.query('analyze');
  const { rows } = await client.query('select pg_database_size(current_database())::float8 as bytes');
  console.log(
    `${EMAILS} emails, ${Math.floor(EMAILS / FILE_EVERY)} files; the database has ${(rows[0].bytes / 1e6).toFixed(0)} MB`,
  );
  await client.end();
  await server.stop();
}

/** The files differ in content, and can't be compressed. */
async function fillFiles(client) {
  const batch = { numbers: [], hashes: [] };
  const flush = async () => {
    await client.query(
      `insert into email_attachments (id, email_id, ordinal, filename, content_type, size_bytes, storage_path, sha256)
      select md5('a' || i)::uuid, md5('e' || i)::uuid, 0, 'a.bin', 'application/octet-stream', ${FILE_BYTES},
        'default/' || md5('e' || i)::uuid || '/a.bin', decode(hash, 'hex') from unnest($1::int[], $2::text[]) as t (i, hash)`,
      [batch.numbers.splice(0), batch.hashes.splice(0)],
    );
  };
  for (let number = FILE_EVERY; number <= EMAILS; number += FILE_EVERY) {
    const hex = createHash('md5').update(`e${number}`).digest('hex');
    const id = hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
    const bytes = Buffer.alloc(FILE_BYTES, createHash('sha512').update(String(number)).digest());
    const file = path.join(source, 'files', 'default', id);
    mkdirSync(file, { recursive: true });
    writeFileSync(path.join(file, 'a.bin'), bytes);
    batch.numbers.push(number);
    batch.hashes.push(createHash('sha256').update(bytes).digest('hex'));
    if (batch.numbers.length === 1000) await flush();
  }
  await flush();
}

async function measure(what, dataDir, ...args) {
  const started = performance.now();
  const child = spawn(process.execPath, ['--import', TELL, MAIN, ...args], {
    cwd: dataDir,
    env: { PATH: process.env.PATH, DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'])
    child[name].setEncoding('utf8').on('data', (text) => (written[name] += text));
  let server = { memory: 0, cpu: 0 };
  const watch = setInterval(() => {
    const now = serverOf(dataDir);
    server = { memory: Math.max(server.memory, now.memory), cpu: Math.max(server.cpu, now.cpu) };
  }, 250);
  const [code] = await once(child, 'close');
  clearInterval(watch);
  if (code !== 0) throw new Error(`${what} ended with ${code}: ${written.stderr}`);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const used = JSON.parse(/^USED (.*)$/m.exec(written.stderr)[1]);
  const cpu = ((used.userCPUTime + used.systemCPUTime) / 1e6).toFixed(1);
  console.log(
    `${what}: ${seconds} s; the program ${cpu} s of CPU, ${(used.maxRSS / 1e3).toFixed(0)} MB; the server ` +
      `${server.cpu.toFixed(1)} s, ${(server.memory / 1e6).toFixed(0)} MB of its own; ${written.stdout.trim().split('\n').at(-1)}`,
  );
}

/** Memory in bytes that the processes of the embedded server don't share with others, and their CPU time in s. On Linux only. */
function serverOf(dataDir) {
  const sum = { memory: 0, cpu: 0 };
  let main;
  try {
    main = readFileSync(path.join(dataDir, 'postgres/data/postmaster.pid'), 'utf8').split('\n')[0];
  } catch {
    return sum;
  }
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ');
      if (pid !== main && stat[1] !== main) continue;
      sum.cpu += (Number(stat[11]) + Number(stat[12])) / 100;
      sum.memory +=
        Number(/^RssAnon:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
    } catch {
      // The process has ended meanwhile.
    }
  }
  return sum;
}

function sizeOf(where) {
  return readdirSync(where, { recursive: true })
    .map((name) => statSync(path.join(where, name)))
    .reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0);
}
