/** The programs of examples/ run against a started service. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startServiceWithDatabase } from './helpers/running-service.ts';
import { TEST_SECRET, type ServiceProcess } from './helpers/service-process.ts';

let service: ServiceProcess;
let end: () => Promise<void>;

beforeAll(async () => {
  ({ service, end } = await startServiceWithDatabase());
});
afterAll(() => end());

it('examples/send-and-read.mjs sends an email and reads its thread', async () => {
  const file = fileURLToPath(new URL('../examples/send-and-read.mjs', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [file, 'ada@example.org'], {
    env: { ...process.env, BASE_URL: service.url, API_SECRET: TEST_SECRET },
  });
  expect(stdout).toMatch(/^sent: <[^>]+>\n\S+ outbound Your offer \[offer\.txt \(9 bytes\)\]\n$/);
});
