/** Changes that count only for the version that was read: of webhooks, keys and suppressions. */
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
