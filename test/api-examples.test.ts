/** The commands of docs/api.md do what they say. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startServiceWithDatabase } from './helpers/running-service.ts';
import { TEST_SECRET, type ServiceProcess } from './helpers/service-process.ts';

const read = (path: string) => readFileSync(new URL(`../docs/${path}`, import.meta.url), 'utf8');
const script = /```sh\n(.*?)```/s.exec(read('api.md'))?.[1] ?? '';

let service: ServiceProcess;
let end: () => Promise<void>;

beforeAll(async () => {
  ({ service, end } = await startServiceWithDatabase());
});
afterAll(() => end());

it('docs/api.md has an example of each operation', () => {
  const { paths } = JSON.parse(read('openapi.json')) as {
    paths: Record<string, Record<string, { operationId?: string }>>;
  };
  const operations = Object.values(paths).flatMap((methods) =>
    Object.values(methods).flatMap(({ operationId }) => operationId ?? []),
  );
  expect(operations.filter((name) => !new RegExp(`^# .*\\b${name}\\b`, 'm').test(script))).toEqual([]);
});

it('each command of docs/api.md is carried out', { tags: ['long'] }, async () => {
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {
    env: { ...process.env, BASE: service.url, SECRET: TEST_SECRET },
  });
  expect(stdout).toContain('"code":"not_unknown"');
  expect(stdout).toContain('"code":"quarantined_not_found"');
  expect(stdout).toContain('ten euros');
});
