/** The benchmarks work: `npm run bench -- --smoke`, whose figures mean nothing. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { skipWithoutMailServers } from '../helpers/mail-servers.ts';

const BENCH = fileURLToPath(new URL('../../bench/', import.meta.url));
const run = promisify(execFile);

/** The report of bench/report.mjs. */
interface Report {
  readResults(file: string): readonly object[];
  toTable(rows: readonly object[]): string;
  writePlots(rows: readonly object[], folder: string): Promise<void>;
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'email-worker-test-'));
});
afterAll(() => rm(folder, { recursive: true }));

it('each measurement gives figures of both sides', async () => {
  const parts = ['read', 'send', 'import', ...(skipWithoutMailServers() ? [] : ['lmtp']), 'large'];
  const results = path.join(folder, 'results.jsonl');
  const { stdout } = await run(
    process.execPath,
    [path.join(BENCH, 'run.mjs'), '--smoke', '--only', parts.join()],
    {
      env: { ...process.env, BENCH_RESULTS: results },
    },
  );
  const rows = (await readFile(results, 'utf8'))
    .trim()
    .split('\n')
    .map(
      (line) => JSON.parse(line) as { part: string; theirs: number[]; ours: number[]; cpu: { ours: object } },
    );
  expect([...new Set(rows.map(({ part }) => part))]).toEqual(parts);
  for (const { theirs, ours, cpu } of rows) {
    for (const value of [...theirs, ...ours]) expect(value).toBeGreaterThan(0);
    expect(Object.keys(cpu.ours)).toContain('PostgreSQL');
  }
  expect(stdout).toContain('ratio');

  const report = (await import(path.join(BENCH, 'report.mjs'))) as Report;
  const read = report.readResults(results);
  expect(report.toTable(read).split('\n')).toHaveLength(rows.length + 2);
  await report.writePlots(read, folder);
  expect(await readFile(path.join(folder, 'ratios.svg'), 'utf8')).toMatch(/^<svg[^]*<\/svg>$/);
}, 240_000);
