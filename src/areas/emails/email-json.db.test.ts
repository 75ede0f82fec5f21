/** Compares the JSON that PostgreSQL makes, byte by byte, with the JSON that this process makes of the same emails. */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseEmailsJson, readEmailsJson, toListingJson } from '../../../test/helpers/emails-json.ts';
import type { TestDatabase } from '../../../test/helpers/postgres.ts';
import { storeLargeThread, storeThread, type StoredEmail } from '../../../test/helpers/stored-emails.ts';
import { createTestPool } from '../../../test/helpers/test-pool.ts';
import { toEmailJson } from './email-view.ts';
import type { EmailsJson } from '../../platform/db/emails-json.ts';
import { EMAIL_STATES, LISTED_STATES } from '../../core/delivery/states.ts';
import { createCustomerStore } from '../customers/customer-rules.ts';
import { createMessageStore, openMailStores, type MessageStore } from '../../../test/helpers/mail-stores.ts';
import { toStorable } from '../../core/storable-text.ts';

const MIB = 1024 * 1024;

let database: TestDatabase;
let pool: pg.Pool;
let store: MessageStore;
let end: () => Promise<void>;

beforeAll(async () => {
  ({ database, pool, store, end } = await openMailStores());
});
afterAll(() => end());

/** The JSON of the emails of a thread, read one by one. */
async function expectedJson(threadId: string): Promise<string> {
  const { rows } = await pool.query<{ id: string }>(
    `select id from emails where thread_id = $1 and state = any($2) order by date, id`,
    [threadId, LISTED_STATES],
  );
  const emails = [];
  for (const { id } of rows) emails.push(toEmailJson((await store.readEmail(id))!));
  return emails.map((email) => JSON.stringify(email)).join();
}

async function read(threadId: string): Promise<EmailsJson> {
  const emails = await store.readThread(threadId);
  if (emails === null) throw new Error('there is no such thread');
  return emails;
}

/** Text that can be stored: anything but U+0000 and lone surrogates. */
const text = fc
  .oneof(
    fc.string({ unit: 'binary' }),
    fc.string(),
    fc
      .array(
        fc.constantFrom(
          '"',
          '\\',
          '/',
          '\n',
          '\r',
          '\t',
          '\b',
          '\f',
          '\v',
          '\u001f',
          '\u007f',
          '\u2028',
          '€',
          '😀',
        ),
      )
      .map((signs) => signs.join('')),
  )
  .map(toStorable);
const address = fc.record({
  name: fc.oneof(text, fc.constant(null)),
  address: text,
});
const email: fc.Arbitrary<Partial<StoredEmail>> = fc.record({
  from: fc.oneof(address, fc.record({ other: text, name: text, address: text })),
  to: fc.array(address, { maxLength: 4 }),
  subject: text,
  text,
  date: fc.oneof(
    fc.date({ min: new Date('1900-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }),
    fc.constant(new Date('2026-01-01')),
  ),
  state: fc.constantFrom(...EMAIL_STATES.filter((state) => state !== 'received')),
  files: fc.array(
    fc.record({
      filename: text.map((name) => `f${name}`),
      contentType: text.map((type) => `a/${type}`),
      sizeBytes: fc.nat({ max: Number.MAX_SAFE_INTEGER }),
    }),
    { maxLength: 3 },
  ),
});

it('is the same for any emails', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(email, { maxLength: 6 }), async (emails) => {
      const threadId = await storeThread(pool, emails);
      expect(await read(threadId)).toEqual({ kind: 'whole', json: await expectedJson(threadId) });
    }),
    { numRuns: 60 },
  );
});

/** The JSON of the emails, read one by one. */
async function expectedListing(ids: readonly string[]): Promise<string> {
  const emails = [];
  for (const id of ids) emails.push(JSON.stringify(toListingJson((await store.readEmail(id))!)));
  return emails.join();
}

it('is the same in lists, for any emails', async () => {
  const customers = createCustomerStore(pool, pool);
  await fc.assert(
    fc.asyncProperty(fc.array(email, { maxLength: 6 }), fc.nat(), async (emails, seed) => {
      const threadId = await storeThread(pool, emails);
      const customerId = randomUUID();
      await pool.query(
        `update emails set customer_id = $2, customer_source = 'ambiguous', state_detail = $3,
          author_key = nullif($3, ''), list_id = case when hashtext(id::text) % 2 = 0 then 'a"\b' end where thread_id = $1`,
        [threadId, customerId, emails[0]?.text ?? null],
      );
      await pool.query(
        `insert into send_queue (email_id, account_id, lane, priority, due_at, give_up_at, attempts)
        select id, 'default', 'new', 1, now() + interval '1.234567 hours', now(), 0 from emails
        where thread_id = $1 and hashtext(id::text) % 2 = $2`,
        [threadId, seed % 2],
      );

      const all = { direction: null, since: null, until: null, after: null } as const;
      const first = await store.listCustomerEmails({ ...all, customerId, limit: 3 });
      const second = await store.listCustomerEmails({ ...all, customerId, limit: 3, after: first.next });
      const both = [first, ...(first.next === null ? [] : [second])];
      const listed = (await Promise.all(both.map((page) => readEmailsJson(page.emails)))).filter(
        (json) => json !== '',
      );
      const newestFirst = (JSON.parse(`[${await expectedJson(threadId)}]`) as unknown[]).toReversed();
      expect(listed.join()).toBe(newestFirst.map((one) => JSON.stringify(one)).join());
      expect(both.at(-1)?.next).toBeNull();

      for (const { emails: json } of [
        await store.listEmails({
          search: null,
          state: null,
          defect: null,
          tag: null,
          accountId: 'default',
          limit: 5,
          after: null,
        }),
        await customers.listAmbiguousEmails({ rule: null, limit: 5, after: null }),
      ]) {
        const ids = (await parseEmailsJson(json)).map(({ id }) => id);
        expect(await readEmailsJson(json)).toBe(await expectedListing(ids));
      }
    }),
    { numRuns: 40 },
  );
});

it('is the same for a page of large texts', { tags: ['long'] }, async () => {
  const customerId = randomUUID();
  const texts = [0.4, 0.9, 0.4, 5, 0.4, 0.4, 3, 0.4].map((mib) => 'Zeile "€"\n'.repeat((mib * MIB) / 12));
  const threadId = await storeThread(
    pool,
    texts.map((one, index) => ({ text: one, date: new Date(Date.UTC(2027, 0, index + 1)) })),
  );
  await pool.query(`update emails set customer_id = $2, customer_source = 'explicit' where thread_id = $1`, [
    threadId,
    customerId,
  ]);
  const all = { direction: null, since: null, until: null, after: null } as const;
  const { emails, next } = await store.listCustomerEmails({ ...all, customerId, limit: 7 });
  expect(emails.kind).toBe('pieces');
  expect(next?.date).toEqual(new Date(Date.UTC(2027, 0, 2)));
  const newestFirst = (JSON.parse(`[${await expectedJson(threadId)}]`) as unknown[]).toReversed().slice(0, 7);
  const expected = newestFirst.map((one) => JSON.stringify(one)).join();
  expect((await readEmailsJson(emails)) === expected).toBe(true);

  // The other emails have later dates.
  const after = { date: new Date(Date.UTC(2027, 0, 20)), id: randomUUID() };
  const filter = { search: null, state: null, defect: null, tag: null, accountId: null } as const;
  const listed = await store.listEmails({ ...filter, limit: 8, after });
  expect(listed.emails.kind).toBe('pieces');
  const json = await readEmailsJson(listed.emails);
  const ids = (JSON.parse(`[${json}]`) as { id: string }[]).map(({ id }) => id);
  expect(ids).toHaveLength(8);
  expect(json === (await expectedListing(ids))).toBe(true);
});

it('follows whatever is changed of an email or a file', async () => {
  const file = { filename: 'a.pdf', contentType: 'application/pdf', sizeBytes: 1 };
  const threadId = await storeThread(pool, [{ files: [file, file] }, {}]);
  const changes = [
    `message_id = 'other@example.com'`,
    `written_message_id = 'Other@example.com'`,
    `from_address = '{"name":"\\"","address":"x@example.com"}'`,
    `to_addresses = '[{"name":"a","address":"a@example.com"},{"name":"b","address":"b@example.com"}]'`,
    `to_addresses = '[]'`,
    `subject = 'Betreff "2"', text_body = 'Text'`,
    `date = '2026-03-29 01:59:59+00'`,
  ];
  let before = await expectedJson(threadId);
  const expectChange = async () => {
    const expected = await expectedJson(threadId);
    expect(expected).not.toBe(before);
    expect(await read(threadId)).toEqual({ kind: 'whole', json: expected });
    before = expected;
  };
  for (const change of changes) {
    await pool.query(`update emails set ${change} where thread_id = $1`, [threadId]);
    await expectChange();
  }
  const files = 'email_id in (select id from emails where thread_id = $1)';
  await pool.query(`update email_attachments set filename = 'b' where ordinal = 1 and ${files}`, [threadId]);
  await expectChange();
  await pool.query(`delete from email_attachments where ${files}`, [threadId]);
  await expectChange();
});

it('is in pieces for short texts with very many recipients, alone or among others', async () => {
  const to = Array.from({ length: 2000 }, (_, i) => ({ name: 'Empfänger', address: `to-${i}@example.com` }));
  const threadId = await storeThread(
    pool,
    Array.from({ length: 10 }, () => ({ to })),
  );
  const others = [await storeThread(pool, [{}]), await storeThread(pool, [{}, {}])];
  const expected = await expectedJson(threadId);
  const together = await Promise.all([threadId, ...others].map(read));
  expect(together.map(({ kind }) => kind)).toEqual(['pieces', 'whole', 'whole']);
  for (const emails of [together[0]!, await read(threadId)]) {
    expect(emails.kind).toBe('pieces');
    expect((await readEmailsJson(emails)) === expected).toBe(true);
  }
});

it('has the microseconds of dates cut off', async () => {
  const threadId = await storeThread(pool, [{}, {}]);
  await pool.query(`update emails set date = '2026-03-29 01:59:59.999999+00' where thread_id = $1`, [
    threadId,
  ]);
  const json = await readEmailsJson(await read(threadId));
  expect(json).toBe(await expectedJson(threadId));
  expect(json).toContain('"date":"2026-03-29T01:59:59.999Z"');
});

it('is in UTC whatever the time zone of the database', async () => {
  const threadId = await storeThread(pool, [{}]);
  const other = createTestPool(database, 1);
  try {
    await other.query(
      `set timezone = 'Asia/Kathmandu'; set datestyle = 'German'; set intervalstyle = 'iso_8601'`,
    );
    const reader = createMessageStore(other);
    expect(await reader.readThread(threadId)).toEqual({ kind: 'whole', json: await expectedJson(threadId) });
  } finally {
    await other.end();
  }
});

it('is the same in pieces, for very many emails', { tags: ['long'] }, async () => {
  const threadId = await storeLargeThread(pool, { count: 1000, bytes: 200 });
  // All at the same moment, with microseconds: only the identifiers separate the pieces.
  await pool.query(`update emails set date = '2026-03-29 01:59:59.123456+00' where thread_id = $1`, [
    threadId,
  ]);
  const emails = await read(threadId);
  expect(emails.kind).toBe('pieces');
  expect(await readEmailsJson(emails)).toBe(await expectedJson(threadId));
});

it('is the same in pieces, for large texts among small ones', { tags: ['long'] }, async () => {
  const signs = ['a', '"', '\\', '\n', '\u0001', 'ü', '€', '😀'];
  const large = (mib: number) =>
    Array.from({ length: Math.ceil((mib * MIB) / 17) }, (_, i) => signs.join('') + signs[i % 8]).join('');
  const texts = ['first', large(0.5), large(5), large(0.9), large(2.1), large(7), 'last', ''];
  const threadId = await storeThread(
    pool,
    texts.map((one, index) => ({ text: one, date: new Date(Date.UTC(2026, 0, index + 1)) })),
  );
  const emails = await read(threadId);
  expect(emails.kind).toBe('pieces');
  expect((await readEmailsJson(emails)) === (await expectedJson(threadId))).toBe(true);
});

it('is made for an empty thread, an alias and an unknown thread, together or alone', async () => {
  const [empty, target] = [await storeThread(pool, []), await storeThread(pool, [{}])];
  const alias = '0190b2a0-0000-7000-8000-000000000001';
  await pool.query('insert into thread_aliases (id, thread_id) values ($1, $2)', [alias, target]);
  const whole = { kind: 'whole', json: await expectedJson(target) };
  const asked = [empty, alias, '0190b2a0-0000-7000-8000-000000000002', target, alias];
  expect(await Promise.all(asked.map((id) => store.readThread(id)))).toEqual([
    { kind: 'whole', json: '' },
    whole,
    null,
    whole,
    whole,
  ]);
  const alone = [];
  for (const id of asked.slice(0, 4)) alone.push(await store.readThread(id));
  expect(alone).toEqual([{ kind: 'whole', json: '' }, whole, null, whole]);
});
