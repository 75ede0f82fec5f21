/** A clock of the database that jumped ahead gives nothing up: neither a send that is put off, nor the copy of one. The row is set back instead. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createSentCopyQueue } from '../../src/adapters/postgres/sent-copies/sent-copies.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { startQueueNode, type QueueNode } from '../helpers/queue-node.ts';
import { startSmtpSink, type SmtpSink } from '../helpers/smtp-sink.ts';
import { createTestPool } from '../helpers/test-pool.ts';
import { waitUntil } from '../helpers/wait-until.ts';

let database: TestDatabase;
let sink: SmtpSink;
let node: QueueNode;
beforeAll(async () => {
  [database, sink] = await Promise.all([createTestDatabase(), startSmtpSink()]);
  node = await startQueueNode({
    database: database.connectionString,
    smtpUrl: sink.url,
    delaysMs: [50],
    giveUpAfterMs: 86_400_000,
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
  await sql(`update send_queue set give_up_at = now() - interval '36 days' where email_id = $1`, [id]);
  await waitUntil('it was tried three times', async () => (await attemptsOf(id)) >= 3);
  expect(['deferred', 'sending']).toContain((await node.read(id)).state);
  await sql(SET_CLOCK, ['0']);
  await waitUntil('it is given up', async () => (await node.read(id)).state === 'failed');
});

it('puts the copy of a send off while the clock is in doubt, and gives it up when the time is certain', async () => {
  const id = await node.enqueue({ to: ['ada@example.org'] });
  await waitUntil('it is sent', async () => (await node.read(id)).state === 'sent');
  await sql(
    `insert into sent_copies (email_id, account_id, give_up_at) values ($1, 'default', now() - interval '35 days')`,
    [id],
  );
  const pool = createTestPool(database, 2);
  try {
    const copies = createSentCopyQueue(pool);
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
    await fail();
    expect(await state()).toBe('failed');
  } finally {
    await pool.end();
  }
});
