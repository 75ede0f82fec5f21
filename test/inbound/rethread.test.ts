/** Rethreading: finds and mends threads that disagree with the links and decisions, and nothing else. */
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createRethreadStore } from '../../src/areas/threads/rethread-store.ts';
import { rethread, type ThreadMove } from '../../src/areas/threads/rethread.ts';
import { emptyTables } from '../helpers/empty-tables.ts';
import { mail, newId, receive, type Received } from '../helpers/inbound-mail.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { createTestPool } from '../helpers/test-pool.ts';

let database: TestDatabase;
let service: ServiceProcess;
let pool: pg.Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  service = await startServiceProcess({ env: { DATABASE_URL: database.connectionString } });
  pool = createTestPool(database);
});
afterAll(async () => {
  await pool.end();
  await disposeService(service);
  await database.drop();
});
beforeEach(async () => {
  await emptyTables(
    database.connectionString,
    'email_threads',
    'emails',
    'message_id_labels',
    'label_separations',
    'thread_decisions',
  );
});

async function run(dryRun: boolean): Promise<{ moves: ThreadMove[]; merged: number; messageIds: number }> {
  const moves: ThreadMove[] = [];
  const { merged, messageIds } = await rethread(createRethreadStore(pool), {
    dryRun,
    signal: new AbortController().signal,
    onChanges: (changes) => moves.push(...changes.moves),
    onProgress: () => undefined,
  });
  return { moves, merged, messageIds };
}

const NOTHING = { moves: [], merged: 0, messageIds: 0 };

async function threads(...emails: readonly Received[]): Promise<string[]> {
  const { rows } = await pool.query<{ id: string; thread_id: string }>('select id, thread_id from emails');
  return emails.map(({ id }) => rows.find((row) => row.id === id)!.thread_id);
}

async function conversation(
  length: number,
): Promise<{ ids: string[]; emails: Received[]; threadId: string }> {
  const ids = Array.from({ length }, newId);
  const emails: Received[] = [];
  for (const [index, messageId] of ids.entries()) {
    const inReplyTo = ids[index - 1];
    emails.push(
      await receive(service, mail({ messageId, ...(inReplyTo === undefined ? {} : { inReplyTo }) })),
    );
  }
  return { ids, emails, threadId: emails[0]!.threadId };
}

const bare = (id: string) => id.slice(1, -1);

it('finds nothing to change in what was received, sent and decided', async () => {
  const { ids, emails, threadId } = await conversation(4);
  const other = await conversation(2);
  const third = await conversation(2);
  const post = async (path: string, json: object) => {
    const response = await service.request(path, { json });
    expect(response.status).toBe(200);
    return (await response.json()) as { thread_id: string; threadId: string; messageId: string };
  };
  await post('/api/send', { to: 'a@customer.test', subject: 'x', text_body: 'x', thread_id: threadId });
  // The caller's choice contradicts the links: the email stays, and joins nothing.
  await post('/api/send', {
    to: 'a@customer.test',
    subject: 'x',
    text_body: 'x',
    thread_id: threadId,
    in_reply_to: other.ids[0],
  });
  await post('/api/send', {
    to: 'a@customer.test',
    subject: 'x',
    text_body: 'x',
    thread_id: threadId,
    in_reply_to: newId(),
  });
  await post(`/api/thread/${threadId}/split`, { email_ids: [emails[3]!.id] });
  await post(`/api/thread/${other.threadId}/move`, { email_ids: [emails[1]!.id] });
  await post(`/api/thread/${other.threadId}/merge`, { thread_id: third.threadId });
  await receive(service, mail({ inReplyTo: ids[3]!, references: ids }));
  await receive(service, mail({ inReplyTo: ids[1]!, references: ids.slice(0, 2) }));
  expect(await run(true)).toEqual(NOTHING);
  expect(await run(false)).toEqual(NOTHING);
});

it('joins what belongs together, and says why', async () => {
  const { ids, emails, threadId } = await conversation(3);
  const stray = '11111111-1111-4111-8111-111111111111';
  await pool.query(`insert into email_threads (id, account_id) values ($1, 'default')`, [stray]);
  await pool.query('update emails set thread_id = $1 where id = $2', [stray, emails[2]!.id]);
  await pool.query('update thread_message_ids set thread_id = $1 where message_id = $2', [
    stray,
    bare(ids[2]!),
  ]);
  const move = {
    emailId: emails[2]!.id,
    messageId: bare(ids[2]!),
    from: stray,
    to: threadId,
    why: `it answers <${bare(ids[1]!)}>`,
  };
  expect(await run(true)).toEqual({ moves: [move], merged: 1, messageIds: 1 });
  expect(await threads(emails[2]!)).toEqual([stray]);
  expect(await run(false)).toEqual({ moves: [move], merged: 1, messageIds: 1 });
  expect(await threads(...emails)).toEqual([threadId, threadId, threadId]);
  // The wrong identifier leads to the right thread.
  expect((await service.request(`/api/thread/${stray}`)).status).toBe(200);
  expect(await run(true)).toEqual(NOTHING);
});

it('takes apart what nothing ties together; the thread stays with its first email', async () => {
  const [a, b] = [await conversation(2), await conversation(2)];
  await pool.query('update emails set thread_id = $1 where thread_id = $2', [a.threadId, b.threadId]);
  await pool.query('update thread_message_ids set thread_id = $1 where thread_id = $2', [
    a.threadId,
    b.threadId,
  ]);
  await pool.query('delete from email_threads where id = $1', [b.threadId]);
  const { moves } = await run(true);
  expect(moves.map(({ emailId, to }) => [emailId, to])).toEqual(b.emails.map(({ id }) => [id, null]));
  await run(false);
  const now = await threads(...a.emails, ...b.emails);
  expect(now.slice(0, 2)).toEqual([a.threadId, a.threadId]);
  expect(now[2]).toBe(now[3]);
  expect(now[2]).not.toBe(a.threadId);
  expect(await run(true)).toEqual(NOTHING);
});

it('gives Message-IDs back that belong to no thread', async () => {
  const { threadId } = await conversation(2);
  await pool.query('delete from thread_message_ids where thread_id = $1', [threadId]);
  expect(await run(true)).toEqual({ moves: [], merged: 0, messageIds: 2 });
  await run(false);
  expect(await run(true)).toEqual(NOTHING);
});

it('puts back what a decision says', async () => {
  const { ids, emails, threadId } = await conversation(3);
  const response = await service.request(`/api/thread/${threadId}/split`, {
    json: { email_ids: [emails[2]!.id] },
  });
  const { thread_id: split } = (await response.json()) as { thread_id: string };
  await pool.query('update emails set thread_id = $1 where thread_id = $2', [threadId, split]);
  await pool.query('update thread_message_ids set thread_id = $1 where message_id = $2', [
    threadId,
    bare(ids[2]!),
  ]);
  const { moves } = await run(false);
  expect(moves).toMatchObject([{ emailId: emails[2]!.id, to: null, why: 'an operator decided so' }]);
  const now = await threads(...emails);
  expect(now.slice(0, 2)).toEqual([threadId, threadId]);
  expect(now[2]).not.toBe(threadId);
  expect(await run(true)).toEqual(NOTHING);
});

it('does no harm to mail that comes in meanwhile', async () => {
  const { ids, emails } = await conversation(6);
  for (const id of ids.slice(3)) {
    const stray = crypto.randomUUID();
    await pool.query(`insert into email_threads (id, account_id) values ($1, 'default')`, [stray]);
    await pool.query('update emails set thread_id = $1 where message_id = $2', [stray, bare(id)]);
    await pool.query('update thread_message_ids set thread_id = $1 where message_id = $2', [stray, bare(id)]);
  }
  const [, , ...received] = await Promise.all([
    run(false),
    run(false),
    ...ids.map((inReplyTo) => receive(service, mail({ inReplyTo, references: ids }))),
  ]);
  expect(new Set(await threads(...emails, ...received)).size).toBe(1);
  expect(await run(true)).toEqual(NOTHING);
});

it.each(['the Message-ID', 'its stand-in'])(
  'finds who answers a deleted email in another thread, when the meeting point waits for %s',
  async (waitsFor) => {
    const { ids, emails, threadId } = await conversation(3);
    for (const { id } of emails.slice(0, 2)) {
      expect((await service.request(`/api/emails/${id}`, { method: 'DELETE' })).status).toBe(200);
    }
    const answer = await receive(service, mail({ inReplyTo: ids[0]! }));
    expect(await threads(answer)).toEqual([threadId]);
    expect(await run(true)).toEqual(NOTHING);
    const stray = '22222222-2222-4222-8222-222222222222';
    await pool.query(`insert into email_threads (id, account_id) values ($1, 'default')`, [stray]);
    await pool.query('update emails set thread_id = $1 where id = $2', [stray, answer.id]);
    await pool.query(
      `update thread_message_ids set thread_id = $1 where message_id = (select message_id from emails where id = $2)`,
      [stray, answer.id],
    );
    await pool.query(
      `insert into thread_message_ids (account_id, message_id, thread_id, waits_for)
      select 'default', $3 || ' ' || k, $1, case when $4 then $3 else deleted_message_id($3) end
      from emails, unnest(meeting_keys) k where id = $2`,
      [stray, answer.id, bare(ids[0]!), waitsFor === 'the Message-ID'],
    );
    expect((await run(true)).moves).toMatchObject([{ emailId: answer.id, from: stray, to: threadId }]);
    await run(false);
    expect(await threads(answer)).toEqual([threadId]);
    expect(await run(true)).toEqual(NOTHING);
  },
);
