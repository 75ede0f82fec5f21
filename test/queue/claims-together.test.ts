/** Statements over the same claims at the same moment: a process renews, begins and shows them while another looks for lost ones. */
import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { alwaysCertain } from '../helpers/always-certain.ts';
import { createSendQueue } from '../../src/areas/send/send-queue-store.ts';
import type { ClaimRef } from '../../src/areas/send/claim.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { createTestPool } from '../helpers/test-pool.ts';
import { createMessageStore } from '../helpers/mail-stores.ts';
import { newMessageId, outboundRecord } from '../helpers/outbound-record.ts';

const SENDS = 120;
const ROUNDS = 40;
const LEASE_MS = 600_000;

let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createTestPool(database, 12);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

/** Sends whose rows lie in another order than that of their emails. */
async function claimSends(owner: string): Promise<readonly ClaimRef[]> {
  const store = createMessageStore(pool);
  const ids = Array.from({ length: SENDS }, () => randomUUID());
  const queue = { lane: 'new', priority: 'normal', dueAt: null, dueInMs: 0, giveUpAfterMs: 60_000 } as const;
  for (const id of ids) {
    const record = outboundRecord({
      id,
      messageId: newMessageId(),
      state: 'queued',
      attempt: null,
      queue: { ...queue, timedFrom: new Date() },
    });
    await store.recordOutbound(record);
  }
  const claims: ClaimRef[] = [];
  while (claims.length < SENDS) {
    const claimed = await createSendQueue(pool, alwaysCertain).claim({
      accountId: 'default',
      owner,
      limit: 64,
      leaseMs: LEASE_MS,
      afterLane: '',
      rate: { perMinute: null, perDay: null },
    });
    claims.push(...claimed.claims);
  }
  return claims;
}

const shuffled = <T>(values: readonly T[]): T[] =>
  values
    .map((value) => ({ value, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ value }) => value);

it('renewals, beginnings and marks of the same claims never wait for each other in a circle', async () => {
  const owner = randomUUID();
  const claims = await claimSends(owner);
  const work = async (
    act: (queue: ReturnType<typeof createSendQueue>, refs: ClaimRef[]) => Promise<unknown>,
  ) => {
    // Its own batches, as another process has them.
    const queue = createSendQueue(pool, alwaysCertain);
    for (let round = 0; round < ROUNDS; round += 1) {
      const few = round % 2 === 0 ? SENDS : 3;
      await act(queue, shuffled(claims).slice(0, few));
    }
  };
  const ended = await Promise.allSettled([
    work((queue, refs) => queue.renew(owner, refs, LEASE_MS)),
    work((queue, refs) => queue.renew(owner, refs, LEASE_MS)),
    work((queue, refs) => Promise.all(refs.map((ref) => queue.begin(owner, ref, LEASE_MS)))),
    work((queue, refs) => Promise.all(refs.map((ref) => queue.begin(owner, ref, LEASE_MS)))),
    work((queue, refs) => queue.showSending(owner, refs)),
    work((queue, refs) => queue.showSending(owner, refs)),
    work((queue) => queue.expire(randomUUID())),
  ]);
  expect(ended.filter(({ status }) => status === 'rejected')).toEqual([]);
});
