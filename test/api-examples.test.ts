/** The commands on the pages of docs/api run. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startServiceWithDatabase } from './helpers/running-service.ts';
import { TEST_SECRET, type ServiceProcess } from './helpers/service-process.ts';

const read = (path: string) => readFileSync(new URL(`../docs/${path}`, import.meta.url), 'utf8');
const scriptOf = (page: string) =>
  [...read(`api/${page}`).matchAll(/^```sh\n(.*?)^```$/gms)].map(([, commands]) => commands).join('');

const FIRST = scriptOf('README.md');
const pages = (await readdir(new URL('../docs/api/', import.meta.url))).filter(
  (page) => page !== 'README.md',
);
/** The commands for a shell that starts programs by itself. */
const scripts = pages
  .map((page) => ({ page, script: scriptOf(page) }))
  .filter(({ page }) => page !== 'mcp.md');

let service: ServiceProcess;
let end: () => Promise<void>;

beforeAll(async () => {
  ({ service, end } = await startServiceWithDatabase({ DNS_SERVERS: '127.0.0.1:9' }));
});
afterAll(() => end());

it('docs/api has an example of each operation', () => {
  const { paths } = JSON.parse(read('openapi.json')) as {
    paths: Record<string, Record<string, { operationId?: string }>>;
  };
  const operations = Object.values(paths).flatMap((methods) =>
    Object.values(methods).flatMap(({ operationId }) => operationId ?? []),
  );
  const all = [FIRST, ...scripts.map(({ script }) => script)].join('');
  expect(operations.filter((name) => !new RegExp(`^# .*\\b${name}\\b`, 'm').test(all))).toEqual([]);
});

const EXPECTED: Readonly<Record<string, string>> = {
  'sending.md': '"code":"not_unknown"',
  'receiving.md': '"code":"quarantined_not_found"',
  'files.md': 'ten euros',
  'search.md': '304',
};

it.each(scripts)(
  'each command of docs/api/$page is carried out',
  { tags: ['long'] },
  async ({ page, script }) => {
    const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', FIRST + script], {
      env: { ...process.env, BASE: service.url, SECRET: TEST_SECRET },
    });
    expect(script).not.toBe('');
    expect(stdout).toContain(EXPECTED[page] ?? '"');
  },
);
