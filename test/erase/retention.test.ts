/** Threads past their retention, in the built service and its command. */
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCommandInProcess } from '../helpers/command-in-process.ts';
import { mail, newId, receive } from '../helpers/inbound-mail.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { makeTempFolder } from '../helpers/temp-folder.ts';
import { waitUntil } from '../helpers/wait-until.ts';

let database: TestDatabase;
let service: ServiceProcess;
const DAY_MS = 86_400_000;

beforeAll(async () => {
  database = await createTestDatabase();
  service = await startServiceProcess({ env: { DATABASE_URL: database.connectionString } });
});
afterAll(async () => {
  await disposeService(service);
  await database.drop();
});

const ask = (text: string, values: readonly unknown[] = []) => query(database.connectionString, text, values);
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toUTCString();

it('deletes whole threads by their last email, and keeps what goes on or is not sent yet', async () => {
  const old = await receive(service, mail({ date: daysAgo(400) }));
  await receive(service, mail({ date: daysAgo(390), inReplyTo: old.messageId }));
  const ongoing = await receive(service, mail({ date: daysAgo(400) }));
  const answer = await receive(service, mail({ date: daysAgo(10), inReplyTo: ongoing.messageId }));
  const waiting = await receive(service, mail({ date: daysAgo(400), messageId: newId() }));
  const young = await receive(service, mail({ date: daysAgo(1) }));
  // A thread of which nothing was ever sent, so that no list shows it.
  const failed = randomUUID();
  await ask('insert into email_threads (id, account_id) values ($1, $2)', [failed, 'default']);
  await ask(`update emails set direction = 'outbound', state = 'unknown' where id = $1`, [waiting.id]);
  await ask(`update emails set direction = 'outbound', state = 'failed', thread_id = $2 where id = $1`, [
    (await receive(service, mail({ date: daysAgo(400) }))).id,
    failed,
  ]);

  const env = { DATABASE_URL: database.connectionString, RETENTION_DAYS: '365' };
  const { dataDir } = service;
  const look = await runCommandInProcess(['retention', '--dry-run'], { dataDir, env });
  expect(look.stdout).toContain('default: 2 threads with 3 emails');
  expect(await ask('select from emails where id = $1', [old.id])).toHaveLength(1);

  await service.stop();
  service = await startServiceProcess({ dataDir, env });
  await waitUntil('the old ones are deleted', async () => (await ask('select from emails')).length === 4);
  const rows = await ask('select id from emails order by id');
  expect(rows.map(({ id }) => id)).toEqual([ongoing.id, answer.id, waiting.id, young.id].sort());
  expect(await ask('select from email_threads where id in ($1, $2)', [old.threadId, failed])).toEqual([]);
  // A rule counts for what comes from then on: it is not read again from a mailbox.
  expect((await runCommandInProcess(['retention', '--dry-run'], { dataDir, env })).stdout).toContain(
    '0 threads',
  );
});

it('has a rule of its own for each account, and none for those without', async () => {
  const other = await createTestDatabase();
  const folder = await makeTempFolder();
  const accounts = path.join(folder.path, 'accounts.json');
  const account = (id: string, days: number | null) => ({
    id,
    from: `${id}@example.com`,
    ...(days === null ? {} : { retention_days: days }),
  });
  await writeFile(
    accounts,
    JSON.stringify([account('sales', 30), account('support', 300), account('board', null)]),
  );
  const env = { DATABASE_URL: other.connectionString, ACCOUNTS_FILE: accounts };
  const own = await startServiceProcess({ env });
  try {
    for (const id of ['sales', 'support', 'board']) {
      for (const days of [1, 100, 1000])
        await receive(own, mail({ date: daysAgo(days) }), `?account_id=${id}`);
    }
    const { dataDir } = own;
    const { stdout } = await runCommandInProcess(['retention'], { dataDir, env });
    expect(stdout).toContain('sales: ');
    expect(stdout).toContain('support: ');
    expect(stdout).not.toContain('board');
    const left = await query(
      other.connectionString,
      'select account_id, count(*)::int as n from emails group by 1 order by 1',
    );
    expect(left).toEqual([
      { account_id: 'board', n: 3 },
      { account_id: 'sales', n: 1 },
      { account_id: 'support', n: 2 },
    ]);
  } finally {
    await disposeService(own);
    await other.drop();
    await folder.remove();
  }
});

it('is refused for a rule that says nothing', async () => {
  const env = { DATABASE_URL: database.connectionString, RETENTION_DAYS: '0' };
  const { stderr } = await runCommandInProcess(['retention'], { dataDir: service.dataDir, env });
  expect(stderr).toContain('RETENTION_DAYS');
});
