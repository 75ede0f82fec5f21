/** The effect of a bounce on a send that is still in the queue, while a process is handing it over. */
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createReportStore } from '../../src/areas/receive/delivery-reports.ts';
import { conclude } from '../../src/core/delivery/conclude.ts';
import type { DeliveryState } from '../../src/core/delivery/states.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { startQueueNode, type QueueNode } from '../helpers/queue-node.ts';
import { startSmtpSink, type SmtpSink } from '../helpers/smtp-sink.ts';
import { createTestPool } from '../helpers/test-pool.ts';

let database: TestDatabase;
let sink: SmtpSink;
let node: QueueNode;
let pool: pg.Pool;

beforeAll(async () => {
  [database, sink] = await Promise.all([createTestDatabase(), startSmtpSink()]);
  node = await startQueueNode({ database: database.connectionString, smtpUrl: sink.url, work: false });
  pool = createTestPool(database, 2);
});
afterAll(async () => {
  await pool.end();
  await node.stop();
  await node.folder.remove();
  await sink.stop();
  await database.drop();
});

const NOW = new Date();

/** A report that the only recipient failed; any email can stand for the report itself. */
async function bounce(emailId: string): Promise<void> {
  const recipients = [
    {
      address: 'ann@example.org',
      finalAddress: null,
      action: 'failed',
      severity: 'soft',
      status: '5.4.1',
      diagnostic: '',
    },
  ];
  await query(
    database.connectionString,
    `insert into bounce_reports
      (report_id, account_id, kind, format, message_ids, recipients, reported_at, next_match_at)
    select id, account_id, 'report', 'rfc3464', array[message_id], $2::jsonb, now(), now() from emails where id = $1`,
    [emailId, JSON.stringify(recipients)],
  );
  const reports = createReportStore(pool);
  expect(await reports.findReportedEmail(emailId)).toMatchObject({ id: emailId });
  expect(await reports.applyReport(emailId, emailId)).toBe(1);
  expect(await reports.applyReport(emailId, emailId)).toBe(0);
}

describe.each([
  ['is put off', 'deferred', 'rejected', 'failed'],
  ['is accepted', 'accepted', 'accepted', 'sent'],
] as const)('an attempt that %s after the bounce came', (_, outcome: DeliveryState, delivery, state) => {
  it(`leaves the recipient ${delivery} and the email ${state}`, async () => {
    const emailId = await node.enqueue({ to: ['ann@example.org'] });
    const { claims } = await node.queue.claim({
      accountId: 'default',
      owner: node.owner,
      limit: 10,
      leaseMs: 60_000,
      afterLane: '',
      rate: { perMinute: null, perDay: null },
    });
    expect(claims).toMatchObject([{ emailId, envelope: { rcptTo: ['ann@example.org'] }, suppressed: [] }]);
    await bounce(emailId);
    const attempt = claims[0]!;
    await node.queue.begin(node.owner, attempt, 60_000);
    await node.queue.showSending(node.owner, [attempt]);
    expect((await node.read(emailId)).state).toBe('sending');
    await node.queue.settle(
      node.owner,
      {
        emailId,
        claimId: attempt.claimId,
        attempt: attempt.attempt,
        envelope: attempt.envelope,
        email: null,
        startedAt: NOW,
        endedAt: NOW,
        result: {
          ...(outcome === 'accepted' ? { kind: 'accepted' } : { kind: 'refused', temporary: true }),
          recipients: [{ address: 'ann@example.org', state: outcome, reply: null }],
          reply: null,
          detail: 'said later',
          relayMessageId: null,
        },
      },
      ({ states }) => conclude(states, 'said later', 60_000),
    );
    expect(await node.read(emailId)).toMatchObject({
      state,
      nextAttemptAt: null,
      deliveries: [{ state: delivery, report: { outcome: 'bounced_soft' } }],
    });
  });
});
