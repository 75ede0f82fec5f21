/**
 * Runs all measurements that have a baseline, each in its own process, one after the other.
 *
 *   npm run bench              a few minutes
 *   npm run bench -- --short   under three minutes: the ratios that matter most
 *   npm run bench -- --smoke   only checks that the measurements work; their figures mean nothing
 *   npm run bench -- --write   also puts the table and the plots into docs/
 *   npm run bench -- --only send,read
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const here = (file) => fileURLToPath(new URL(file, import.meta.url));

/** The environment of each form. Where no value is set, the measurement's own default applies. */
const PARTS = [
  {
    name: 'read',
    file: 'read.mjs',
    short: { BENCH_ROUNDS: 3, BENCH_SECONDS: 1.5 },
    smoke: { BENCH_ROUNDS: 1, BENCH_SECONDS: 0.5, BENCH_THREADS: 300 },
  },
  {
    name: 'send',
    file: 'sends.mjs',
    short: { BENCH_ROUNDS: 3, BENCH_SECONDS: 2 },
    smoke: { BENCH_ROUNDS: 1, BENCH_SECONDS: 0.5 },
  },
  {
    name: 'import',
    file: 'receive.mjs',
    short: { BENCH_ROUNDS: 3, BENCH_EMAILS: 1500 },
    smoke: { BENCH_ROUNDS: 1, BENCH_EMAILS: 50 },
  },
  {
    name: 'lmtp',
    file: 'lmtp.mjs',
    short: { BENCH_ROUNDS: 3, BENCH_EMAILS: 300, BENCH_CONNECTIONS: '1,10' },
    smoke: { BENCH_ROUNDS: 1, BENCH_EMAILS: 20, BENCH_CONNECTIONS: '10' },
  },
  {
    name: 'large',
    file: 'large.mjs',
    short: { BENCH_ROUNDS: 1 },
    smoke: { BENCH_ROUNDS: 1, BENCH_FILE_BYTES: 200_000 },
  },
];

const { values: options } = parseArgs({
  options: {
    short: { type: 'boolean' },
    smoke: { type: 'boolean' },
    write: { type: 'boolean' },
    only: { type: 'string' },
  },
});
const form = options.smoke ? 'smoke' : options.short ? 'short' : 'full';
const wanted = options.only?.split(',') ?? PARTS.map(({ name }) => name);
const unknown = wanted.filter((name) => !PARTS.some((part) => part.name === name));
if (unknown.length > 0) throw new Error(`no measurement is called ${unknown.join(', ')}`);

async function measure({ name, file, ...forms }, results) {
  console.log(`\n${name}`);
  const settings = Object.entries(forms[form] ?? {}).map(([key, value]) => [key, String(value)]);
  const child = spawn(process.execPath, [here(file)], {
    // The caller's own settings take precedence.
    env: { ...Object.fromEntries(settings), ...process.env, BENCH_RESULTS: results },
    stdio: 'inherit',
  });
  const [status] = await once(child, 'exit');
  if (status !== 0) throw new Error(`${file} ended with ${status}`);
}

const folder = mkdtempSync(path.join(tmpdir(), 'email-worker-bench-'));
try {
  const [{ model }] = cpus();
  const machine = `${cpus().length} cores (${model}), Node.js ${process.version.slice(1)}`;
  const busy = () => `load ${loadavg()[0].toFixed(1)}`;
  const before = busy();
  console.log(`${machine}, ${before}; the ${form} form`);
  const results = process.env.BENCH_RESULTS ?? path.join(folder, 'results.jsonl');
  writeFileSync(results, '');
  for (const part of PARTS.filter(({ name }) => wanted.includes(name))) await measure(part, results);
  if (options.write) {
    const { readResults, toTable, writePlots, writeSection } = await import('./report.mjs');
    const rows = readResults(results);
    const plots = here('../docs/benchmarks');
    mkdirSync(plots, { recursive: true });
    await writePlots(rows, plots);
    writeSection(
      here('../docs/benchmarks.md'),
      `Measured on ${new Date().toISOString().slice(0, 10)}: ${machine}, embedded PostgreSQL, fsync on; ${before} before and ` +
        `${busy()} after. Medians of the rounds, with their range in brackets.\n\n${toTable(rows)}\n\n` +
        '![Each figure as a multiple of its baseline](benchmarks/ratios.svg)\n\n![Processor time of one operation](benchmarks/cpu.svg)',
    );
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
