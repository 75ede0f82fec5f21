/** Leases of processes that died before the clock of the database went back. Leases are set forward instead of the clock set back. */
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { createMessageStore } from '../../../test/helpers/mail-stores.ts';
import { outboundRecord } from '../../../test/helpers/outbound-record.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/helpers/postgres.ts';
import { createTestPool } from '../../../test/helpers/test-pool.ts';
import { LONGEST_LEASE_MS } from '../base/leases.ts';
import { createDatabaseClock } from './database-clock.ts';

let database: TestDatabase;
let pool: pg.Pool;
beforeAll(async () => {
  database = await createTestDatabase();
  pool = createTestPool(database, 4);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});
afterEach(async () => {
  await pool.query(
    'truncate emails, email_threads, mailbox_accounts, mailbox_readers, erasures, oauth2_tokens, webhooks cascade',
  );
});

const shorten = () => createDatabaseClock(pool).shortenLeases(LONGEST_LEASE_MS);

/** A send in the queue; returns its id. */
async function enqueue(): Promise<string> {
  const record = outboundRecord({
    state: 'queued',
    deliveries: [{ address: 'ada@example.org', state: 'pending', reply: null }],
    queue: {
      priority: 'normal',
      lane: 'new',
      dueAt: null,
      dueInMs: 0,
      timedFrom: new Date(),
      giveUpAfterMs: 86_400_000,
    },
  });
  await createMessageStore(pool).recordOutbound(record);
  return record.id;
}

const NEAR = `now() + interval '20 seconds'`;
const FAR = `now() + interval '40 days'`;
const CLAIM = `owner = gen_random_uuid(), claim_id = gen_random_uuid(), claimed_at = now()`;

it('shortens leases that were computed before the clock went back, of every kind, and no other', async () => {
  const [near, far] = [await enqueue(), await enqueue()];
  const leases = {
    'send_queue.lease_until': `update send_queue set ${CLAIM}, lease_until = case email_id when '${far}' then ${FAR} else ${NEAR} end`,
    'mailbox_accounts.lease_until': `insert into mailbox_accounts (account_id, owner, lease_until)
      values ('far', gen_random_uuid(), ${FAR}), ('near', gen_random_uuid(), ${NEAR})`,
    'mailbox_readers.alive_until': `insert into mailbox_readers (owner, account_ids, alive_until)
      values (gen_random_uuid(), '{}', ${FAR}), (gen_random_uuid(), '{}', ${NEAR})`,
    'sent_copies.due_at': `insert into sent_copies (email_id, account_id, claim_id, due_at)
      values ('${far}', 'default', gen_random_uuid(), ${FAR}), ('${near}', 'default', gen_random_uuid(), ${NEAR})`,
    'absence_answers.next_try_at': `insert into absence_answers (account_id, address, email_id, next_try_at)
      values ('far', 'a@b.test', '${far}', ${FAR}), ('near', 'a@b.test', '${near}', ${NEAR})`,
    'webhook_positions.lease_until': `with made as (
        insert into webhooks (id, revision, url, description, payload, max_in_flight, header_names, sealed, key_id)
        select gen_random_uuid(), 1, 'https://hooks.test/', '', 'thin', 1, '{}', '', '' from generate_series(1, 2) returning id
      )
      insert into webhook_positions (webhook_id, position, owner, lease_until)
      -- One that is free, since a moment to come.
      select id, 0, case when row_number() over () = 1 then gen_random_uuid() end, case when row_number() over () = 1 then ${NEAR} else ${FAR} end from made`,
    'erasures.lease_until': `insert into erasures (id, requested_by, addresses, owner, lease_until)
      values (gen_random_uuid(), 'x', '{}', gen_random_uuid(), ${FAR}), (gen_random_uuid(), 'x', '{}', gen_random_uuid(), ${NEAR})`,
    'oauth2_tokens.lease_until': `insert into oauth2_tokens (account_id, key_id, sealed, owner, lease_until)
      values ('far', decode(repeat('00', 16), 'hex'), '', 'x', ${FAR}), ('near', decode(repeat('00', 16), 'hex'), '', 'x', ${NEAR})`,
  };
  for (const lease of Object.values(leases)) await pool.query(lease);
  await shorten();
  for (const place of Object.keys(leases)) {
    const [table = '', until = ''] = place.split('.');
    const { rows } = await pool.query(
      `select ${until} <= ${NEAR} as is_near, ${until} <= now() + interval '5 minutes' as is_short from ${table} order by ${until}`,
    );
    expect({ place, rows }).toEqual({
      place,
      rows: [
        { is_near: true, is_short: true },
        { is_near: false, is_short: true },
      ],
    });
  }
});

it('leaves what waits without a lease, and the lease that a transaction renews', async () => {
  const [free, held] = [await enqueue(), await enqueue()];
  await pool.query(`update send_queue set due_at = ${FAR} where email_id = $1`, [free]);
  await pool.query(`update send_queue set ${CLAIM}, lease_until = ${FAR} where email_id = $1`, [held]);
  await pool.query(`insert into sent_copies (email_id, account_id, due_at) values ($1, 'default', ${FAR})`, [
    free,
  ]);
  const client = await pool.connect();
  await client.query('begin');
  await client.query('select from send_queue where email_id = $1 for update', [held]);
  await shorten();
  await client.query('commit');
  client.release();
  const far = `> now() + interval '39 days'`;
  const { rows } = await pool.query(
    `select q.due_at ${far} as waits, q.lease_until ${far} as is_leased, c.due_at ${far} as copy_waits
    from send_queue q left join sent_copies c using (email_id) order by waits`,
  );
  expect(rows).toEqual([
    { waits: false, is_leased: true, copy_waits: null },
    { waits: true, is_leased: null, copy_waits: true },
  ]);
});
