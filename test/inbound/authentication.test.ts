/** The results that trusted mail servers report about the sender of received mail, in the built service. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { mail, receive } from '../helpers/inbound-mail.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { getJson } from '../helpers/running-service.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';

let database: TestDatabase;
let service: ServiceProcess;

beforeAll(async () => {
  database = await createTestDatabase();
  service = await startServiceProcess({
    env: { DATABASE_URL: database.connectionString, TRUSTED_AUTHSERV_IDS: 'mx.a.test, MX.b.test' },
  });
});
afterAll(async () => {
  await disposeService(service);
  await database.drop();
});

const GOOD =
  'Authentication-Results: mx.a.test; dkim=pass header.d=customer.test header.s=s1; dmarc=pass header.from=customer.test';
const BAD =
  'Authentication-Results: mx.a.test; spf=fail smtp.mailfrom=customer.test; dmarc=fail header.from=customer.test';

const receiveWith = (headers: readonly string[], fields: Parameters<typeof mail>[0] = {}) =>
  receive(service, [...headers, mail(fields)].join('\r\n'));
const emailOf = (id: string) => getJson<Record<string, unknown>>(service, `/api/emails/${id}`);

it('is shown with the email', async () => {
  const { id } = await receiveWith([GOOD]);
  expect((await emailOf(id))['authentication']).toEqual({
    verdict: 'passed',
    source: 'header',
    spf: null,
    dkim: [{ result: 'pass', domain: 'customer.test', selector: 's1' }],
    dmarc: { result: 'pass', domain: 'customer.test' },
    arc: null,
  });
});

it('is one word in lists, in the thread and in the event', async () => {
  const host = `${randomUUID()}.test`;
  const bad = await receiveWith([BAD.replaceAll('customer.test', host)], { from: `ada@${host}` });
  const silent = await receiveWith([], { from: `bea@${randomUUID()}.test` });
  for (const [{ id, threadId }, told] of [
    [bad, { verdict: 'failed' }],
    [silent, null],
  ] as const) {
    const { emails } = await getJson<{ emails: { id: string; authentication: unknown }[] }>(
      service,
      '/api/emails?limit=200',
    );
    expect(emails.find((email) => email.id === id)?.authentication).toEqual(told);
    const filtered = await getJson<{ emails: { authentication: unknown }[] }>(
      service,
      `/api/emails?thread_id=${threadId}`,
    );
    expect(filtered.emails.map(({ authentication }) => authentication)).toEqual([told]);
    const page = await getJson<{ emails: { authentication: unknown }[] }>(
      service,
      `/api/threads/${threadId}`,
    );
    expect(page.emails.map(({ authentication }) => authentication)).toEqual([told]);
    const eventOf = async () => {
      const { events } = await getJson<{ events: { email_id: string; data: Record<string, unknown> }[] }>(
        service,
        '/api/events?type=email.received&limit=1000',
      );
      return events.find((event) => event.email_id === id)?.data;
    };
    await expect.poll(eventOf).toMatchObject({ state: 'received' });
    expect((await eventOf())?.['authentication']).toEqual(told ?? undefined);
  }
});

it('is not believed when a stranger wrote it', async () => {
  const forged = await receiveWith([GOOD.replace('mx.a.test', 'mx.evil.test'), GOOD]);
  expect((await emailOf(forged.id))['authentication']).toBeNull();
  const below = await receiveWith([BAD, GOOD]);
  expect((await emailOf(below.id))['authentication']).toMatchObject({ verdict: 'failed', dkim: [] });
  const none = await receiveWith([]);
  expect((await emailOf(none.id))['authentication']).toBeNull();
});

it('decides whether an email may say whose thread it is', async () => {
  const customer = randomUUID();
  const host = `${randomUUID()}.test`;
  const sender = `ada@${host}`;
  const about = (headers: string) => headers.replaceAll('customer.test', host);
  await service.request(`/api/customer/${customer}/addresses`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ addresses: [sender], domains: [], company_id: null }),
  });
  const threadOf = async (headers: readonly string[], from = sender) => {
    const { threadId } = await receiveWith(headers, { from });
    const { threads } = await getJson<{ threads: { id: string; customer_id: string | null }[] }>(
      service,
      '/api/threads?limit=200',
    );
    return threads.find(({ id }) => id === threadId)?.customer_id;
  };
  expect(await threadOf([about(GOOD)])).toBe(customer);
  expect(await threadOf([])).toBe(customer);
  expect(await threadOf([about(BAD)])).toBeNull();
  // Valid for others: for the forger, and for the second of two authors.
  expect(await threadOf([GOOD])).toBeNull();
  expect(await threadOf([about(GOOD), 'From: eve@evil.test'])).toBeNull();
  // The check could not be completed, for a reason that the forger chose.
  const SLOW = ['dkim=temperror header.d=evil.test', 'spf=temperror smtp.mailfrom=evil.test'];
  for (const result of SLOW) expect(await threadOf([`${about(BAD)}; ${result}`])).toBeNull();
  const encoded = `=?utf-8?B?${Buffer.from(sender).toString('base64')}?=`;
  for (const headers of [[about(BAD)], [GOOD]]) expect(await threadOf(headers, encoded)).toBeNull();
});

it('is not passed, and no one is known in a thread, without an address in From', async () => {
  const first = await receiveWith([], { from: 'Scanner' });
  const next = await receiveWith([GOOD], { from: 'Scanner', inReplyTo: first.messageId });
  expect(next.threadId).toBe(first.threadId);
  expect(await emailOf(next.id)).toMatchObject({
    new_participant: true,
    authentication: { verdict: 'failed' },
  });
});

it('lets no address into a thread', async () => {
  const first = await receiveWith([BAD], { from: 'ada@customer.test' });
  const answers = await receiveWith([GOOD], { from: 'ada@customer.test', inReplyTo: first.messageId });
  expect(answers.threadId).toBe(first.threadId);
  expect(await emailOf(answers.id)).toMatchObject({ new_participant: true });
});

it.each([
  ['"service@bank.test" <ada@sender.test>', ['shows_other_address']],
  ['"email-worker" <ada@sender.test>', ['own_name']],
  ['=?utf-8?Q?Ada=E2=80=AEnnA?= <ada@xn--bnk-6cd.test>', ['hidden_characters', 'lookalike_domain']],
  ['Ada <ada@sender.test>', []],
])(
  'what deceives about the sender %s is in the list, in the thread and with the email',
  async (from, warnings) => {
    const { id, threadId } = await receiveWith([], { from });
    const list = await getJson<{ threads: { id: string; newest_email: object }[] }>(service, '/api/threads');
    expect(list.threads.find((thread) => thread.id === threadId)?.newest_email).toMatchObject({
      sender_warnings: warnings,
    });
    const { emails } = await getJson<{ emails: object[] }>(service, `/api/threads/${threadId}`);
    expect(emails).toMatchObject([{ sender_warnings: warnings }]);
    expect((await emailOf(id))['sender_warnings']).toEqual(warnings);
  },
);
