/** Address completion, in the built service. */
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mail, receive } from '../helpers/inbound-mail.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { makeTempFolder } from '../helpers/temp-folder.ts';
import { waitUntil } from '../helpers/wait-until.ts';

let database: TestDatabase;
let service: ServiceProcess;
let env: Readonly<Record<string, string>>;

beforeAll(async () => {
  database = await createTestDatabase();
  const accounts = path.join((await makeTempFolder()).path, 'accounts.json');
  const account = (id: string) => ({ id, from: `${id}@example.com`, trusted_authserv_ids: ['mx.test'] });
  await writeFile(accounts, JSON.stringify([account('sales'), account('support')]));
  env = { DATABASE_URL: database.connectionString, ACCOUNTS_FILE: accounts };
  service = await startServiceProcess({ env });
});
afterAll(async () => {
  await disposeService(service);
  await database.drop();
});

interface Found {
  address: string;
  name: string;
  customer_id: string | null;
  customer_name: string | null;
  written_to: boolean;
  suppressed: boolean;
}

const ask = (text: string, values: readonly unknown[] = []) => query(database.connectionString, text, values);

async function call<T>(target: string, init: Parameters<ServiceProcess['request']>[1] = {}): Promise<T> {
  const response = await service.request(target, init);
  const json = (await response.json()) as T;
  expect([target, response.status < 300, json]).toEqual([target, true, json]);
  return json;
}

const send = (json: object) =>
  call<{ id: string; threadId: string }>('/api/send', { json: { subject: 'x', text_body: 'x', ...json } });

const indexed = () =>
  waitUntil('all emails are indexed', async () => (await ask('select from search_queue')).length === 0);

async function complete(q: string, more = '', init = {}): Promise<Found[]> {
  await indexed();
  return (await call<{ addresses: Found[] }>(`/api/addresses?q=${encodeURIComponent(q)}${more}`, init))
    .addresses;
}
const addressesOf = async (...of: Parameters<typeof complete>) =>
  (await complete(...of)).map(({ address }) => address);

const newDomain = () => `d${randomUUID().slice(0, 8)}.test`;
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toUTCString();
const SIGNED = (domain: string, result: 'pass' | 'fail') =>
  `Authentication-Results: mx.test; spf=${result} smtp.mailfrom=${domain}; dmarc=${result} header.from=${domain}`;
/** The trusted field stands above those that the sender wrote. */
const receiveChecked = (result: 'pass' | 'fail', domain: string, from: string) =>
  receive(service, `${SIGNED(domain, result)}\r\n${mail({ from })}`);

/** Everything that is stored about addresses, for comparison. */
const kept = async () => ({
  known: await ask(
    'select account_id, address, name, is_written_to, last_at, words from known_addresses order by 1, 2',
  ),
  words: await ask('select account_id, word, address from known_address_words order by 1, 2, 3'),
});

describe('GET /api/addresses', () => {
  it('finds whom we wrote to, who wrote, and who was written to with us', async () => {
    const domain = newDomain();
    await send({
      to: `"Ada Müller" <Ada.Mueller@${domain}>`,
      cc: `carl@mail.${domain}`,
      bcc: `dora@${domain}`,
    });
    await receive(service, mail({ from: `Bob <bob@${domain}>`, to: `sales@example.com, eve@${domain}` }));
    const everyone = [
      `ada.mueller@${domain}`,
      `bob@${domain}`,
      `carl@mail.${domain}`,
      `dora@${domain}`,
      `eve@${domain}`,
    ];
    expect((await addressesOf(`@${domain}`, '&limit=50')).toSorted()).toEqual(everyone);
    expect((await addressesOf(domain)).toSorted()).toEqual(everyone);
    for (const q of [
      'müll',
      'MUELL',
      `ada.mueller@${domain.slice(0, 4)}`,
      `ada ${domain}`,
      `${domain} mull`,
    ]) {
      const found = await addressesOf(q);
      expect([q, found.includes(`ada.mueller@${domain}`)]).toEqual([q, true]);
      expect([q, found.includes(`bob@${domain}`)]).toEqual([q, false]);
    }
    expect(await complete(`ada @${domain}`)).toEqual([
      {
        address: `ada.mueller@${domain}`,
        name: 'Ada Müller',
        customer_id: null,
        customer_name: null,
        written_to: true,
        last_at: expect.any(String) as string,
        suppressed: false,
      },
    ]);
    expect(await addressesOf('sales@example.com')).toEqual([]);
    for (const q of ['%', '_', `'`, '@', '...', '\\', '!!!', `${domain} nobody`])
      expect([q, await addressesOf(q)]).toEqual([q, []]);
  });

  it('puts first what is used lately, often, and written to', async () => {
    const domain = newDomain();
    const from = (name: string, days: number) =>
      receive(service, mail({ from: `${name}@${domain}`, date: daysAgo(days) }));
    await from('old', 200);
    await from('fresh', 1);
    for (let day = 0; day < 6; day += 1) await from('often', day);
    await send({ to: `written@${domain}` });
    await send({ to: `written@${domain}` });
    const order = ['written', 'often', 'fresh', 'old'].map((name) => `${name}@${domain}`);
    expect(await addressesOf(`@${domain}`)).toEqual(order);
    expect(await addressesOf(`@${domain}`, '&limit=2')).toEqual(order.slice(0, 2));
  });

  it('gives no address the name that a forger or a program wrote', async () => {
    const domain = newDomain();
    const nameOf = async () => (await complete(`ada@${domain}`))[0]?.name;
    await receiveChecked('fail', domain, `Evil <ada@${domain}>`);
    await receive(
      service,
      mail({ from: `Robot <robot@${domain}>`, headers: ['Auto-Submitted: auto-generated'] }),
    );
    expect(await addressesOf(`@${domain}`)).toEqual([]);
    await receive(service, mail({ from: `Stranger <ada@${domain}>` }));
    expect(await nameOf()).toBe('Stranger');
    await receiveChecked('pass', domain, `Ada <ada@${domain}>`);
    expect(await nameOf()).toBe('Ada');
    await receiveChecked('fail', domain, `Evil <ada@${domain}>`);
    for (let i = 0; i < 3; i += 1) await receive(service, mail({ from: `Evil <ada@${domain}>` }));
    await receive(
      service,
      mail({ from: 'Eve <eve@elsewhere.test>', to: `sales@example.com, Evil <ada@${domain}>` }),
    );
    expect(await nameOf()).toBe('Ada');
    await send({ to: `"Ada Lovelace" <ada@${domain}>` });
    expect(await nameOf()).toBe('Ada Lovelace');
    expect((await addressesOf('evil')).filter((one) => one.endsWith(domain))).toEqual([]);
  });

  it('shows names in one line, without hidden signs', async () => {
    const domain = newDomain();
    const encoded = (name: string) => `=?utf-8?B?${Buffer.from(name).toString('base64')}?=`;
    await receive(service, mail({ from: `${encoded('Ada\u202e \u0007\r\n\u2066X')} <ada@${domain}>` }));
    expect((await complete(`ada@${domain}`))[0]?.name).toBe('Ada X');
    await send({ to: `"${'Lang '.repeat(90)}" <long@${domain}>` });
    expect((await complete(`long@${domain}`))[0]?.name.length).toBeLessThanOrEqual(200);
  });

  it('tells the customer and its name, and what nothing is sent to', async () => {
    const domain = newDomain();
    const customerId = randomUUID();
    await receive(service, mail({ from: `ada@${domain}` }));
    await call(`/api/customer/${customerId}/addresses`, {
      method: 'PUT',
      json: { addresses: [], domains: [domain], name: 'Acme GmbH' },
    });
    await call(`/api/suppressions/ada@${domain}`, { method: 'PUT', json: {} });
    expect(await complete(`ada@${domain}`)).toMatchObject([
      { customer_id: customerId, customer_name: 'Acme GmbH', suppressed: true },
    ]);
  });

  it('gives a key of an account, and a question about one, the addresses of its mail', async () => {
    const domain = newDomain();
    await send({ to: `own@${domain}`, account_id: 'sales' });
    await send({ to: `both@${domain}`, account_id: 'sales' });
    await send({ to: `both@${domain}`, account_id: 'support' });
    await send({ to: `other@${domain}`, account_id: 'support' });
    const { secret } = await call<{ secret: string }>('/api/keys', {
      json: { name: 'x', rights: ['read'], account_ids: ['sales'] },
    });
    const authorized = { headers: { authorization: `Bearer ${secret}` } };
    const own = [`both@${domain}`, `own@${domain}`];
    expect((await addressesOf(`@${domain}`, '', authorized)).toSorted()).toEqual(own);
    expect((await addressesOf(`@${domain}`, '&account_id=sales')).toSorted()).toEqual(own);
    expect((await addressesOf(`@${domain}`)).toSorted()).toEqual([...own, `other@${domain}`].toSorted());
    const refused = await service.request('/api/addresses?account_id=nobody');
    expect(((await refused.json()) as { code: string }).code).toBe('unknown_account');
  });

  it('forgets with the emails: one that is deleted, and those of a person that is erased', async () => {
    const domain = newDomain();
    await indexed();
    const before = await kept();
    const first = await send({ to: `"Ada Old" <ada@${domain}>` });
    await indexed();
    const withFirst = await kept();
    const second = await send({ to: `"Ada New" <ada@${domain}>, bob@${domain}` });
    expect((await complete(`ada@${domain}`))[0]?.name).toBe('Ada New');
    await call(`/api/emails/${second.id}`, { method: 'DELETE' });
    expect(await kept()).toEqual(withFirst);
    await call(`/api/emails/${first.id}`, { method: 'DELETE' });
    expect(await kept()).toEqual(before);

    await send({ to: `"Ada" <ada@${domain}>, "Bob" <bob@${domain}>` });
    await receive(service, mail({ from: `Ada <ada@${domain}>` }));
    await send({ to: `bob@${domain}` });
    await indexed();
    const { id } = await call<{ id: string }>('/api/erasures', { json: { address: `ada@${domain}` } });
    await waitUntil(
      'it is done',
      async () => (await call<{ state: string }>(`/api/erasures/${id}`)).state === 'done',
    );
    expect(await addressesOf(`@${domain}`)).toEqual([`bob@${domain}`]);
    expect((await complete(`bob@${domain}`))[0]?.name).toBe('');
    expect(JSON.stringify(await kept())).not.toContain(`ada@${domain}`);
  });

  it(
    'counts an email once, however often it is read and whatever was cut off',
    { tags: ['long'] },
    async () => {
      const domain = newDomain();
      const sent = await Promise.all([
        ...Array.from({ length: 5 }, (_, index) => send({ to: `a${index}@${domain}, all@${domain}` })),
        receive(service, mail({ from: `All <all@${domain}>` })),
      ]);
      await indexed();
      const once = await kept();
      const again = () => ask('insert into search_queue (email_ids) values ($1)', [sent.map(({ id }) => id)]);
      await again();
      await indexed();
      expect(await kept()).toEqual(once);
      for (let kills = 0; kills < 3; kills += 1) {
        await again();
        await service.kill();
        service = await startServiceProcess({ env, dataDir: service.dataDir });
      }
      await indexed();
      expect(await kept()).toEqual(once);
    },
  );

  it.each([
    ['?q=', 'invalid_request'],
    ['?limit=51', 'invalid_request'],
    ['?query=a', 'unknown_parameter'],
    [`?q=${'x'.repeat(201)}`, 'invalid_request'],
  ])('refuses %s', async (search, code) => {
    const response = await service.request(`/api/addresses${search}`);
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([400, code]);
  });
});
