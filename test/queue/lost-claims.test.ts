/** A claim that is taken for lost and given back at the same moment, by statements that wait for each other. */
import type { Pool } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { alwaysCertain } from '../helpers/always-certain.ts';
import { enqueue } from '../../src/areas/send/queue-rows.ts';
import { createSendQueue } from '../../src/areas/send/send-queue-store.ts';
import type { Claim } from '../../src/areas/send/queue-ports.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { startQueueNode, type QueueNode } from '../helpers/queue-node.ts';
import { createTestPool } from '../helpers/test-pool.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const SMTP_THAT_IS_NOT_USED = 'smtp://127.0.0.1:1';
const OTHER = '00000000-0000-4000-8000-00000000000f';

let database: TestDatabase;
let pool: Pool;
let node: QueueNode;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createTestPool(database);
});
beforeEach(async () => {
  node = await startQueueNode({
    database: database.connectionString,
    smtpUrl: SMTP_THAT_IS_NOT_USED,
    work: false,
  });
});
afterEach(async () => {
  await node.stop();
  await node.folder.remove();
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

/** A pool whose statements run at once and are committed when `commit` is called. */
function createHeldPool(): { readonly held: Pool; commit(): Promise<void> } {
  const clients: { query(text: string): Promise<unknown>; release(): void }[] = [];
  const held = {
    query: async (config: never) => {
      const client = await pool.connect();
      clients.push(client);
      await client.query('begin');
      return client.query(config);
    },
  };
  return {
    held: held as unknown as Pool,
    async commit() {
      for (const client of clients.splice(0)) {
        await client.query('commit');
        client.release();
      }
    },
  };
}

async function claimOne(leaseMs: number): Promise<Claim> {
  const { claims } = await node.queue.claim({
    accountId: 'default',
    owner: node.owner,
    leaseMs,
    limit: 1,
    afterLane: '',
    rate: { perMinute: null, perDay: null },
  });
  return claims[0]!;
}

const leaseIsOver = (emailId: string) =>
  waitUntil('the lease is over', async () => {
    const over = await query(
      database.connectionString,
      `select from send_queue where email_id = '${emailId}' and lease_until < now()`,
    );
    return over.length > 0;
  });

it('goes to its recipients when it is given back while another process takes it for lost', async () => {
  const id = await node.enqueue({ subject: 'lost and given back' });
  const claim = await claimOne(1);
  await node.queue.begin(node.owner, claim, 1);
  await leaseIsOver(id);
  const { held, commit } = createHeldPool();
  const lost = await createSendQueue(held, alwaysCertain).expire(OTHER);
  expect(lost.map(({ emailId }) => emailId)).toEqual([id]);

  const released = node.queue.release(node.owner, claim, { evenBegun: true });
  await waitUntil('the release waits for the other statement', async () => {
    const waiting = await query(
      database.connectionString,
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return waiting.length > 0;
  });
  await commit();
  expect(await released).toBe(true);

  expect(await node.read(id)).toMatchObject({
    state: 'queued',
    deliveries: [{ state: 'pending' }],
    attempts: [],
  });
  expect((await claimOne(60_000)).envelope.rcptTo).toEqual(['ann@example.org']);
});

it('is free again when its process fell silent before the first byte, and that process can not begin any more', async () => {
  const id = await node.enqueue({ subject: 'claimed ahead' });
  const claim = await claimOne(1);
  await leaseIsOver(id);
  expect(await createSendQueue(pool, alwaysCertain).expire(OTHER)).toEqual([]);

  expect(await node.read(id)).toMatchObject({
    state: 'queued',
    deliveries: [{ state: 'pending' }],
    attempts: [],
  });
  expect(await node.queue.begin(node.owner, claim, 60_000)).toBe(false);
  expect(await node.queue.release(node.owner, claim, { evenBegun: true })).toBe(false);
  expect(await claimOne(60_000)).toMatchObject({ emailId: id, attempt: 1 });
});

it('waits in another row when an operator sends it again, which a claim that began before can not take', async () => {
  const id = await node.enqueue({ subject: 'sent again by hand' });
  const claim = await claimOne(1);
  await node.queue.begin(node.owner, claim, 1);
  await leaseIsOver(id);
  expect(await createSendQueue(pool, alwaysCertain).expire(OTHER)).toHaveLength(1);
  const before = await pool.query('select timed_from, lane, attempts from send_queue where email_id = $1', [
    id,
  ]);

  const operator = await pool.connect();
  await operator.query('begin');
  await enqueue(operator, { id, placement_rule: 'new' }, 60_000);
  // Like the statement of a claim: it waits for the row that it saw.
  const seen = pool.query('select from send_queue where email_id = $1 for update', [id]);
  await waitUntil('the statement waits for the operator', async () => {
    const waiting = await query(
      database.connectionString,
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return waiting.length > 0;
  });
  await operator.query('commit');
  operator.release();
  expect((await seen).rowCount).toBe(0);

  const after = await pool.query('select timed_from, lane, attempts from send_queue where email_id = $1', [
    id,
  ]);
  expect(after.rows).toEqual(before.rows);
  expect(await claimOne(60_000)).toMatchObject({ emailId: id, attempt: 2 });
});
