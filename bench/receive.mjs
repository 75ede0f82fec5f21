/**
 * Measures importing mail against a plain script (bench/plain-importer.mjs), on the same database server and the same mbox file: whole
 * processes, from start to end, and the cost of importing the same file again. `BENCH_EMAILS` sets the number of mails (5,000),
 * `BENCH_ROUNDS` the number of rounds.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { startEmbeddedPostgres } from '../dist/connectors/embedded-postgres/server.js';
import { cpuOfEndedChildren, cpuOfTree, postmasterOf } from './cpu.mjs';
import { writeMbox } from './mail-archive.mjs';
import { median, record, spread } from './results.mjs';

const EMAILS = Number(process.env.BENCH_EMAILS ?? 5000);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const BASELINE_AT_ONCE = 8;
const logger = { debug() {}, info() {}, warn: console.warn, error: console.error };
const here = (file) => fileURLToPath(new URL(file, import.meta.url));
/** Measures the whole process, including the processes that it started. */
function run(postmaster, args, env = {}) {
  const cpu = () => [cpuOfEndedChildren(), cpuOfTree(postmaster)];
  const before = cpu();
  const started = performance.now();
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    env: { PATH: process.env.PATH, ...env },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${args[0]} ended with ${status}: ${stdout}${stderr}`);
  const seconds = (performance.now() - started) / 1000;
  return { seconds, cpu: cpu().map((ms, index) => (ms - before[index]) / 1000), stdout };
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
  const postmaster = postmasterOf(folder);
  const importer = here('../dist/bundle/main.js');
  const results = { plain: [], ours: [], fixed: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    await admin.query(`create database round${round}`);
    const database = url.replace('NAME', `round${round}`);
    results.plain.push(
      run(postmaster, [here('plain-importer.mjs'), mbox, database, String(BASELINE_AT_ONCE)]),
    );
    const env = {
      DATABASE_URL: database,
      DATA_DIR: path.join(folder, `data${round}`),
      MAIL_FROM: 'verkauf@example.com',
    };
    const ours = run(postmaster, [importer, 'import', mbox], env);
    if (!ours.stdout.includes(`imported ${EMAILS},`)) throw new Error(ours.stdout);
    results.ours.push(ours);
    results.fixed.push(run(postmaster, [importer, 'import', mbox], env));
  }
  await admin.end();
  const rates = (of) => results[of].map(({ seconds }) => EMAILS / seconds);
  const cpuOf = (of) => results[of].map(({ cpu }) => ((cpu[0] + cpu[1]) * 1000) / EMAILS);
  const part = (of, index) => median(results[of].map(({ cpu }) => (cpu[index] * 1000) / EMAILS));
  const cpu = (of) => ({ 'Node.js': part(of, 0), PostgreSQL: part(of, 1) });
  console.log(`CPU ms a mail: plain script ${spread(cpuOf('plain'))}, import ${spread(cpuOf('ours'))}`);
  record({
    part: 'import',
    what: `importing ${EMAILS.toLocaleString('en')} mails from an mbox file`,
    baseline: 'a plain script: mailparser, one row for each',
    theirs: rates('plain'),
    ours: rates('ours'),
    goal: 1.5,
    cpu: { theirs: cpu('plain'), ours: cpu('ours') },
  });
  console.log(
    `of what is known: ${spread(results.fixed.map(({ cpu }) => cpu[0] + cpu[1]))} s of CPU (goal 0.7)`,
  );
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
