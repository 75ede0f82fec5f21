/** The customers of mail, over HTTP: rules, past mail that follows them, addresses that sends teach or several customers claim. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { waitUntilBlocked } from '../helpers/blocked-sessions.ts';
import { mail, receive } from '../helpers/inbound-mail.ts';
import type { TestDatabase } from '../helpers/postgres.ts';
import { startServiceWithDatabase } from '../helpers/running-service.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';

let database: TestDatabase;
let service: ServiceProcess;
let end: () => Promise<void>;

beforeAll(async () => {
  ({ database, service, end } = await startServiceWithDatabase());
});
afterAll(() => end());

async function call(path: string, init: Parameters<ServiceProcess['request']>[1] = {}): Promise<unknown> {
  const response = await service.request(path, init);
  expect(response.status).toBe(200);
  return response.json();
}

const put = (customer: string, body: object) =>
  call(`/api/customer/${customer}/addresses`, { method: 'PUT', json: body });

async function emailsOf(customer: string): Promise<readonly string[]> {
  const { emails } = (await call(`/api/customer/${customer}/emails`)) as { emails: { id: string }[] };
  return emails.map(({ id }) => id).sort();
}

it('links past mail by the time of the answer, and lists the mail that no customer gets', async () => {
  const [one, two, company] = [randomUUID(), randomUUID(), randomUUID()];
  const first = await receive(service, mail({ from: 'Ada <Ada@Acme.test>' }));
  const second = await receive(service, mail({ from: 'bob@mail.acme.test' }));
  const rules = { addresses: [], domains: ['acme.test', '*.acme.test'], company_id: company };

  expect(await put(one, rules)).toEqual({
    customer_id: one,
    company_id: company,
    addresses: [],
    domains: ['*.acme.test', 'acme.test'].map((domain) => ({
      domain,
      status: 'decides',
      other_customer_ids: [],
    })),
    complete: true,
    name: null,
    version: expect.any(Number),
    relinked: { linked: 2, moved: 0, unlinked: 0 },
  });
  expect(await emailsOf(one)).toEqual([first.id, second.id].sort());
  expect(await call(`/api/emails/${first.id}`)).toMatchObject({
    customer_id: one,
    customer_source: 'domain',
    company_id: company,
    company_source: 'registration',
  });

  expect(await put(two, { addresses: ['bob@mail.acme.test'], domains: ['acme.test'] })).toMatchObject({
    relinked: { linked: 0, moved: 1, unlinked: 1 },
  });
  expect(await emailsOf(two)).toEqual([second.id]);
  expect(await call('/api/customers/ambiguous')).toEqual({
    claims: [
      {
        kind: 'domain',
        value: 'acme.test',
        customer_ids: [one, two].sort(),
        customer_count: 2,
        email_count: 1,
      },
    ],
    next_cursor: null,
  });
  expect(await call('/api/customers/ambiguous/emails?domain=acme.test')).toMatchObject({
    emails: [{ id: first.id, thread_id: first.threadId }],
    next_cursor: null,
  });

  const response = await service.request(`/api/customer/${one}/addresses`, {
    method: 'PUT',
    json: { addresses: [], domains: ['gmx.de', 'acme.test'] },
  });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    code: 'public_domain',
    error: expect.stringContaining('gmx.de'),
  });
});

it('links past mail to an address that a send teaches, by itself', async () => {
  const customer = randomUUID();
  const past = await receive(service, mail({ from: 'eve@learned.test' }));
  await call('/api/send', {
    json: { to: 'eve@learned.test', subject: 'A', text_body: 'a', customer_id: customer },
  });
  await expect.poll(() => emailsOf(customer)).toHaveLength(2);
  expect(await emailsOf(customer)).toContain(past.id);
  expect(await call(`/api/customer/${customer}/addresses`)).toMatchObject({
    addresses: [{ address: 'eve@learned.test', origin: 'learned', status: 'decides' }],
  });
});

it('suggests the customer whose mail one of us forwards, and gives the email to none', async () => {
  const customer = randomUUID();
  await put(customer, { addresses: ['ada@forwarded.test'], domains: [] });
  const raw = mail({
    from: 'Eva <eva@localhost>',
    subject: 'WG: Anfrage',
    body: [
      'Bitte übernehmen.',
      '',
      'Von: Ada <ada@forwarded.test>',
      'Gesendet: Montag, 2. März 2026 09:15',
      'An: Eva <eva@localhost>',
      'Betreff: Anfrage',
      '',
      'Was kostet das?',
    ].join('\r\n'),
    headers: ['Content-Type: text/plain; charset=utf-8'],
  });
  const { id } = await receive(service, raw);
  expect(await call(`/api/emails/${id}`)).toMatchObject({
    customer_id: null,
    suggested_counterparty: { name: 'Ada', address: 'ada@forwarded.test', reason: 'forwarded' },
  });
  const other = await receive(service, mail({ from: 'Eva <eva@localhost>', to: 'noreply@localhost' }));
  expect(await call(`/api/emails/${other.id}`)).toMatchObject({ suggested_counterparty: null });
});

it('cuts off a change that outlasts the shutdown', { tags: ['long'] }, async () => {
  const { id } = await receive(service, mail({ from: 'fay@slow.test' }));
  const stopping = await startServiceProcess({
    env: { DATABASE_URL: database.connectionString, SHUTDOWN_TIMEOUT_MS: '500' },
  });
  const client = new pg.Client(database.connectionConfig);
  await client.connect();
  await client.query('begin');
  await client.query(
    'select from email_threads where id = (select thread_id from emails where id = $1) for update',
    [id],
  );
  const change = stopping
    .request(`/api/customer/${randomUUID()}/addresses`, {
      method: 'PUT',
      json: { addresses: ['fay@slow.test'], domains: [] },
    })
    .catch(() => null);
  await waitUntilBlocked(database.connectionConfig, client, /./);
  // The change waits until the end of this test.
  await disposeService(stopping);
  await change;
  await client.query('rollback');
  await client.end();
  expect(await call(`/api/emails/${id}`)).toMatchObject({ customer_id: null });
});
