/** The order of locks (docs/architecture.md): a second transaction in the middle of its own never waits in a circle. */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { inboundRecord } from '../../../test/helpers/inbound-record.ts';
import { addressOf, newMessageId, outboundRecord } from '../../../test/helpers/outbound-record.ts';
import { waitUntil } from '../../../test/helpers/wait-until.ts';
import { createCustomerLinker } from '../customers/link-customers.ts';
import { createMessageStore, openMailStores } from '../../../test/helpers/mail-stores.ts';
import { createInboundStore } from './record-inbound.ts';
import { createThreadDecisions } from '../threads/decide-in-transaction.ts';

let end: () => Promise<void>;
let pool: pg.Pool;
let other: pg.PoolClient;

beforeEach(async () => {
  ({ pool, end } = await openMailStores());
  other = await pool.connect();
  await other.query('begin');
});
afterEach(async () => {
  other.release();
  await end();
});

const receive = (parents: readonly ReturnType<typeof newMessageId>[] = []) =>
  createInboundStore(pool).recordInbound(inboundRecord({}, parents));

/** `work` waits for a lock of `other` when `more` runs in `other`; in the end both finish. Returns the number of deadlocks. */
async function meet(work: Promise<unknown>, more: () => Promise<unknown>): Promise<number> {
  await waitUntil('it waits', async () => {
    const { rows } = await pool.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows.length > 0;
  });
  await more();
  await other.query('commit');
  await work;
  const { rows } = await pool.query<{ deadlocks: number }>(
    'select deadlocks::int from pg_stat_database where datname = current_database()',
  );
  return rows[0]!.deadlocks;
}

it('a received email becomes a sent one while its thread is marked', async () => {
  const email = await receive();
  await other.query('select from thread_summaries where thread_id = $1 for update', [email.threadId]);
  const copy = inboundRecord({ isSentCopy: true });
  const deadlocks = await meet(createInboundStore(pool).turnIntoSent(email.id, copy), () =>
    other.query('insert into unread_emails (email_id) values ($1) on conflict do nothing', [email.id]),
  );
  expect(deadlocks).toBe(0);
  const { rows } = await pool.query('select from unread_emails');
  expect(rows).toEqual([]);
});

it('mail is linked again while a send to the same address is recorded', async () => {
  const customerId = '00000000-0000-4000-8000-000000000001';
  const record = outboundRecord({
    messageId: newMessageId(),
    to: [addressOf('ada', 'acme.test')],
    customerId,
  });
  await createMessageStore(pool).recordOutbound(record);
  await pool.query('insert into customer_relinks (email_id) select id from emails');
  await pool.query('delete from customer_addresses');
  await other.query('select from email_threads for no key update');
  const deadlocks = await meet(createCustomerLinker(pool, () => false).linkSome(), () =>
    other.query(
      `insert into customer_addresses (address, customer_id) values ('ada@acme.test', $1) on conflict do nothing`,
      [customerId],
    ),
  );
  expect(deadlocks).toBe(0);
});

it('threads that are kept apart are decided on while their customers are worked out', async () => {
  const [first, second] = [await receive(), await receive()];
  const [low, high] = [first.threadId, second.threadId].sort();
  await pool.query('update email_threads set cluster_id = gen_random_uuid() where id = $1', [low]);
  await pool.query(
    'update email_threads set cluster_id = (select cluster_id from email_threads where id = $1)',
    [low],
  );
  const third = await receive();
  await pool.query('update email_threads set cluster_id = gen_random_uuid() where id = $1', [third.threadId]);
  await other.query('select from email_threads where id = $1 for no key update', [low]);
  const decisions = createThreadDecisions(pool);
  const ids = { decisionId: randomUUID(), newThreadId: randomUUID() };
  const deadlocks = await meet(
    decisions.merge({ threadId: high!, otherThreadId: third.threadId, reason: null }, ids),
    () => other.query('select from email_threads where id = $1 for no key update', [high]),
  );
  expect(deadlocks).toBe(0);
});
