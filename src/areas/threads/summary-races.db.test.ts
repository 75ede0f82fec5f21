/** Two changes of one thread at the same moment, where its summary begins or ends: afterwards the summary exists, and is correct. */
import type pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openMailStores, type MessageStore } from '../../../test/helpers/mail-stores.ts';
import { outboundRecord } from '../../../test/helpers/outbound-record.ts';
import { compareSummaries } from '../../../test/helpers/thread-summaries.ts';
import { waitUntil } from '../../../test/helpers/wait-until.ts';
import { lockSummariesOf } from '../emails/lock-summaries.ts';

let end: () => Promise<void>;
let pool: pg.Pool;
let store: MessageStore;
let first: pg.PoolClient;
let second: pg.PoolClient;

beforeEach(async () => {
  ({ pool, store, end } = await openMailStores(8));
  [first, second] = [await pool.connect(), await pool.connect()];
  await first.query('begin');
});
afterEach(async () => {
  first.release();
  second.release();
  await end();
});

/** The second transaction waits for the first, which then does `more` and commits. */
async function meet(work: Promise<unknown>, more?: () => Promise<unknown>): Promise<void> {
  await waitUntil('it waits', async () => {
    const { rows } = await pool.query('select from pg_locks where not granted');
    return rows.length > 0;
  });
  await more?.();
  await first.query('commit');
  await work;
}

async function expectSummaries(count: number): Promise<void> {
  const { expected, found } = await compareSummaries(pool);
  expect(found).toEqual(expected);
  expect(found).toHaveLength(count);
}

it('an email is moved into a thread whose only email is being deleted', async () => {
  const [left, right] = [outboundRecord(), outboundRecord()];
  await store.recordOutbound(left);
  await store.recordOutbound(right);
  await lockSummariesOf(first, [left.id]);
  const move = second.query('update emails set thread_id = $1 where id = $2', [left.threadId, right.id]);
  await meet(move, () => first.query('delete from emails where id = $1', [left.id]));
  await expectSummaries(1);
});

it('the only email of a thread is deleted while another is being moved into it', async () => {
  const [left, right] = [outboundRecord(), outboundRecord()];
  await store.recordOutbound(left);
  await store.recordOutbound(right);
  await first.query('update emails set thread_id = $1 where id = $2', [left.threadId, right.id]);
  await meet(second.query('delete from emails where id = $1', [left.id]));
  await expectSummaries(1);
});

it('a thread is done while its only email, one that failed, is sent after all', async () => {
  const failed = outboundRecord({ state: 'failed', isByPerson: true });
  await store.recordOutbound(failed);
  await expectSummaries(1);
  await first.query(`update email_threads set status = 'done' where id = $1`, [failed.threadId]);
  await meet(second.query(`update emails set state = 'sent' where id = $1`, [failed.id]));
  await expectSummaries(1);
});

it('the only email of a thread, one that failed, is sent after all while the thread is done', async () => {
  const failed = outboundRecord({ state: 'failed', isByPerson: true });
  await store.recordOutbound(failed);
  await first.query(`update emails set state = 'sent' where id = $1`, [failed.id]);
  await meet(second.query(`update email_threads set status = 'done' where id = $1`, [failed.threadId]));
  await expectSummaries(1);
});
