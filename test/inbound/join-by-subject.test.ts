/** Replies without references join by their subject, if the account asks for it. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createRethreadStore } from '../../src/areas/threads/rethread-store.ts';
import { rethread } from '../../src/areas/threads/rethread.ts';
import { mail, post, type MailFields, type Received } from '../helpers/inbound-mail.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { makeTempFolder, type TempFolder } from '../helpers/temp-folder.ts';
import { createTestPool } from '../helpers/test-pool.ts';

let database: TestDatabase;
let folder: TempFolder;
let service: ServiceProcess;
let pool: pg.Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  folder = await makeTempFolder();
  const file = path.join(folder.path, 'accounts.json');
  const accounts = [
    { id: 'on', from: 'on@example.com', join_by_subject: { window_days: 7 } },
    { id: 'off', from: 'off@example.com' },
  ];
  await writeFile(file, JSON.stringify(accounts));
  service = await startServiceProcess({
    env: { DATABASE_URL: database.connectionString, ACCOUNTS_FILE: file },
  });
  pool = createTestPool(database, 2);
});
afterAll(async () => {
  await pool.end();
  await disposeService(service);
  await database.drop();
  await folder.remove();
});

const day = (n: number) => `Sun, ${String(n).padStart(2, '0')} Mar 2026 12:00:00 +0000`;

async function give(fields: MailFields, account = 'on'): Promise<Received> {
  const response = await post(service, mail(fields), `?account_id=${account}`);
  expect(response.status).toBe(200);
  return (await response.json()) as Received;
}

async function placementOf({
  id,
}: Received): Promise<{ thread_id: string; rule: string; explanation: string }> {
  const response = await service.request(`/api/emails/${id}/placement`);
  return (await response.json()) as { thread_id: string; rule: string; explanation: string };
}

it('joins a reply to the nearest email before it of the same subject and counterparty', async () => {
  const first = await give({ subject: 'Angebot 1', date: day(1) });
  const second = await give({ subject: 'Angebot 1', date: day(2) });
  const reply = await give({ subject: 'AW: [ext] Re: angebot  1', date: day(3) });
  expect(reply.threadId).toBe(second.threadId);
  expect(second.threadId).not.toBe(first.threadId);
  const placement = await placementOf(reply);
  expect(placement.rule).toBe('subject');
  expect(placement.explanation).toContain(second.messageId);
});

it('joins a reply to what was sent', async () => {
  const response = await service.request('/api/send', {
    json: { to: 'Ada <ADA@customer.test>', subject: 'Rechnung 7', text_body: 'x' },
  });
  const sent = (await response.json()) as { threadId: string };
  const { rows } = await pool.query<{ date: Date }>(`select date from emails where subject = 'Rechnung 7'`);
  const date = new Date(rows[0]!.date.getTime() + 3_600_000).toUTCString();
  expect((await give({ subject: 'Re: Rechnung 7', date })).threadId).toBe(sent.threadId);
});

it('joins also when the reply comes first, as in a mailbox that is read from its newest email on', async () => {
  const reply = await give({ subject: 'Re: Umgekehrt', date: day(3) });
  const original = await give({ subject: 'Umgekehrt', date: day(2) });
  expect((await placementOf(reply)).thread_id).toBe((await placementOf(original)).thread_id);
  expect((await placementOf(reply)).rule).toBe('subject');
  for (const { threadId } of [reply, original]) {
    expect((await service.request(`/api/thread/${threadId}`)).status).toBe(200);
  }
});

it('joins when both come at the same moment', async () => {
  for (let n = 0; n < 10; n += 1) {
    const received = await Promise.all([
      give({ subject: `Re: Zugleich ${n}`, date: day(3) }),
      give({ subject: `Zugleich ${n}`, date: day(2) }),
    ]);
    const threads = await Promise.all(received.map(placementOf));
    expect(threads[0]!.thread_id).toBe(threads[1]!.thread_id);
  }
});

it.each([
  ['the account does not ask for it', {}, 'off'],
  ['it is no reply', { subject: 'Grenzen' }, 'on'],
  ['it forwards', { subject: 'Fwd: Re: Grenzen' }, 'on'],
  ['another person wrote it', { from: 'bob@customer.test' }, 'on'],
  ['it came after the window', { date: day(20) }, 'on'],
  ['it came before', { date: 'Sat, 28 Feb 2026 12:00:00 +0000' }, 'on'],
  ['it answers another email', { inReplyTo: '<unknown@customer.test>' }, 'on'],
  ['the subject is another', { subject: 'Re: Grenzen 2' }, 'on'],
] as const)('does not join when %s', async (name, fields, account) => {
  // A separate counterparty for each case, so that none finds another's email.
  const from = `${name.replaceAll(' ', '.')}@customer.test`;
  const first = await give({ subject: 'Grenzen', from, date: day(1) }, account);
  const reply = await give({ subject: 'Re: Grenzen', from, date: day(3), ...fields }, account);
  expect(reply.threadId).not.toBe(first.threadId);
});

it('does not join emails without a subject', async () => {
  const first = await give({ subject: '', date: day(1) });
  expect((await give({ subject: 'Re:', date: day(2) })).threadId).not.toBe(first.threadId);
});

it('is kept by rethreading, and undone by a split', async () => {
  const original = await give({ subject: 'Bleibt', date: day(1) });
  const reply = await give({ subject: 'Re: Bleibt', date: day(2) });
  const response = await service.request(`/api/thread/${original.threadId}/split`, {
    json: { email_ids: [reply.id] },
  });
  expect(response.status).toBe(200);
  const changes: unknown[] = [];
  await rethread(createRethreadStore(pool), {
    dryRun: true,
    signal: new AbortController().signal,
    onChanges: (change) => changes.push(change),
    onProgress: () => undefined,
  });
  expect(changes).toEqual([]);
});

it('leaves a waiting reply where an operator decided that it is', async () => {
  const reply = await give({ subject: 'Re: Entschieden', date: day(3) });
  const beside = await give({ subject: 'Anderes', date: day(4), inReplyTo: reply.messageId });
  const response = await service.request(`/api/thread/${reply.threadId}/split`, {
    json: { email_ids: [beside.id] },
  });
  expect(response.status).toBe(200);
  const original = await give({ subject: 'Entschieden', date: day(2), references: [beside.messageId] });
  expect(original.threadId).not.toBe(reply.threadId);
  expect(await placementOf(original)).toMatchObject({ rule: 'references' });
  expect(await placementOf(reply)).toMatchObject({ thread_id: reply.threadId, rule: 'new' });
});

it('leaves a waiting reply in the thread of another customer', async () => {
  const send = async (customerId: string, answered: string) => {
    const response = await service.request('/api/send', {
      json: {
        account_id: 'on',
        to: 'ada@customer.test',
        subject: 'Antwort',
        text_body: 'x',
        customer_id: customerId,
        in_reply_to: answered,
      },
    });
    expect(response.status).toBe(200);
    return (await response.json()) as Received;
  };
  const reply = await give({ subject: 'Re: Kunden', date: day(3) });
  const sent = await send('00000000-0000-4000-8000-000000000001', reply.messageId);
  expect(sent.threadId).toBe(reply.threadId);
  const other = await send('00000000-0000-4000-8000-000000000002', '<other@customer.test>');
  const original = await give({ subject: 'Kunden', date: day(2), references: [other.messageId] });
  expect(original.threadId).toBe(other.threadId);
  expect(await placementOf(reply)).toMatchObject({ thread_id: reply.threadId, rule: 'new' });
  expect((await service.request(`/api/thread/${reply.threadId}`)).status).toBe(200);
});
