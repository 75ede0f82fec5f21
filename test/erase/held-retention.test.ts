/** What retention may delete in an hour, and what an operator confirms beyond it, in the built service and its command. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { runCommand } from '../helpers/command-process.ts';
import { mail, receive } from '../helpers/inbound-mail.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const DAY_MS = 86_400_000;
const ARCHIVE = 30;

let database: TestDatabase;
let service: ServiceProcess;
/** RETENTION_DAYS=1 on an archive of a month, in which nothing is kept for less. */
const lowered = () => ({ DATABASE_URL: database.connectionString, RETENTION_DAYS: '1' });
const count = async () =>
  Number((await query(database.connectionString, 'select count(*) as n from emails'))[0]?.['n']);

beforeEach(async () => {
  database = await createTestDatabase();
  service = await startServiceProcess({ env: { DATABASE_URL: database.connectionString } });
  for (let day = 0; day < ARCHIVE; day += 1) {
    await receive(service, mail({ date: new Date(Date.now() - (day + 2) * DAY_MS).toUTCString() }));
  }
  await service.stop();
});
afterEach(async () => {
  await disposeService(service);
  await database.drop();
});

interface Held {
  readonly emails: number;
  readonly bound: number;
  readonly deleted: number;
  readonly held_since: string | null;
  readonly confirmed: number;
}
const get = async () => (await (await service.request('/api/retention')).json()) as Held;
const confirm = (json: object, query = '') => service.request(`/api/retention/confirm${query}`, { json });
const heldEvents = async () => {
  const response = await service.request('/api/events?type=retention.held');
  return ((await response.json()) as { events: { data: object }[] }).events.map(({ data }) => data);
};

it('deletes no more than the bound of an hour when RETENTION_DAYS is lowered, over restarts and processes', async () => {
  service = await startServiceProcess({ dataDir: service.dataDir, env: lowered() });
  const other = await startServiceProcess({ env: lowered() });
  try {
    await waitUntil('it is held', async () => (await get()).held_since !== null);
    expect(await count()).toBe(ARCHIVE - 10);
    await service.stop();
    service = await startServiceProcess({ dataDir: service.dataDir, env: lowered() });
    await waitUntil('a round has ended', () =>
      service.log.some((line) => line.includes('more threads are due than may be deleted in an hour')),
    );
    expect(await get()).toMatchObject({ emails: 20, bound: 10, deleted: 10, confirmed: 0 });
    await waitUntil('the event is in the feed', async () => (await heldEvents()).length > 0);
    expect(await heldEvents()).toEqual([
      {
        bound: 10,
        deleted: 10,
        threads: 20,
        emails: 20,
        accounts: [{ account_id: 'default', retention_days: 1, threads: 20, emails: 20 }],
      },
    ]);
    expect(await count()).toBe(ARCHIVE - 10);
  } finally {
    await disposeService(other);
  }
});

it('deletes at once what an operator confirms, and shows before what that would be', async () => {
  service = await startServiceProcess({ dataDir: service.dataDir, env: lowered() });
  await waitUntil('it is held', async () => (await get()).held_since !== null);
  expect((await confirm({ emails: 21 })).status).toBe(400);
  const dry = (await (await confirm({ emails: 15 }, '?dry_run=true')).json()) as Held;
  expect(dry).toMatchObject({ emails: 20, confirmed: 0 });
  expect(await count()).toBe(ARCHIVE - 10);

  expect(await (await confirm({ emails: 15 })).json()).toMatchObject({ confirmed: 15 });
  await waitUntil('the confirmed ones are deleted', async () => (await count()) === 5);
  await waitUntil('the rest is held', async () => (await get()).held_since !== null);
  expect(await get()).toMatchObject({ emails: 5, confirmed: 0 });
  const acts = (await (await service.request('/api/audit?act=retention.confirmed')).json()) as {
    entries: { details: object; outcome: string }[];
  };
  // A dry run is no act; a refused one is.
  expect(acts.entries.map(({ details, outcome }) => ({ details, outcome }))).toEqual([
    { details: { emails: 15 }, outcome: 'done' },
    { details: { emails: 21 }, outcome: 'refused' },
  ]);
});

it('is the same by the command', async () => {
  const { dataDir } = service;
  const first = await runCommand(['retention'], { dataDir, env: lowered() });
  expect(first).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('20 emails are held') as string,
  });
  expect(await count()).toBe(ARCHIVE - 10);
  const look = await runCommand(['retention', '--dry-run'], { dataDir, env: lowered() });
  expect(look.stdout).toContain('default: 20 threads with 20 emails');
  expect(look.stdout).toContain('in an hour 10 emails may be deleted; 10 of this hour were');
  const rest = await runCommand(['retention', '--confirm', '20'], { dataDir, env: lowered() });
  expect(rest).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('deleted') as string });
  expect(await count()).toBe(0);
});
