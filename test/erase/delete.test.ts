/** Deleting emails and threads, in the built service. */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { backgroundWorkIsDone } from '../helpers/background-work.ts';
import { dryRethread } from '../helpers/dry-rethread.ts';
import { mail, newId, receive, type Received } from '../helpers/inbound-mail.ts';
import type { TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { getJson as getJsonOf, sendJson, startServiceWithSink } from '../helpers/running-service.ts';
import type { ServiceProcess } from '../helpers/service-process.ts';
import { createTestPool } from '../helpers/test-pool.ts';
import { waitUntil } from '../helpers/wait-until.ts';

let database: TestDatabase;
let service: ServiceProcess;
let end: () => Promise<void>;
let pool: Pool;

beforeAll(async () => {
  ({ database, service, end } = await startServiceWithSink());
  pool = createTestPool(database);
});
afterAll(async () => {
  await pool.end();
  await end();
});

const getJson = <T>(path: string) => getJsonOf<T>(service, path);
const send = (json: object) => sendJson(service, json);
const ask = (text: string, values: readonly unknown[] = []) => query(database.connectionString, text, values);
const deleteAt = async (path: string) => {
  const response = await service.request(path, { method: 'DELETE' });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};
const idsOf = async (threadId: string) =>
  (await getJson<{ emails: { id: string }[] }>(`/api/thread/${threadId}`)).emails.map(({ id }) => id);
async function decide(path: string, json: object): Promise<void> {
  const response = await service.request(`/api/thread/${path}`, { json });
  expect(response.status, await response.text()).toBe(200);
}
const statusOf = async (path: string) => (await service.request(path)).status;

/** A mail with a file that is large enough to be kept apart from the database. */
function withFile(fields: Parameters<typeof mail>[0], name = 'secret-plan.txt'): string {
  const headers = ['MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary=x'];
  const file = Buffer.alloc(300_000, 'a').toString('base64').replace(/.{76}/g, '$&\r\n');
  const body = [
    '--x',
    'Content-Type: text/plain',
    '',
    fields?.body ?? 'with a file',
    '--x',
    `Content-Type: text/plain; name="${name}"`,
    `Content-Disposition: attachment; filename="${name}"`,
    'Content-Transfer-Encoding: base64',
    '',
    file,
    '--x--',
  ].join('\r\n');
  return mail({ ...fields, headers, body });
}

const storedFiles = async (id: string) =>
  (
    await ask(
      `select storage_path as path from email_attachments where email_id = $1
     union all select raw_path from emails where id = $1 and raw_path is not null`,
      [id],
    )
  ).map(({ path }) => path as string);

describe('a deleted email', () => {
  it('is gone from every answer and every table, with its files', async () => {
    const marker = `marker${randomUUID().slice(0, 8)}`;
    const raw = withFile({ subject: `Re: ${marker}`, body: marker }, `${marker}.txt`);
    const { id, threadId } = await receive(service, raw);
    const files = await storedFiles(id);
    expect(files).toHaveLength(2);
    for (const path of files) expect(existsSync(join(service.dataDir, 'files', path)), path).toBe(true);
    await waitUntil(
      'it is indexed',
      async () => (await ask('select from email_search where email_id = $1', [id])).length === 1,
    );

    expect(await deleteAt(`/api/emails/${id}`)).toMatchObject({ status: 200, body: { id } });
    expect(await statusOf(`/api/emails/${id}`)).toBe(404);
    expect(await statusOf(`/api/emails/${id}/raw`)).toBe(404);
    expect(await statusOf(`/api/thread/${threadId}`)).toBe(404);
    expect(await getJson(`/api/emails?q=${marker}`)).toMatchObject({ emails: [] });
    expect(await ask('select from email_threads where id = $1', [threadId])).toEqual([]);
    expect(await ask('select from thread_message_ids where thread_id = $1', [threadId])).toEqual([]);
    for (const path of files) expect(existsSync(join(service.dataDir, 'files', path)), path).toBe(false);
    expect(await ask('select from deleted_files')).toEqual([]);
    expect((await deleteAt(`/api/emails/${id}`)).body).toMatchObject({ code: 'email_not_found' });
  });

  it('leaves the others of its thread, and a late answer to it finds them', async () => {
    const first = await send({ to: 'ada@customer.test', subject: 'Angebot', text_body: 'eins' });
    const raw = mail({ messageId: newId(), inReplyTo: first.messageId, references: [first.messageId] });
    const answer = await receive(service, raw);
    expect((await deleteAt(`/api/emails/${answer.id}`)).status).toBe(200);
    expect(await idsOf(first.threadId)).toEqual([first.id]);
    expect(
      await ask('select from thread_message_ids where message_id = $1', [answer.messageId.slice(1, -1)]),
    ).toEqual([]);
    // It names only the deleted email.
    const late = await receive(service, mail({ inReplyTo: answer.messageId }));
    expect(late.threadId).toBe(first.threadId);
    const [summary] = await ask('select email_count from thread_summaries where thread_id = $1', [
      first.threadId,
    ]);
    expect(summary).toEqual({ email_count: 2 });
  });

  it.each<[string, (ids: Record<'a' | 'b' | 'd', Received>) => Promise<unknown>]>([
    ['it was split off', ({ a }) => decide(`${a.threadId}/split`, { email_ids: [a.id] })],
    ['its answer was split off', ({ a, b }) => decide(`${a.threadId}/split`, { email_ids: [b.id] })],
    ['it was moved elsewhere', ({ a, d }) => decide(`${d.threadId}/move`, { email_ids: [a.id] })],
    ['its thread was merged', ({ a, d }) => decide(`${a.threadId}/merge`, { thread_id: d.threadId })],
  ])('is still named by its answers: late ones find their thread when %s', async (_, decided) => {
    const first = newId();
    const a = await receive(service, mail({ messageId: first }));
    const b = await receive(service, mail({ references: [first] }));
    const d = await receive(service, mail({}));
    expect(b.threadId).toBe(a.threadId);
    await decided({ a, b, d });
    expect((await deleteAt(`/api/emails/${a.id}`)).status).toBe(200);
    expect(await dryRethread(pool)).toEqual([]);
    const c = await receive(service, mail({ references: [first] }));
    const places = await Promise.all(
      [b, d].map(async ({ id }) => (await getJson<{ thread_id: string }>(`/api/emails/${id}`)).thread_id),
    );
    expect(places).toContain(c.threadId);
    expect(await dryRethread(pool)).toEqual([]);
  });

  it('still ties its thread to others: a late mail that names two deleted ones brings their threads together', async () => {
    const [one, other] = [newId(), newId()];
    const threads: string[] = [];
    for (const id of [one, other]) {
      const { threadId } = await receive(service, mail({ messageId: newId() }));
      const deleted = await send({
        to: 'ada@customer.test',
        subject: 'x',
        thread_id: threadId,
        text_body: 'x',
      });
      const named = await receive(service, mail({ messageId: id, inReplyTo: deleted.messageId }));
      expect(named.threadId).toBe(threadId);
      expect((await deleteAt(`/api/emails/${named.id}`)).status).toBe(200);
      threads.push(threadId);
    }
    const late = await receive(service, mail({ references: [one, other] }));
    expect(late.threadId).toBe(threads[0]);
    for (const threadId of threads) expect(await idsOf(threadId)).toEqual(await idsOf(late.threadId));
    const tied = await ask('select from thread_message_ids where message_id = any ($1)', [
      [one, other].map((id) => id.slice(1, -1)),
    ]);
    expect(tied).toEqual([]);
    expect(await dryRethread(pool)).toEqual([]);
  });

  it('is what sends answer, and what the place of its answers is explained by', async () => {
    const first = await receive(service, mail({ messageId: newId() }));
    const answer = await receive(service, mail({ messageId: newId(), inReplyTo: first.messageId }));
    expect((await deleteAt(`/api/emails/${answer.id}`)).status).toBe(200);
    const sent = await send({
      to: 'ada@customer.test',
      subject: 'y',
      text_body: 'y',
      in_reply_to: answer.messageId,
    });
    expect(sent.threadId).toBe(first.threadId);
    const late = await receive(service, mail({ references: [answer.messageId] }));
    expect(await getJson(`/api/emails/${late.id}/placement`)).toMatchObject({
      rule: 'references',
      thread_id: first.threadId,
      matched_message_id: answer.messageId,
    });
    expect(await dryRethread(pool)).toEqual([]);
  });

  it('gives way to one that was named at the moment it was deleted, and holds up no mail', async () => {
    const first = await receive(service, mail({ messageId: newId() }));
    const answer = await receive(service, mail({ messageId: newId(), inReplyTo: first.messageId }));
    expect((await deleteAt(`/api/emails/${answer.id}`)).status).toBe(200);
    const elsewhere = await receive(service, mail({}));
    // As left by a transaction that waited for the deleting one.
    await ask('update emails set reference_ids = array[$1] where id = $2', [
      answer.messageId.slice(1, -1),
      elsewhere.id,
    ]);
    await ask(
      `insert into thread_message_ids (account_id, message_id, thread_id)
      select account_id, $1, thread_id from emails where id = $2`,
      [answer.messageId.slice(1, -1), elsewhere.id],
    );
    expect((await receive(service, mail({ references: [answer.messageId] }))).threadId).toBe(
      elsewhere.threadId,
    );
    expect(await dryRethread(pool)).toEqual([]);
    const both = await receive(service, mail({ references: [answer.messageId, first.messageId] }));
    expect(both.threadId).toBe(first.threadId);
    expect(await idsOf(elsewhere.threadId)).toEqual(await idsOf(first.threadId));
    expect(await dryRethread(pool)).toEqual([]);
  });

  it('does not come back: neither a received one, nor the Sent copy of a sent one', async () => {
    const raw = mail({ subject: 'Einmal' });
    const { id, threadId } = await receive(service, raw);
    await deleteAt(`/api/emails/${id}`);
    expect(await receive(service, raw)).toMatchObject({ status: 'deleted', id, threadId });
    expect(await receive(service, raw, '?sent=true')).toMatchObject({ status: 'deleted', id });

    const sent = await send({ to: 'ada@customer.test', subject: 'Kopie', text_body: 'in Sent' });
    const copy = Buffer.from(await (await service.request(`/api/emails/${sent.id}/raw`)).arrayBuffer());
    await deleteAt(`/api/emails/${sent.id}`);
    expect(await receive(service, copy, '?sent=true')).toMatchObject({ status: 'deleted', id: sent.id });
    expect(await receive(service, copy)).toMatchObject({ status: 'deleted', id: sent.id });
    // A relay gave it another Message-ID.
    const rewritten = copy.toString('latin1').replace(/^Message-ID: .*$/im, 'Message-ID: <other@relay.test>');
    expect(await receive(service, rewritten, '?sent=true')).toMatchObject({ status: 'deleted', id: sent.id });
    // Other mail with the same subject is not held back.
    expect(await receive(service, mail({ subject: 'Einmal' }))).toMatchObject({ status: 'received' });
    expect(await ask('select from emails where subject = $1', ['Kopie'])).toEqual([]);
  });

  it('unlearns what only it taught about a customer', async () => {
    const customer = randomUUID();
    const address = `max-${customer.slice(0, 8)}@learned.test`;
    const teach = () => send({ to: address, subject: 'Neu', text_body: '-', customer_id: customer });
    const [one, two] = [await teach(), await teach()];
    const answer = await receive(service, mail({ from: address, subject: 'Frage' }));
    const customerOf = async (id: string) =>
      (await getJson<{ customer_id: string | null }>(`/api/emails/${id}`)).customer_id;
    // A moment later, while a rule from another test is being applied.
    await expect.poll(() => customerOf(answer.id)).toBe(customer);
    await deleteAt(`/api/emails/${one.id}`);
    expect(await customerOf(answer.id)).toBe(customer);
    await deleteAt(`/api/emails/${two.id}`);
    expect(await customerOf(answer.id)).toBeNull();
    expect(await ask('select from customer_addresses where address = $1', [address])).toEqual([]);
  });

  it('is told as an event with identifiers alone', async () => {
    const { id, threadId } = await receive(service, mail({ subject: 'Ereignis' }));
    await deleteAt(`/api/emails/${id}`);
    await backgroundWorkIsDone(database.connectionString);
    const rows = await ask(
      `select email_id, thread_id, data from events where type = 'email.deleted' and email_id = $1`,
      [id],
    );
    expect(rows).toEqual([{ email_id: id, thread_id: threadId, data: '{}' }]);
  });

  it('keeps its idempotency key taken, without its outcome', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const json = { to: 'ada@customer.test', subject: 'Einmal', text_body: '-' };
    const first = await service.request('/api/send', { json, headers });
    const { id } = (await first.json()) as { id: string };
    await deleteAt(`/api/emails/${id}`);
    const again = await service.request('/api/send', { json, headers });
    expect(again.status).toBe(410);
    expect(await again.json()).toMatchObject({ code: 'email_deleted' });
  });
});

describe('an email that is being sent, or may have been', () => {
  it('is not deleted before it is cancelled, alone or with its thread', async () => {
    const response = await service.request('/api/send', {
      json: {
        to: 'ada@customer.test',
        subject: 'Später',
        text_body: '-',
        send_at: new Date(Date.now() + 86_400_000).toISOString(),
      },
    });
    const { id, threadId } = (await response.json()) as { id: string; threadId: string };
    expect((await deleteAt(`/api/emails/${id}`)).body).toMatchObject({ code: 'not_deletable' });
    expect((await deleteAt(`/api/threads/${threadId}`)).body).toMatchObject({ code: 'not_deletable' });
    await service.request(`/api/emails/${id}/cancel`, { method: 'POST' });
    expect((await deleteAt(`/api/emails/${id}`)).status).toBe(200);
    expect(await ask('select from email_threads where id = $1', [threadId])).toEqual([]);
  });
});

describe('a deleted thread', () => {
  it('is gone with all its emails and aliases, by the id of a merged one too', async () => {
    const one = await receive(service, mail({ subject: 'Eins' }));
    const two = await receive(service, mail({ subject: 'Zwei' }));
    const joined = await receive(service, mail({ references: [one.messageId, two.messageId] }));
    const alias = [one, two].find(({ threadId }) => threadId !== joined.threadId)?.threadId ?? '';
    expect(await deleteAt(`/api/threads/${alias}`)).toMatchObject({ status: 200, body: { emails: 3 } });
    expect(await statusOf(`/api/thread/${joined.threadId}`)).toBe(404);
    expect(await statusOf(`/api/thread/${alias}`)).toBe(404);
    expect((await deleteAt(`/api/threads/${alias}`)).body).toMatchObject({ code: 'thread_not_found' });
    expect(await ask('select from thread_aliases where id = $1', [alias])).toEqual([]);
  });

  it('of more emails than one step deletes', async () => {
    const first = await receive(service, mail());
    for (let answers = 0; answers < 110; answers += 10) {
      await Promise.all(
        Array.from({ length: 10 }, () => receive(service, mail({ inReplyTo: first.messageId }))),
      );
    }
    expect(await deleteAt(`/api/threads/${first.threadId}`)).toMatchObject({
      status: 200,
      body: { emails: 111 },
    });
    expect(await ask('select from emails where thread_id = $1', [first.threadId])).toEqual([]);
  });
});

describe('deletes at the same moment as other work', () => {
  it('of the same email, one of them succeeds', async () => {
    const { id } = await receive(service, mail());
    const results = await Promise.all(Array.from({ length: 5 }, () => deleteAt(`/api/emails/${id}`)));
    expect(results.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404, 404]);
  });

  it('leave whole threads when answers come meanwhile', async () => {
    const thread = await receive(service, mail());
    const answers = Array.from({ length: 20 }, () =>
      mail({ inReplyTo: thread.messageId, references: [thread.messageId] }),
    );
    const [, ...received] = await Promise.all([
      deleteAt(`/api/emails/${thread.id}`),
      ...answers.map((raw) => receive(service, raw)),
    ]);
    const threads = new Set(received.map(({ threadId }) => threadId));
    const rows = await ask('select id from emails where thread_id = any ($1)', [[...threads]]);
    expect(rows).toHaveLength(20);
    for (const id of threads) expect((await idsOf(id)).length).toBeGreaterThan(0);
  });
});
