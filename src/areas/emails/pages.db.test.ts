/** The cost of a page of a long list: the number of rows read does not grow with the pages before it. */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseEmailsJson } from '../../../test/helpers/emails-json.ts';
import type { EmailPage } from './email-ports.ts';
import { createMessageStore, openMailStores } from '../../../test/helpers/mail-stores.ts';
import { createEmailStore } from './email-store.ts';

const EMAILS = 3000;
const LIMIT = 10;
const REPEATS = 3;
const FIRST = new Date('2026-01-01T00:00:00Z');
const MINUTE_MS = 60_000;
const CUSTOMER = randomUUID();
const SMALLEST_ID = '00000000-0000-0000-0000-000000000000';

let end: () => Promise<void>;
let pool: pg.Pool;

beforeAll(async () => {
  // One connection, because the tests look at its plans and counters.
  ({ pool, end } = await openMailStores(1));
  const threadId = randomUUID();
  await pool.query(`insert into email_threads (id, account_id) values ($1, 'default')`, [threadId]);
  await pool.query(
    `insert into emails (
      id, account_id, thread_id, direction, message_id, in_reply_to, reference_ids, from_address, to_addresses,
      cc_addresses, bcc_addresses, subject, text_body, date, customer_id, state, placement_rule, raw_size_bytes, raw
    )
    select gen_random_uuid(), 'default', $1, 'outbound', i || '@example.com', '{}', '{}', '{}', '[]', '[]', '[]', '',
      '', $2::timestamptz + i * interval '1 minute', $3, 'sent', 'new', 0, ''
    from generate_series(1, $4::int) i`,
    [threadId, FIRST, CUSTOMER, EMAILS],
  );
  await pool.query('vacuum analyze emails');
  // After five executions of a statement PostgreSQL may keep one plan for all values; here it does so at once.
  await pool.query('set plan_cache_mode = force_generic_plan');
});
afterAll(() => end());

/** Rows of `emails` that `act` reads. */
async function countRead(act: () => Promise<unknown>): Promise<number> {
  const read = async () => {
    await pool.query('select pg_stat_force_next_flush()');
    const { rows } = await pool.query<{ n: string }>(
      `select seq_tup_read + coalesce(idx_tup_fetch, 0) as n from pg_stat_user_tables where relname = 'emails'`,
    );
    return Number(rows[0]!.n);
  };
  const before = await read();
  await act();
  return (await read()) - before;
}

const idsOf = async (page: Promise<EmailPage>) =>
  (await parseEmailsJson((await page).emails)).map(({ id }) => id);

const lastPage = { date: new Date(FIRST.getTime() + (LIMIT + 1) * MINUTE_MS), id: SMALLEST_ID };

it('reads the last page of a customer without reading the pages before it', async () => {
  const store = createMessageStore(pool);
  const filters = { customerId: CUSTOMER, direction: null, since: null, until: null, limit: LIMIT };
  const read = await countRead(async () => {
    for (let i = 0; i < REPEATS; i += 1) {
      expect(await idsOf(store.listCustomerEmails({ ...filters, after: lastPage }))).toHaveLength(LIMIT);
    }
  });
  expect(read).toBeLessThan(2 * REPEATS * LIMIT);
});

it('reads an early span of a customer without reading what came later', async () => {
  const store = createMessageStore(pool);
  const filters = { customerId: CUSTOMER, direction: null, since: FIRST, after: null, limit: LIMIT };
  const read = await countRead(async () => {
    for (let i = 0; i < REPEATS; i += 1) {
      expect(await idsOf(store.listCustomerEmails({ ...filters, until: lastPage.date }))).toHaveLength(LIMIT);
    }
  });
  expect(read).toBeLessThan(2 * REPEATS * LIMIT);
});

it('reads the last page of all emails without reading the pages before it', async () => {
  const emails = createEmailStore(pool);
  const filters = { search: null, state: null, defect: null, tag: null, accountId: null, limit: LIMIT };
  const read = await countRead(async () => {
    for (let i = 0; i < REPEATS; i += 1) {
      expect(await idsOf(emails.listEmails({ ...filters, after: lastPage }))).toHaveLength(LIMIT);
    }
  });
  expect(read).toBeLessThan(2 * REPEATS * LIMIT);
});

it.each([
  ['of an account that has none', { state: null, accountId: 'other', defect: null }],
  ['of a state that hardly an email has', { state: 'received', accountId: null, defect: null }],
  ['of both', { state: 'received', accountId: 'default', defect: null }],
  ['that could not be parsed', { state: null, accountId: null, defect: 'not_parsed' }],
  ['of one account that could not be', { state: null, accountId: 'default', defect: 'not_parsed' }],
] as const)('finds the emails %s without reading the others', async (_, filter) => {
  const emails = createEmailStore(pool);
  const read = await countRead(async () => {
    const page = emails.listEmails({ ...filter, tag: null, search: null, limit: LIMIT, after: null });
    expect(await idsOf(page)).toEqual([]);
  });
  expect(read).toBeLessThan(LIMIT);
});

it('finds that a large customer never wrote without reading what it was sent', async () => {
  const store = createMessageStore(pool);
  const filters = { customerId: CUSTOMER, since: null, until: null, after: null, limit: LIMIT };
  const read = await countRead(async () => {
    expect(await idsOf(store.listCustomerEmails({ ...filters, direction: 'inbound' }))).toEqual([]);
  });
  expect(read).toBeLessThan(LIMIT);
});
