/** A person is erased while a process has an email to them and may be handing it over. */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { alwaysCertain } from '../../../test/helpers/always-certain.ts';
import { outboundRecord } from '../../../test/helpers/outbound-record.ts';
import { openMailStores, type MessageStore } from '../../../test/helpers/mail-stores.ts';
import { waitUntil } from '../../../test/helpers/wait-until.ts';
import type { ErasureStore } from './erasure-ports.ts';
import type { ClaimRequest, SendQueue } from '../send/queue-ports.ts';
import { createSendQueue } from '../send/send-queue-store.ts';
import { NotDeletable } from './delete-email-rows.ts';
import { createErasureStore } from './erasure-store.ts';

let end: () => Promise<void>;
let pool: pg.Pool;
let store: MessageStore;
let queue: SendQueue;
let erasures: ErasureStore;

beforeAll(async () => {
  ({ pool, store, end } = await openMailStores(8));
  queue = createSendQueue(pool, alwaysCertain);
  erasures = createErasureStore(pool, pool);
});
afterAll(() => end());

const CLAIM: ClaimRequest = {
  accountId: 'default',
  owner: randomUUID(),
  limit: 1,
  leaseMs: 60_000,
  afterLane: '',
  rate: { perMinute: null, perDay: null },
};

async function queued(address: string): Promise<string> {
  const [localPart = '', domain = ''] = address.split('@');
  const record = outboundRecord({
    to: [{ name: '', localPart, domain }],
    state: 'queued',
    deliveries: [{ address, state: 'pending', reply: null }],
    queue: {
      lane: 'new',
      priority: 'normal',
      dueAt: new Date(0),
      dueInMs: 0,
      timedFrom: new Date(),
      giveUpAfterMs: 60_000,
    },
  });
  await store.recordOutbound(record);
  return record.id;
}

/** Goes over all emails once. */
async function eraseEmails(address: string): Promise<'waits' | 'done'> {
  const owner = randomUUID();
  await erasures.request({
    id: randomUUID(),
    requestedBy: 'a test',
    address,
    customerId: null,
    ownAddresses: [],
  });
  const erasure = await erasures.claim(owner);
  if (erasure === null) throw new Error('an erasure is there');
  try {
    for (;;) {
      const step = await erasures.eraseEmails(erasure);
      if (step !== 'more') return step;
    }
  } finally {
    await erasures.finish(erasure);
  }
}

const isThere = async (id: string) =>
  (await pool.query('select from emails where id = $1', [id])).rowCount === 1;

it('waits for an email that is claimed, and deletes one that only waits', async () => {
  const id = await queued('ann@erase.test');
  const { claims } = await queue.claim(CLAIM);
  expect(await eraseEmails('ann@erase.test')).toBe('waits');
  expect(await isThere(id)).toBe(true);
  await queue.release(CLAIM.owner, claims[0]!, { evenBegun: false });
  expect(await eraseEmails('ann@erase.test')).toBe('done');
  expect(await isThere(id)).toBe(false);
});

it('waits for an email that is claimed by a statement that is not committed yet', async () => {
  const id = await queued('bob@erase.test');
  const client = await pool.connect();
  await client.query('begin');
  const { claims } = await createSendQueue(client as unknown as pg.Pool, alwaysCertain).claim(CLAIM);
  expect(claims.map(({ emailId }) => emailId)).toEqual([id]);
  const erased = eraseEmails('bob@erase.test');
  await waitUntil('the erasure waits for the claim', async () => {
    const waiting = await pool.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return waiting.rowCount === 1;
  });
  // The transaction begins again, and sees the claim; that may be before the answer to the commit is here.
  const [outcome] = await Promise.allSettled([erased, client.query('commit')]);
  client.release();
  expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(NotDeletable) as NotDeletable });
  expect(await eraseEmails('bob@erase.test')).toBe('waits');
  expect(await isThere(id)).toBe(true);
  expect(await queue.begin(CLAIM.owner, claims[0]!, 60_000)).toBe(true);
});
