import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openMailStores, type MessageStore } from '../../../test/helpers/mail-stores.ts';
import { outboundRecord } from '../../../test/helpers/outbound-record.ts';
import { createReadFigures } from './read-figures.ts';

let pool: pg.Pool;
let store: MessageStore;
let end: () => Promise<void>;
beforeAll(async () => {
  ({ pool, store, end } = await openMailStores());
});
afterAll(() => end());

const NOTHING = {
  queued: 0,
  oldestDueSeconds: 0,
  unknownSends: 0,
  mailboxLagSeconds: null,
  mailboxWaiting: 0,
  quarantined: 0,
};

it('tells what waits for the configured accounts, and nothing of others', async () => {
  const read = createReadFigures(pool, () => ['sales', 'help']);
  const before = await read();
  expect(before.accounts).toEqual([
    { accountId: 'sales', ...NOTHING },
    { accountId: 'help', ...NOTHING },
  ]);
  expect(before.webhooks).toEqual({ active: 0, failed: 0, lagEvents: 0 });

  for (const accountId of ['sales', 'sales', 'sales', 'other']) {
    const { id } = outboundRecord();
    await store.recordOutbound(outboundRecord({ id, accountId }));
    await pool.query(
      `insert into send_queue (email_id, account_id, lane, priority, due_at, give_up_at)
       values ($1, $2, 'lane', 1, now() - interval '1 hour', now() + interval '1 day')`,
      [id, accountId],
    );
  }
  const later = outboundRecord({ accountId: 'help' });
  await store.recordOutbound(later);
  await pool.query(
    `insert into send_queue (email_id, account_id, lane, priority, due_at, give_up_at)
     values ($1, 'help', 'lane', 0, now() + interval '1 day', now() + interval '2 days')`,
    [later.id],
  );
  await store.recordOutbound(outboundRecord({ accountId: 'help', state: 'unknown' }));
  await pool.query(`insert into mailbox_accounts (account_id) values ('sales'), ('other')`);
  await pool.query(
    `insert into mailboxes (account_id, path, last_success_at, waiting, quarantined, left_at) values
       ('sales', 'INBOX', now(), 2, 1, null),
       ('sales', 'Sent', now() - interval '2 hours', 3, 0, null),
       ('sales', 'Old', now() - interval '2 years', 5, 5, now()),
       ('other', 'INBOX', now() - interval '9 hours', 7, 7, null)`,
  );

  const { accounts, eventsWaiting } = await read();
  expect(accounts).toEqual([
    {
      ...NOTHING,
      accountId: 'sales',
      queued: 3,
      oldestDueSeconds: expect.any(Number),
      mailboxLagSeconds: expect.any(Number),
      mailboxWaiting: 5,
      quarantined: 1,
    },
    { ...NOTHING, accountId: 'help', queued: 1, unknownSends: 1 },
  ]);
  // The database's clock, not one of the test: a busy machine only makes the times longer, by much less than a day.
  const [sales] = accounts;
  expect(sales?.oldestDueSeconds).toBeGreaterThanOrEqual(3600);
  expect(sales?.oldestDueSeconds).toBeLessThan(86_400);
  expect(sales?.mailboxLagSeconds).toBeGreaterThanOrEqual(7200);
  expect(sales?.mailboxLagSeconds).toBeLessThan(86_400);
  // Nothing numbers events in this test.
  expect(eventsWaiting).toBeGreaterThan(0);
});

it('tells of webhooks, and how far the one furthest behind is', async () => {
  await pool.query('update event_clock set position = 100');
  const insert = async (url: string, reason: string | null, position: number) => {
    const { rows } = await pool.query<{ id: string }>(
      `insert into webhooks (id, revision, url, description, payload, max_in_flight, header_names, sealed, key_id, paused_at, pause_reason)
       values (gen_random_uuid(), 1, $1, '', 'full', 1, '{}', '', '', case when $2::text is not null then now() end, $2) returning id`,
      [url, reason],
    );
    await pool.query(
      `insert into webhook_positions (webhook_id, position) values ($1, $2)
       on conflict (webhook_id) do update set position = excluded.position`,
      [rows[0]?.id, position],
    );
  };
  await insert('https://a.example.com/', null, 90);
  await insert('https://b.example.com/', null, 40);
  await insert('https://c.example.com/', 'failed', 1);
  await insert('https://d.example.com/', 'by_hand', 2);
  const { webhooks } = await createReadFigures(pool, () => ['sales'])();
  expect(webhooks).toEqual({ active: 2, failed: 1, lagEvents: 60 });
});
