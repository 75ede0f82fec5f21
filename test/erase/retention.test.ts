/** Threads that are kept no longer, by the built service and its command. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCommandInProcess } from '../helpers/command-in-process.ts';
import { mail, newId, receive } from '../helpers/inbound-mail.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
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

it('deletes whole threads by their last email, and keeps what goes on or is not settled', async () => {
  const old = await receive(service, mail({ date: daysAgo(400) }));
  await receive(service, mail({ date: daysAgo(390), inReplyTo: old.messageId }));
  const ongoing = await receive(service, mail({ date: daysAgo(400) }));
  const answer = await receive(service, mail({ date: daysAgo(10), inReplyTo: ongoing.messageId }));
  const waiting = await receive(service, mail({ date: daysAgo(400), messageId: newId() }));
  const young = await receive(service, mail({ date: daysAgo(1) }));
  // Of which nothing was ever sent, so that no list shows it.
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

it('is refused for a rule that says nothing', async () => {
  const env = { DATABASE_URL: database.connectionString, RETENTION_DAYS: '0' };
  const { stderr } = await runCommandInProcess(['retention'], { dataDir: service.dataDir, env });
  expect(stderr).toContain('RETENTION_DAYS');
});
