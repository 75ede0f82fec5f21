/**
 * Measures importing mail against a plain script (bench/plain-importer.mjs), on the same database server and the same
 * mbox file; whole processes, from start to end. `BENCH_EMAILS` sets how many mails (5,000), `BENCH_ROUNDS` how often.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { startEmbeddedPostgres } from '../dist/adapters/postgres/embedded/server.js';
import { writeMbox } from './mail-archive.mjs';

const EMAILS = Number(process.env.BENCH_EMAILS ?? 5000);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const BASELINE_AT_ONCE = 8;
const logger = { debug() {}, info() {}, warn: console.warn, error: console.error };
const here = (file) => fileURLToPath(new URL(file, import.meta.url));
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

function run(args, env = {}) {
  const started = performance.now();
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    env: { PATH: process.env.PATH, ...env },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${args[0]} ended with ${status}: ${stdout}${stderr}`);
  return { seconds: (performance.now() - started) / 1000, stdout };
}

const folder = mkdtempSync(path.join(tmpdir(), 'email-worker-bench-'));
const server = await startEmbeddedPostgres({ dataDir: folder, logger });
try {
  const mbox = path.join(folder, 'archive.mbox');
  await writeMbox(mbox, EMAILS);
  console.log(`${EMAILS} mails, ${(statSync(mbox).size / 2 ** 20).toFixed(0)} MiB`);
  const admin = new pg.Client(server.connection);
  await admin.connect();
  const url = `postgres://email_worker@localhost/NAME?host=${server.connection.host}&port=${server.connection.port}`;
  const rates = { plain: [], ours: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    await admin.query(`create database round${round}`);
    const database = url.replace('NAME', `round${round}`);
    rates.plain.push(
      EMAILS / run([here('plain-importer.mjs'), mbox, database, String(BASELINE_AT_ONCE)]).seconds,
    );
    const { seconds, stdout } = run([here('../dist/main.js'), 'import', mbox], {
      DATABASE_URL: database,
      DATA_DIR: path.join(folder, `data${round}`),
      MAIL_FROM: 'verkauf@example.com',
    });
    if (!stdout.includes(`imported ${EMAILS},`)) throw new Error(stdout);
    rates.ours.push(EMAILS / seconds);
  }
  await admin.end();
  const list = (values) => values.map((value) => value.toFixed(0)).join(' ');
  console.log(`plain script  ${median(rates.plain).toFixed(0)}/s (${list(rates.plain)})`);
  console.log(`import        ${median(rates.ours).toFixed(0)}/s (${list(rates.ours)})`);
  console.log(`ratio         ${(median(rates.ours) / median(rates.plain)).toFixed(2)}`);
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
