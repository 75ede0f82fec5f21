/**
 * A clock of the database that jumped ahead, or was behind, gives nothing up: neither a send that is put off, nor the copy of one. Rows are set
 * back instead.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { alwaysCertain } from '../helpers/always-certain.ts';
import { createReportStore } from '../../src/areas/receive/delivery-reports.ts';
import { createSentCopyQueue } from '../../src/areas/sent-copies/sent-copies.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { startQueueNode, type QueueNode } from '../helpers/queue-node.ts';
import { startSmtpSink, type SmtpSink } from '../helpers/smtp-sink.ts';
import { createTestPool } from '../helpers/test-pool.ts';
import { waitUntil } from '../helpers/wait-until.ts';

let database: TestDatabase;
let sink: SmtpSink;
let node: QueueNode;
/** How much later than now a moment may be that is certain to have come. */
const clocks = { certainMs: 60_000 };
beforeAll(async () => {
  [database, sink] = await Promise.all([createTestDatabase(), startSmtpSink()]);
  node = await startQueueNode({
    database: database.connectionString,
    smtpUrl: sink.url,
    delaysMs: [50],
    giveUpAfterMs: 86_400_000,
    certainUntil: () => new Date(Date.now() + clocks.certainMs),
  });
});
afterAll(async () => {
  await node.stop();
  await node.folder.remove();
  await sink.stop();
  await database.drop();
});

const sql = (text: string, values: readonly unknown[] = []) => query(database.connectionString, text, values);
const SET_CLOCK = `update database_clock set seen_at = clock_timestamp() - $1::interval`;
const attemptsOf = async (id: string) => (await node.read(id)).attempts.length;

it('puts a send off and tries it on while the clock is in doubt, and gives it up when the time is certain', async () => {
  await sql(SET_CLOCK, ['40 days']);
  const id = await node.enqueue({ to: ['ada@later.test'] });
  await sql(`update send_queue set give_up_at = now() - interval '20 hours' where email_id = $1`, [id]);
  await waitUntil('it was tried three times', async () => (await attemptsOf(id)) >= 3);
  expect(['deferred', 'sending']).toContain((await node.read(id)).state);
  await sql(SET_CLOCK, ['0']);
  await waitUntil('it is given up', async () => (await node.read(id)).state === 'failed');
});

it('begins the time of a send anew that a clock far behind had set, and gives it up after that', async () => {
  const id = await node.enqueue({ to: ['ada@later.test'] });
  // The process that accepted it had the right time.
  await sql(`update send_queue set give_up_at = now() - interval '340 days' where email_id = $1`, [id]);
  await waitUntil('it was tried three times', async () => (await attemptsOf(id)) >= 3);
  expect(['deferred', 'sending']).toContain((await node.read(id)).state);
  const [row] = await sql(
    `select give_up_at - now() > '23 hours' as it from send_queue where email_id = $1`,
    [id],
  );
  expect(row).toEqual({ it: true });
  await sql(`update send_queue set give_up_at = now() where email_id = $1`, [id]);
  await waitUntil('it is given up', async () => (await node.read(id)).state === 'failed');
});

it('sends nothing before its time that is only due by a clock in doubt, while other sends go on', async () => {
  const sendAt = new Date(Date.now() + 3_600_000);
  const scheduled = await node.enqueue({ to: ['ada@example.org'], sendAt });
  clocks.certainMs = -3_600_000;
  // As if the clock of the database had gone ahead: the moment has come by it.
  await sql('update send_queue set due_at = now(), send_at = now() where email_id = $1', [scheduled]);
  const sent = async (id: string) => {
    await waitUntil('it is sent', async () => (await node.read(id)).state === 'sent');
  };
  await sent(await node.enqueue({ to: ['ada@example.org'] }));
  await sent(await node.enqueue({ to: ['ada@example.org'] }));
  expect(await node.read(scheduled)).toMatchObject({ state: 'queued', attempts: [] });
  clocks.certainMs = 60_000;
  await sent(scheduled);
});

it('gives nothing up while the clocks of process and database differ', async () => {
  clocks.certainMs = -3_600_000;
  const id = await node.enqueue({ to: ['ada@later.test'] });
  await sql(`update send_queue set give_up_at = now() - interval '20 hours' where email_id = $1`, [id]);
  await waitUntil('it was tried three times', async () => (await attemptsOf(id)) >= 3);
  await sql(
    `update send_queue set account_id = 'gone', due_at = now() + interval '1 day' where email_id = $1 and owner is null`,
    [id],
  );
  expect(await node.queue.giveUpOrphans(['default'])).toBe(0);
  expect(['deferred', 'sending']).toContain((await node.read(id)).state);
  clocks.certainMs = 60_000;
  await sql(`update send_queue set account_id = 'default', due_at = now() where email_id = $1`, [id]);
  await waitUntil('it is given up', async () => (await node.read(id)).state === 'failed');
});

it('looks on for the email of a report while the clock is in doubt, and gives up when the time is certain', async () => {
  const id = await node.enqueue({ to: ['ada@example.org'] });
  await sql(
    `insert into bounce_reports (report_id, account_id, kind, format, message_ids, recipients, reported_at, next_match_at, created_at)
    values ($1, 'default', 'report', 'dsn', '{}', '[]', now(), now(), now() - interval '31 days')`,
    [id],
  );
  const pool = createTestPool(database, 1);
  const isLookedFor = async () => {
    await createReportStore(pool).postponeReport(id);
    return (await sql('select next_match_at is not null as it from bounce_reports'))[0]?.['it'];
  };
  try {
    await sql(SET_CLOCK, ['40 days']);
    expect(await isLookedFor()).toBe(true);
    await sql(SET_CLOCK, ['0']);
    expect(await isLookedFor()).toBe(false);
  } finally {
    await pool.end();
  }
});

it('puts the copy of a send off while the clock is in doubt, and gives it up when the time is certain', async () => {
  const id = await node.enqueue({ to: ['ada@example.org'] });
  await waitUntil('it is sent', async () => (await node.read(id)).state === 'sent');
  await sql(
    `insert into sent_copies (email_id, account_id, give_up_at) values ($1, 'default', now() - interval '20 hours')`,
    [id],
  );
  const pool = createTestPool(database, 2);
  try {
    const copies = createSentCopyQueue(pool, alwaysCertain);
    const state = async () => (await sql('select state from sent_copies'))[0]?.['state'];
    const fail = async () => {
      const claimId = randomUUID();
      await copies.claim({ accountId: 'default', claimId, limit: 1, leaseMs: 1000 });
      await copies.failed(claimId, { emailId: id, reason: 'the quota is used up', retryMs: 0 });
    };
    await sql(SET_CLOCK, ['40 days']);
    await fail();
    expect(await state()).toBe('pending');
    await copies.putOff('default', 0, 'the server is away');
    expect(await state()).toBe('pending');
    await sql(SET_CLOCK, ['0']);
    // A clock far behind had set its time.
    const setLongOver = () => sql(`update sent_copies set give_up_at = now() - interval '340 days'`);
    await setLongOver();
    await fail();
    expect(await state()).toBe('pending');
    await setLongOver();
    await copies.putOff('default', 0, 'the server is away');
    expect(await state()).toBe('pending');
    await sql(`update sent_copies set give_up_at = give_up_at - interval '5 days'`);
    await fail();
    expect(await state()).toBe('failed');
  } finally {
    await pool.end();
  }
});
