/** Changes that count only for the version that was read: of webhooks, keys, suppressions and the registered data of customers. */
import { randomUUID } from 'node:crypto';
import { EmailWorkerClient } from '../../clients/typescript/src/client.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServiceWithDatabase, type RunningService } from '../helpers/running-service.ts';
import { TEST_SECRET } from '../helpers/service-process.ts';

let running: RunningService;
beforeAll(async () => {
  running = await startServiceWithDatabase();
});
afterAll(async () => {
  await running.end();
});

const request = (method: string, path: string, json?: object, version?: string) =>
  running.service.request(path, {
    method,
    ...(json === undefined ? {} : { json }),
    headers: version === undefined ? {} : { 'if-match': version },
  });
const made = async (method: string, path: string, json: object) =>
  (await (await request(method, path, json)).json()) as Record<string, { readonly id: string }>;

const webhook = async () => {
  const { webhook: entry } = await made('POST', '/api/webhooks', { url: 'https://hooks.example.test/' });
  return `/api/webhooks/${entry?.id}`;
};
const key = async () => {
  const { key: entry } = await made('POST', '/api/keys', { name: 'CRM', rights: ['read'], account_ids: '*' });
  return `/api/keys/${entry?.id}`;
};
let addresses = 0;
const suppression = async () => {
  addresses += 1;
  const path = `/api/suppressions/ann${addresses}@customer.test`;
  await made('PUT', path, { note: 'first' });
  return path;
};

describe.each([
  ['a webhook', webhook, 'PATCH', { description: 'one' }, { description: 'two' }, 'webhook_changed'],
  ['a key', key, 'PATCH', { name: 'one' }, { name: 'two' }, 'key_changed'],
  ['a suppression', suppression, 'PUT', { note: 'one' }, { note: 'two' }, 'suppression_changed'],
] as const)('%s', (_name, create, method, one, two, code) => {
  const read = async (path: string) => {
    const response = await request('GET', path);
    const { version } = (await response.json()) as { readonly version: number };
    expect(response.headers.get('etag')).toBe(`"${version}"`);
    return version;
  };
  const refused = async (response: Promise<Response>, status: number, version?: number) => {
    const answer = await response;
    const body = (await answer.json()) as { readonly code: string; readonly details?: string };
    expect([answer.status, body.code, body.details]).toEqual([
      status,
      status === 412 ? code : 'version_required',
      version === undefined ? undefined : String(version),
    ]);
  };

  it('is changed only as it was read, when the caller asks for that', async () => {
    const path = await create();
    const first = await read(path);
    const changed = await request(method, path, one, `"${first}"`);
    expect(changed.status, await changed.clone().text()).toBe(200);
    const second = await read(path);
    expect(second).toBeGreaterThan(first);
    expect(changed.headers.get('etag')).toBe(`"${second}"`);
    await refused(request(method, path, two, `"${first}"`), 412, second);
    await refused(request(method, path, two, 'x'), 428);
    expect(await read(path)).toBe(second);
    for (const version of [undefined, '*'])
      expect((await request(method, path, two, version)).status).toBe(200);
  });

  it('is changed by one of two that read the same', async () => {
    const path = await create();
    const version = `"${await read(path)}"`;
    const answers = await Promise.all([one, two].map((json) => request(method, path, json, version)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412]);
  });

  it('is removed only as it was read', async () => {
    const path = await create();
    const first = await read(path);
    await request(method, path, one);
    await refused(request('DELETE', path, undefined, `"${first}"`), 412, await read(path));
    expect((await request('DELETE', path, undefined, `"${await read(path)}"`)).status).toBe(200);
  });
});

describe('the registered data of a customer', () => {
  const create = () => `/api/customer/${randomUUID()}/addresses`;
  const put = async (path: string, json: object, version?: string) => {
    const response = await request('PUT', path, json, version);
    return { status: response.status, json: (await response.json()) as Record<string, unknown> };
  };
  const read = async (path: string) => {
    const response = await request('GET', path);
    const json = (await response.json()) as Record<string, unknown>;
    expect(response.headers.get('etag')).toBe(`"${String(json['version'])}"`);
    return json;
  };
  let customers = 0;
  const some = (name: string) => {
    customers += 1;
    return { name, addresses: [`c${customers}@customer.test`], domains: [] };
  };

  it('is replaced only as it was read, by If-Match or by what is given back', async () => {
    const path = create();
    const first = await read(path);
    expect((await put(path, some('one'), `"${String(first['version'])}"`)).status).toBe(200);
    const second = await read(path);
    const changed = { status: 412, json: { code: 'customer_changed', details: String(second['version']) } };
    expect(await put(path, some('two'), `"${String(first['version'])}"`)).toMatchObject(changed);
    expect(await put(path, { ...some('two'), version: first['version'] })).toMatchObject(changed);
    expect(await put(path, some('two'), 'x')).toMatchObject({ status: 428 });
    expect(await read(path)).toEqual(second);
    expect(await put(path, second)).toMatchObject({ status: 200, json: second });
    expect((await put(path, some('two'), '*')).status).toBe(200);
  });

  it('has a new version after a change of any part, and not by what a send teaches', async () => {
    const path = create();
    const customerId = path.split('/')[3] ?? '';
    const base = some('one');
    const versions = [(await put(path, base)).json['version']];
    for (const change of [{ name: 'two' }, { company_id: randomUUID() }, { domains: [`${customerId}.test`] }])
      versions.push((await put(path, { ...base, ...change })).json['version']);
    const added = await request('POST', path, { address: `more-${customerId}@customer.test` });
    versions.push(((await added.json()) as { version: number }).version);
    expect(new Set(versions).size).toBe(versions.length);
    const sent = await request('POST', '/api/send', {
      to: `taught-${customerId}@customer.test`,
      subject: 'x',
      text_body: 'x',
      customer_id: customerId,
    });
    expect(sent.status).toBe(200);
    const shown = await read(path);
    expect(shown['addresses']).toContainEqual(expect.objectContaining({ origin: 'learned' }));
    expect(shown['version']).toBe(versions.at(-1));
  });

  it('is replaced by one of two that read the same', async () => {
    const path = create();
    const version = `"${String((await read(path))['version'])}"`;
    const answers = await Promise.all([some('one'), some('two')].map((json) => put(path, json, version)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412]);
  });

  it('is not replaced twice by the client', async () => {
    const { service } = running;
    const client = new EmailWorkerClient({ url: service.url, secret: TEST_SECRET });
    const id = randomUUID();
    const { relinked: _relinked, ...registered } = await client.customers.setAddresses(id, some('one'));
    await client.customers.setAddresses(id, { ...registered, name: 'two' });
    await expect(client.customers.setAddresses(id, { ...registered, name: 'three' })).rejects.toMatchObject({
      code: 'customer_changed',
    });
  });
});

it('a suppression that is not there has no version', async () => {
  const response = await request('PUT', '/api/suppressions/nobody@customer.test', {}, '"1"');
  expect([response.status, await response.json()]).toMatchObject([412, { details: '0' }]);
});

it('the client names the version, and does not repeat such a change', async () => {
  const { service } = running;
  const client = new EmailWorkerClient({ url: service.url, secret: TEST_SECRET });
  const { key: entry } = await client.keys.create({ name: 'CRM', rights: ['read'], account_ids: '*' });
  const changed = await client.keys.change(entry.id, { name: 'Shop' }, { version: entry.version });
  expect(changed.version).toBe(entry.version + 1);
  await expect(client.keys.revoke(entry.id, { version: entry.version })).rejects.toMatchObject({
    code: 'key_changed',
  });
  await expect(client.keys.revoke(entry.id, { version: 0 })).rejects.toThrow(TypeError);
});
