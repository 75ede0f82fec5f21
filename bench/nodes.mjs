/**
 * Measures one, two and four instances behind nginx, through PgBouncer in transaction mode, with their files on a server that speaks S3:
 * sends, sends with a file, and reads of different threads. The same four instances run all the time, and nginx has a port for each number
 * of them, so that rounds alternate. Where all share the cores of one machine, the rate only shows how they share them; the CPU time of an
 * operation shows the cost of another instance. There are 50 callers in all, or with BENCH_CALLERS=each 50 for each instance.
 *
 * BENCH_DATABASE_URL names an empty database of a local server, with a role that may see data_directory; BENCH_POOLER_URL names the same
 * database through the pooler, and BENCH_POOLER_PID the pooler's process.
 */
import autocannon from 'autocannon';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { fileURLToPath } from 'node:url';
import { cpuOf, cpuOfTree, postmasterAt } from './cpu.mjs';
import { freePort } from './free-port.mjs';
import { SECRET, startService, startSink } from './processes.mjs';
import { median, ROUNDS, SECONDS, spread } from './results.mjs';
import { CONCURRENCY, mail } from './workload.mjs';

const { BENCH_DATABASE_URL: direct, BENCH_POOLER_URL: pooled, BENCH_POOLER_PID: poolerPid } = process.env;
const COUNTS = [1, 2, 4];
const callersOf = (count) => (process.env.BENCH_CALLERS === 'each' ? CONCURRENCY * count : CONCURRENCY);
const FILE_BYTES = 100_000;
const KEPT_IDS = 5000;
const headers = { authorization: `Bearer ${SECRET}`, 'content-type': 'application/json' };
const folder = mkdtempSync(path.join(tmpdir(), 'email-worker-nodes-'));
const ended = [];

/** Starts a program that listens on the port, and stops it at the end. Returns its process id. */
async function startServer(program, args, port) {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const exited = once(child, 'exit');
  ended.push(async () => {
    child.kill('SIGTERM');
    await exited;
  });
  while (!(await isOpen(port))) {
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}`);
    await wait(50);
  }
  return child.pid;
}

async function isOpen(port) {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function startS3() {
  const port = await freePort();
  mkdirSync(path.join(folder, 's3'));
  const program = fileURLToPath(new URL('../node_modules/.bin/s3rver', import.meta.url));
  const bucket = ['--configure-bucket', 'bench'];
  const args = ['-d', path.join(folder, 's3'), '-a', '127.0.0.1', '-p', String(port), '--silent', ...bucket];
  const pid = await startServer(program, args, port);
  return { pid, url: `s3://bench/files?endpoint=http://127.0.0.1:${port}` };
}

/** As in docs/hosting/several.md, with a port for the first instance, for the first two, and so on. */
async function startNginx(services) {
  const sites = [];
  const ports = [];
  for (const count of COUNTS) {
    const port = await freePort();
    ports.push(port);
    const servers = services.slice(0, count).map(({ url }) => `server ${new URL(url).host};`);
    sites.push(`
      upstream first_${count} { ${servers.join(' ')} keepalive 64; }
      server {
        listen 127.0.0.1:${port};
        client_max_body_size 40m;
        location / {
          proxy_pass http://first_${count};
          proxy_http_version 1.1;
          proxy_set_header Connection "";
          proxy_set_header Host $host;
        }
      }`);
  }
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  for (const kind of kinds) mkdirSync(path.join(folder, kind));
  writeFileSync(
    path.join(folder, 'nginx.conf'),
    `daemon off; worker_processes 1; pid nginx.pid; error_log stderr; ${process.getuid() === 0 ? 'user root;' : ''}
     events { worker_connections 4096; } http { access_log off; client_body_buffer_size 1m;
     ${kinds.map((kind) => `${kind}_temp_path ${kind};`).join(' ')} ${sites.join('\n')} }`,
  );
  const args = ['-p', folder, '-e', 'stderr', '-c', 'nginx.conf'];
  return { pid: await startServer('/usr/sbin/nginx', args, ports[0]), ports };
}

/** Makes threads to read, through sends to all instances. */
async function sendThreads(port, body) {
  const ids = [];
  const sendOne = async () => {
    const response = await fetch(`http://127.0.0.1:${port}/api/send`, { method: 'POST', headers, body });
    ids.push((await response.json()).threadId);
  };
  while (ids.length < KEPT_IDS) await Promise.all(Array.from({ length: CONCURRENCY }, sendOne));
  return ids;
}

/** The search index of sent mail is written later; that work must not count in the next measurement. */
async function indexAll(client) {
  while ((await client.query('select from email_worker.search_queue limit 1')).rowCount > 0) await wait(200);
}

async function load(port, request, callers) {
  const result = await autocannon({
    url: `http://127.0.0.1:${port}`,
    connections: callers,
    duration: SECONDS,
    headers,
    requests: [request],
  });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${result.non2xx} refused, ${result.errors} broken`);
  return { answered: result['2xx'], rate: result['2xx'] / result.duration, p99: result.latency.p99 };
}

try {
  const postmaster = await postmasterAt(direct);
  const sink = await startSink();
  ended.push(() => sink.stop());
  const s3 = await startS3();
  const services = [];
  for (let index = 0; index < Math.max(...COUNTS); index += 1) {
    const service = await startService({
      DATABASE_URL: pooled,
      DATABASE_DIRECT_URL: direct,
      SMTP_URL: `smtp://127.0.0.1:${sink.port}?max_messages_per_connection=1000000`,
      BLOB_URL: s3.url,
      AWS_ACCESS_KEY_ID: 'S3RVER',
      AWS_SECRET_ACCESS_KEY: 'S3RVER',
    });
    ended.push(() => service.stop());
    services.push(service);
  }
  const nginx = await startNginx(services);
  const plain = JSON.stringify(mail);
  const withFile = JSON.stringify({
    ...mail,
    attachments: [
      {
        filename: 'scan.pdf',
        content_type: 'application/pdf',
        content: Buffer.alloc(FILE_BYTES, 'mail').toString('base64'),
      },
    ],
  });
  const ids = await sendThreads(nginx.ports.at(-1), plain);
  const anyThread = () => `/api/thread/${ids[Math.floor(Math.random() * ids.length)]}`;
  const post = (body) => ({ method: 'POST', path: '/api/send', body });
  const WORK = {
    'a send': post(plain),
    'a send with a file of 100 kB': post(withFile),
    'a read of a thread': {
      method: 'GET',
      setupRequest: (request) => ({ ...request, path: anyThread() }),
    },
  };
  const cpu = () => ({
    services: services.reduce((sum, { pid }) => sum + cpuOf(pid), 0),
    PostgreSQL: cpuOfTree(postmaster),
    PgBouncer: cpuOf(Number(poolerPid)),
    nginx: cpuOfTree(nginx.pid),
    S3: cpuOfTree(s3.pid),
  });
  const client = new pg.Client(direct);
  await client.connect();
  ended.push(() => client.end());
  for (const [name, request] of Object.entries(WORK)) {
    await indexAll(client);
    const rounds = new Map(COUNTS.map((count) => [count, []]));
    for (const [index, count] of COUNTS.entries()) await load(nginx.ports[index], request, callersOf(count));
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [index, count] of COUNTS.entries()) {
        const before = cpu();
        const { answered, ...times } = await load(nginx.ports[index], request, callersOf(count));
        const spent = Object.entries(cpu()).map(([part, ms]) => [part, (ms - before[part]) / answered]);
        rounds.get(count).push({ ...times, ...Object.fromEntries(spent) });
      }
    }
    for (const [count, values] of rounds) {
      const of = (key) => values.map((value) => value[key]);
      const parts = Object.keys(cpu()).map((part) => `${part} ${median(of(part)).toFixed(3)}`);
      const all = values.map((value) => Object.keys(cpu()).reduce((sum, part) => sum + value[part], 0));
      console.log(
        `${name}, ${count} of them: ${spread(of('rate'), 0)}/s, p99 ${median(of('p99'))} ms; ` +
          `CPU ms each: ${median(all).toFixed(2)} = ${parts.join(', ')}`,
      );
    }
  }
} finally {
  for (const end of ended.toReversed()) await end();
  rmSync(folder, { recursive: true, force: true });
}
