/** A customer and the list of customers, in the built service. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { backgroundWorkIsDone } from '../helpers/background-work.ts';
import { mail, receive } from '../helpers/inbound-mail.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { writeAccounts } from '../helpers/thread-decisions.ts';
import { waitUntil } from '../helpers/wait-until.ts';

let database: TestDatabase;
let service: ServiceProcess;

beforeAll(async () => {
  database = await createTestDatabase();
  service = await startServiceProcess({
    env: { DATABASE_URL: database.connectionString, ACCOUNTS_FILE: await writeAccounts('sales', 'support') },
  });
});
afterAll(async () => {
  await disposeService(service);
  await database.drop();
});

type Json = Record<string, unknown>;

async function ask(target: string, init: Parameters<ServiceProcess['request']>[1] = {}): Promise<Json> {
  const response = await service.request(target, init);
  const json = (await response.json()) as Json;
  expect([target, response.ok, json]).toEqual([target, true, json]);
  return json;
}

const put = (customerId: string, json: Json) =>
  ask(`/api/customer/${customerId}/addresses`, {
    method: 'PUT',
    json: { addresses: [], domains: [], ...json },
  });

const send = (json: Json) =>
  ask('/api/send', { json: { subject: 'Angebot', text_body: 'Hallo', ...json } }) as Promise<{
    id: string;
    threadId: string;
  }>;

const indexed = () => backgroundWorkIsDone(database.connectionString);

async function list(search: string): Promise<unknown[]> {
  const { customers } = (await ask(`/api/customers${search}`)) as { customers: { name: string | null }[] };
  return customers.map(({ name }) => name);
}

describe('GET /api/customer/{customerId}', () => {
  it('tells the name, addresses with their rule, counts and activity', async () => {
    const customerId = randomUUID();
    const domain = `${customerId.slice(0, 8)}.test`;
    const sent = await send({ to: `ada@${domain}`, customer_id: customerId });
    await put(customerId, { addresses: [`ada@${domain}`], domains: [`*.${domain}`], name: '  Ada\n GmbH ' });
    await send({ to: `bob@${domain}`, customer_id: customerId });
    const first = new Date(Date.now() - 86_400_000 * 30);
    first.setUTCMilliseconds(0);
    const received = await receive(service, mail({ from: `ada@${domain}`, date: first.toUTCString() }));
    await ask(`/api/threads/${sent.threadId}`, { method: 'PATCH', json: { status: 'done' } });
    // A rule learned from a send is known a moment later, while a rule from another test is being applied.
    await expect
      .poll(() => ask(`/api/customer/${customerId.toUpperCase()}`))
      .toEqual({
        customer_id: customerId,
        name: 'Ada GmbH',
        company_id: null,
        addresses: [
          {
            address: `ada@${domain}`,
            origin: 'registered',
            account_ids: null,
            status: 'decides',
            other_customer_ids: [],
          },
          {
            address: `bob@${domain}`,
            origin: 'learned',
            account_ids: null,
            status: 'decides',
            other_customer_ids: [],
          },
        ],
        domains: [{ domain: `*.${domain}`, status: 'decides', other_customer_ids: [] }],
        complete: true,
        emails_inbound: 1,
        emails_outbound: 2,
        // A program's send begins a thread that is done.
        threads_open: 1,
        threads_done: 2,
        first_activity_at: first.toISOString(),
        last_activity_at: expect.any(String) as string,
      });
    // An email that is still to be sent counts as an email, but not yet as activity.
    const before = (await ask(`/api/customer/${customerId}`))['last_activity_at'];
    const send_at = new Date(Date.now() + 86_400_000).toISOString();
    const later = { to: `ada@${domain}`, subject: 'Bald', text_body: '-', customer_id: customerId, send_at };
    expect((await service.request('/api/send', { json: later })).status).toBe(202);
    expect(await ask(`/api/customer/${customerId}`)).toMatchObject({
      emails_outbound: 3,
      last_activity_at: before,
    });
    expect(received.status).toBe('received');
  });

  it('has nothing for one that is not known', async () => {
    const customerId = randomUUID();
    expect(await ask(`/api/customer/${customerId}`)).toEqual({
      customer_id: customerId,
      name: null,
      company_id: null,
      addresses: [],
      domains: [],
      complete: true,
      emails_inbound: 0,
      emails_outbound: 0,
      threads_open: 0,
      threads_done: 0,
      first_activity_at: null,
      last_activity_at: null,
    });
  });

  it('keeps the name that a registration leaves out, and takes it away with null', async () => {
    const customerId = randomUUID();
    expect(await put(customerId, { name: 'Beta \u202eAG' })).toMatchObject({ name: 'Beta AG' });
    expect(await put(customerId, {})).toMatchObject({ name: 'Beta AG' });
    expect(await ask(`/api/customer/${customerId}/addresses`)).toMatchObject({ name: 'Beta AG' });
    expect(await put(customerId, { name: null })).toMatchObject({ name: null });
    expect(await put(customerId, { name: '\u200b' })).toMatchObject({ name: null });
    const tooLong = await service.request(`/api/customer/${customerId}/addresses`, {
      method: 'PUT',
      json: { addresses: [], domains: [], name: 'x'.repeat(201) },
    });
    expect(tooLong.status).toBe(400);
  });

  it('tells a key of one account what that account has', async () => {
    const customerId = randomUUID();
    const to = `ada@${customerId.slice(0, 8)}.test`;
    await put(customerId, { addresses: [to], name: 'Gamma KG' });
    const { secret } = (await ask('/api/keys', {
      json: { name: 'sales', rights: ['read'], account_ids: ['sales'] },
    })) as { secret: string };
    const authorized = { headers: { authorization: `Bearer ${secret}` } };
    const see = () => ask(`/api/customer/${customerId}`, authorized);
    await send({ to, customer_id: customerId, account_id: 'support' });
    await indexed();
    const nothing = { name: null, addresses: [], domains: [], emails_outbound: 0, last_activity_at: null };
    expect(await see()).toMatchObject(nothing);
    expect(await ask('/api/customers?q=gamma', authorized)).toMatchObject({ customers: [] });
    await send({ to, customer_id: customerId, account_id: 'sales' });
    await indexed();
    expect(await see()).toMatchObject({
      name: 'Gamma KG',
      addresses: [],
      emails_outbound: 1,
      threads_done: 1,
    });
    expect(await ask('/api/customers?q=gamma', authorized)).toMatchObject({
      customers: [{ customer_id: customerId, name: 'Gamma KG' }],
    });
  });

  it('knows nothing of a customer that was erased', async () => {
    const customerId = randomUUID();
    await put(customerId, { addresses: [`x@${customerId}.test`], name: `Zeta ${customerId}` });
    const { id } = (await (
      await service.request('/api/erasures', { json: { customer_id: customerId } })
    ).json()) as {
      id: string;
    };
    await waitUntil('it is erased', async () => (await ask(`/api/erasures/${id}`))['state'] === 'done');
    expect(await ask(`/api/customer/${customerId}`)).toMatchObject({ name: null, addresses: [] });
    expect(await list('?q=zeta')).toEqual([]);
  });
});

describe('GET /api/customers', () => {
  it('lists by name, those without one last, page by page', async () => {
    const names = ['Östlich', 'ostend', 'Otto', 'Oscar'];
    for (const name of names) await put(randomUUID(), { name: `Liste ${name}` });
    const unnamed = randomUUID();
    await send({ to: `x@${unnamed.slice(0, 8)}.test`, customer_id: unnamed });
    await indexed();
    const seen: { customer_id: string; name: string | null }[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: Json = await ask(`/api/customers?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
      seen.push(...(page['customers'] as typeof seen));
      cursor = page['next_cursor'] as string | null;
    }
    expect(new Set(seen.map(({ customer_id }) => customer_id)).size).toBe(seen.length);
    expect(seen.map(({ name }) => name).filter((name) => name?.startsWith('Liste'))).toEqual([
      'Liste Oscar',
      'Liste ostend',
      'Liste Östlich',
      'Liste Otto',
    ]);
    const firstUnnamed = seen.findIndex(({ name }) => name === null);
    expect(seen.slice(firstUnnamed).every(({ name }) => name === null)).toBe(true);
    expect(seen.map(({ customer_id }) => customer_id)).toContain(unnamed);
  });

  it('finds words of names, and addresses and domains, by their beginning', async () => {
    const customerId = randomUUID();
    const domain = `q${customerId.slice(0, 8)}.test`;
    await put(customerId, {
      name: 'Müller & Söhne KG',
      addresses: [`einkauf@${domain}`],
      domains: [`*.${domain}`],
    });
    for (const q of [
      'müll',
      'MUELL',
      'mull soh',
      'sö',
      `einkauf@${domain.slice(0, 5)}`,
      domain.slice(0, 6),
    ]) {
      expect([q, await list(`?q=${encodeURIComponent(q)}`)]).toEqual([q, ['Müller & Söhne KG']]);
    }
    for (const q of ['ller', 'müll xyz', '%', '_', `'`, '!!!', '&|!:*', '\\', 'e%']) {
      expect([q, await list(`?q=${encodeURIComponent(q)}`)]).toEqual([q, []]);
    }
  });

  it.each([
    ['?cursor=x', 'invalid_cursor'],
    ['?q=', 'invalid_request'],
    ['?limit=0', 'invalid_request'],
    ['?name=x', 'unknown_parameter'],
  ])('refuses %s', async (search, code) => {
    const response = await service.request(`/api/customers${search}`);
    expect([response.status, ((await response.json()) as Json)['code']]).toEqual([400, code]);
  });
});

describe('a nightly sync of contacts', () => {
  const addressesOf = async (customerId: string) =>
    (
      (await ask(`/api/customer/${customerId}/addresses`)) as {
        addresses: { address: string; origin: string }[];
      }
    ).addresses.map(({ address, origin }) => `${origin} ${address}`);

  it('leaves what sends taught, also an address that it had registered and registers no longer', async () => {
    const customerId = randomUUID();
    const domain = `${customerId.slice(0, 8)}.test`;
    await send({ to: `bob@${domain}`, customer_id: customerId });
    await expect.poll(() => addressesOf(customerId)).toEqual([`learned bob@${domain}`]);
    await put(customerId, { addresses: [`ada@${domain}`], domains: [] });
    expect(await addressesOf(customerId)).toEqual([`registered ada@${domain}`, `learned bob@${domain}`]);
    await put(customerId, { addresses: [`bob@${domain}`], domains: [] });
    expect(await addressesOf(customerId)).toEqual([`registered bob@${domain}`]);
    await put(customerId, { addresses: [], domains: [] });
    expect(await addressesOf(customerId)).toEqual([`learned bob@${domain}`]);
  });

  it('may give back what it has read', async () => {
    const customerId = randomUUID();
    const domain = `${customerId.slice(0, 8)}.test`;
    await send({ to: `bob@${domain}`, customer_id: customerId });
    await expect.poll(() => addressesOf(customerId)).toEqual([`learned bob@${domain}`]);
    await put(customerId, { addresses: [`ada@${domain}`], domains: [`*.${domain}`], name: 'Ada' });
    const read = await ask(`/api/customer/${customerId}/addresses`);
    const answer = await ask(`/api/customer/${customerId}/addresses`, { method: 'PUT', json: read });
    expect(answer).toEqual({ ...read, relinked: { linked: 0, moved: 0, unlinked: 0 } });
    expect(await ask(`/api/customer/${customerId}/addresses`)).toEqual(read);
  });

  it('adds and removes one address; a removed one is not taught again', async () => {
    const customerId = randomUUID();
    const domain = `${customerId.slice(0, 8)}.test`;
    const path = `/api/customer/${customerId}/addresses`;
    await ask(path, { json: { address: `Ada@${domain}` } });
    await ask(path, { json: { address: `eve@${domain}` } });
    expect(await addressesOf(customerId)).toEqual([`registered ada@${domain}`, `registered eve@${domain}`]);
    await ask(`${path}/eve@${domain}`, { method: 'DELETE' });
    await send({ to: `eve@${domain}`, customer_id: customerId });
    await send({ to: `bob@${domain}`, customer_id: customerId });
    await expect
      .poll(() => addressesOf(customerId))
      .toEqual([`registered ada@${domain}`, `learned bob@${domain}`]);
  });
});
