import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addressOf, answerTo, newMessageId, outboundRecord } from '../../../test/helpers/outbound-record.ts';
import { parseEmailsJson } from '../../../test/helpers/emails-json.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { createMessageStore, openMailStores, type MessageStore } from '../../../test/helpers/mail-stores.ts';
import { createPool } from '../../platform/db/pool.ts';

let end: () => Promise<void>;
let pool: pg.Pool;
let store: MessageStore;

beforeAll(async () => {
  ({ pool, store, end } = await openMailStores(8));
});
afterAll(() => end());

const count = async (table: string, where: string, value: unknown): Promise<number> =>
  Number(
    (await pool.query<{ n: string }>(`select count(*) n from ${table} where ${where} = $1`, [value])).rows[0]!
      .n,
  );

async function threadOf(threadId: string): Promise<string[]> {
  return (await parseEmailsJson(await store.readThread(threadId))).map((email) => email.id);
}

it('records an email once, however often it is asked to, also at the same moment', async () => {
  const record = outboundRecord();
  await Promise.all(Array.from({ length: 10 }, () => store.recordOutbound(record)));
  await store.recordOutbound(record);
  expect(await count('emails', 'id', record.id)).toBe(1);
  expect(await count('email_deliveries', 'email_id', record.id)).toBe(1);
  expect(await threadOf(record.threadId)).toEqual([record.id]);
});

it('shares commits between emails that are recorded at the same moment', async () => {
  const commits = async () =>
    Number(
      (
        await pool.query<{ n: string }>(
          `select count(distinct xmin::text) n from emails where subject = 'batch'`,
        )
      ).rows[0]!.n,
    );
  await Promise.all(
    Array.from({ length: 200 }, () => store.recordOutbound(outboundRecord({ subject: 'batch' }))),
  );
  expect(await count('emails', 'subject', 'batch')).toBe(200);
  expect(await commits()).toBeLessThan(20);
});

it('refuses a wrong record without refusing those beside it', async () => {
  const wrong = outboundRecord({ accountId: 'NOT AN ACCOUNT' });
  const good = Array.from({ length: 20 }, () => outboundRecord());
  const results = await Promise.allSettled(
    [good[0]!, wrong, ...good.slice(1)].map((record) => store.recordOutbound(record)),
  );
  expect(results.map((result) => result.status === 'rejected')).toEqual(
    results.map((_, index) => index === 1),
  );
  for (const { id } of good) expect(await count('emails', 'id', id)).toBe(1);
});

it('stores every character that JSON and PostgreSQL can hold', async () => {
  const text = `"\\ \u0001 ' ; drop table emails; -- 漢字 😀 \u2028 \ufeff`;
  const record = outboundRecord({
    subject: text,
    textBody: text,
    htmlBody: text,
    to: [{ name: text, localPart: 'x y"', domain: 'example.org' }],
  });
  await store.recordOutbound(record);
  const email = await store.readEmail(record.id);
  expect(email).toMatchObject({ subject: text, textBody: text, htmlBody: text });
  expect(email!.to).toEqual([{ name: text, address: '"x y\\""@example.org' }]);
});

it('says that the database is unavailable when it is, and nothing else', async () => {
  const away = createPool({
    connection: 'postgres://nobody@127.0.0.1:1/none',
    maxConnections: 2,
    connectTimeoutMs: 500,
    statementTimeoutMs: 500,
    logger: silentLogger,
  });
  const store = createMessageStore(away);
  const unavailable = { code: 'database_unavailable' };
  await expect(store.recordOutbound(outboundRecord())).rejects.toMatchObject(unavailable);
  await expect(store.recordOutbound(answerTo(newMessageId()))).rejects.toMatchObject(unavailable);
  await expect(store.readThread(randomUUID())).rejects.toMatchObject(unavailable);
  await away.end();
});

it('merges two threads that turn out to be one conversation, and keeps both identifiers valid', async () => {
  const [left, right] = [outboundRecord(), outboundRecord()];
  await store.recordOutbound(left);
  await store.recordOutbound(right);
  const link = answerTo(right.messageId, {
    references: [left.messageId, right.messageId],
    date: new Date('2026-03-02T12:00:00Z'),
  });
  await store.recordOutbound(link);
  const expected = [left.id, right.id, link.id];
  for (const { threadId } of [left, right, link]) expect(await threadOf(threadId)).toEqual(expected);
  expect((await store.readEmail(link.id))!.threadId).toBe(left.threadId);
});

it('leaves other threads alone when the thread was chosen by hand', async () => {
  const [a, b] = [outboundRecord(), outboundRecord()];
  await Promise.all([a, b].map((record) => store.recordOutbound(record)));
  const placed = answerTo(b.messageId, {
    threadId: a.threadId,
    placement: { rule: 'thread_id', matchedMessageId: null },
  });
  await store.recordOutbound(placed);
  expect(await threadOf(b.threadId)).toEqual([b.id]);
  expect((await threadOf(a.threadId)).sort()).toEqual([a.id, placed.id].sort());
});

it('gathers answers to an unknown Message-ID in one thread, recorded at the same moment in any order', async () => {
  for (let round = 0; round < 5; round += 1) {
    const unknown = newMessageId();
    const answers = Array.from({ length: 12 }, () => answerTo(unknown));
    await Promise.all(answers.map((record) => store.recordOutbound(record)));
    const ids = answers.map((record) => record.id).sort();
    for (const { threadId } of answers) expect((await threadOf(threadId)).sort()).toEqual(ids);
  }
});

it('merges a chain of threads that is linked from all sides at the same moment', async () => {
  const roots = Array.from({ length: 8 }, () => outboundRecord());
  await Promise.all(roots.map((record) => store.recordOutbound(record)));
  const links = roots.slice(1).map((root, index) => {
    const before = roots[index]!.messageId;
    return answerTo(root.messageId, { references: [before, root.messageId] });
  });
  await Promise.all(links.map((record) => store.recordOutbound(record)));
  const all = [...roots, ...links].map((record) => record.id).sort();
  for (const { threadId } of [...roots, ...links]) expect((await threadOf(threadId)).sort()).toEqual(all);
  const [survivor] = (
    await pool.query<{ thread_id: string }>('select distinct thread_id from emails where id = any($1)', [all])
  ).rows;
  expect(roots.map((root) => root.threadId)).toContain(survivor!.thread_id);
});

it('keeps the same Message-ID apart in different accounts', async () => {
  const messageId = newMessageId();
  const a = outboundRecord({ messageId });
  const b = outboundRecord({ messageId, accountId: 'other' });
  await store.recordOutbound(a);
  await store.recordOutbound(b);
  const facts = (accountId: string) =>
    store.readPlacementFacts({
      accountId,
      defaultAccountId: 'default',
      threadId: null,
      inReplyTo: messageId,
    });
  expect((await facts('default')).inReplyToThreadId).toBe(a.threadId);
  expect((await facts('other')).inReplyToThreadId).toBe(b.threadId);
});

it('finds the thread by the Message-ID that the relay gave as well', async () => {
  const relayMessageId = newMessageId();
  const record = outboundRecord({ relayMessageId, references: [newMessageId()] });
  await store.recordOutbound(record);
  const facts = await store.readPlacementFacts({
    accountId: null,
    defaultAccountId: 'default',
    threadId: null,
    inReplyTo: relayMessageId,
  });
  expect(facts).toMatchObject({ inReplyToThreadId: record.threadId, inReplyToReferences: record.references });
});

it('shows in a thread the emails that were or may have been sent, and not those that failed', async () => {
  const root = outboundRecord();
  await store.recordOutbound(root);
  const inThread = {
    threadId: root.threadId,
    placement: { rule: 'thread_id', matchedMessageId: null },
  } as const;
  const unknown = outboundRecord({
    ...inThread,
    state: 'unknown',
    stateDetail: 'line broke',
    date: new Date('2026-03-03'),
  });
  const failed = outboundRecord({
    ...inThread,
    state: 'failed',
    stateDetail: 'refused',
    date: new Date('2026-03-04'),
  });
  await store.recordOutbound(unknown);
  await store.recordOutbound(failed);
  expect(await threadOf(root.threadId)).toEqual([root.id, unknown.id]);
  const facts = await store.readPlacementFacts({
    accountId: null,
    defaultAccountId: 'default',
    threadId: root.threadId,
    inReplyTo: null,
  });
  expect(facts.newest?.messageId).toBe(unknown.messageId);
  expect(await threadOf(uuidv7())).toEqual([]);
});

it('gives an email the customer of its send, else of its thread, else of its address, and never guesses', async () => {
  const [one, two] = [randomUUID(), randomUUID()];
  const address = addressOf(randomUUID());
  const customerOf = async (fields: Parameters<typeof outboundRecord>[0]) => {
    const record = outboundRecord({ to: [address], ...fields });
    await store.recordOutbound(record);
    return { ...record, customerId: (await store.readEmail(record.id))!.customerId };
  };
  const first = await customerOf({ customerId: one });
  expect(first.customerId).toBe(one);
  expect((await customerOf({})).customerId).toBe(one);
  const inThread = {
    threadId: first.threadId,
    placement: { rule: 'thread_id', matchedMessageId: null },
  } as const;
  expect((await customerOf({ ...inThread, to: [addressOf(randomUUID())] })).customerId).toBe(one);
  // Two customers now claim the address: it decides nothing any more, and the thread keeps its own customer.
  expect((await customerOf({ ...inThread, customerId: two })).customerId).toBe(two);
  expect((await customerOf({})).customerId).toBeNull();
  expect((await customerOf(inThread)).customerId).toBe(one);
});

it('gives a thread without a customer, and its emails, the customer that a later send names', async () => {
  const customerId = randomUUID();
  const first = outboundRecord({ to: [addressOf(randomUUID())] });
  await store.recordOutbound(first);
  await store.recordOutbound(
    outboundRecord({
      threadId: first.threadId,
      placement: { rule: 'thread_id', matchedMessageId: null },
      customerId,
    }),
  );
  expect((await store.readEmail(first.id))!.customerId).toBe(customerId);
});

it('records rows that the schema protects from wrong values', async () => {
  const record = outboundRecord();
  await store.recordOutbound(record);
  for (const [wrong, constraint] of [
    [`update emails set state = 'received' where id = $1`, 'emails_state_fits_direction'],
    [`update emails set raw = null where id = $1`, 'emails_raw_in_one_place'],
    [`update emails set message_id = 'a b' where id = $1`, 'message_id_check'],
    [`update emails set account_id = 'other' where id = $1`, 'emails_account_id_thread_id_fkey'],
  ] as const) {
    await expect(pool.query(wrong, [record.id])).rejects.toMatchObject({ constraint });
  }
});
