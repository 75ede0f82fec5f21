/** Emails are deleted while the worker makes them searchable and learns from them. */
import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addressOf, outboundRecord } from '../../../test/helpers/outbound-record.ts';
import { openMailStores, type MessageStore } from '../../../test/helpers/mail-stores.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { waitUntil } from '../../../test/helpers/wait-until.ts';
import { learnMentions } from '../addresses/learn-addresses.ts';
import { createSearchIndex } from '../search/search-index.ts';
import { deleteEmails } from './delete-email-rows.ts';

let end: () => Promise<void>;
let pool: pg.Pool;
let store: MessageStore;

beforeAll(async () => {
  ({ pool, store, end } = await openMailStores(4));
});
afterAll(() => end());

const count = async (text: string): Promise<number> =>
  Number((await pool.query<{ n: string }>(text)).rows[0]?.n);

it('neither waits for the other in a circle, and nothing of them is left', async () => {
  const index = createSearchIndex(pool, silentLogger, (client, ids) =>
    learnMentions(client, ids, () => false),
  );
  const records = ['ada', 'bob', 'ada'].map((name) => outboundRecord({ to: [addressOf(name, 'acme.test')] }));
  for (const record of records) await store.recordOutbound(record);
  while ((await index.indexSome()).count > 0);
  expect(await count('select count(*) as n from known_addresses')).toBe(2);

  const ids = records.map(({ id }) => id);
  await pool.query('insert into search_queue (email_ids) values ($1)', [ids]);
  const client = await pool.connect();
  await client.query('begin');
  await client.query('select from emails where id = any ($1) order by id for update', [ids]);
  const indexing = index.indexSome();
  await waitUntil(
    'the worker waits for the emails',
    async () =>
      (await count(
        `select count(*) as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )) === 1,
  );
  // In one transaction: if it waited in a circle, it would fail here, or the worker would.
  await deleteEmails(client, ids, () => true);
  await client.query('commit');
  client.release();
  await indexing;
  for (const table of ['address_mentions', 'known_addresses', 'known_address_words', 'email_search']) {
    expect([table, await count(`select count(*) as n from ${table}`)]).toEqual([table, 0]);
  }
});
