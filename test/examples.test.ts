/** The programs of examples/ run against a started service. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from './helpers/postgres.ts';
import {
  disposeService,
  startServiceProcess,
  TEST_SECRET,
  type ServiceProcess,
} from './helpers/service-process.ts';

let database: TestDatabase;
let service: ServiceProcess;

beforeAll(async () => {
  database = await createTestDatabase();
  service = await startServiceProcess({ env: { DATABASE_URL: database.connectionString } });
});
afterAll(async () => {
  await disposeService(service);
  await database.drop();
});

it('examples/send-and-read.mjs sends an email and reads its thread', async () => {
  const file = fileURLToPath(new URL('../examples/send-and-read.mjs', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [file, 'ada@example.org'], {
    env: { ...process.env, BASE_URL: service.url, API_SECRET: TEST_SECRET },
  });
  expect(stdout).toMatch(/^sent: <[^>]+>\n\S+ outbound Your offer \[offer\.txt \(9 bytes\)\]\n$/);
});
