/** One request that changes or deletes many threads: each is judged for itself, and only those that the caller sees and names. */
import { Pool } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createDeletionStore } from '../../src/areas/erase/deletion-store.ts';
import { toThreadChange } from '../../src/areas/threads/thread-change-schema.ts';
import { createThreadChanges } from '../../src/areas/threads/thread-work.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { mail, receive } from '../helpers/inbound-mail.ts';
import { query } from '../helpers/query.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';

interface Results {
  readonly results: readonly {
    readonly id: string;
    readonly outcome: string;
    readonly refusal: { readonly code: string } | null;
  }[];
  readonly next_cursor: string | null;
}

let database: TestDatabase;
let service: ServiceProcess;
let ids: string[];
beforeAll(async () => {
  database = await createTestDatabase();
  service = await startServiceProcess({ env: { DATABASE_URL: database.connectionString } });
});
afterAll(async () => {
  await disposeService(service);
  await database.drop();
});
beforeEach(async () => {
  await query(database.connectionString, 'delete from emails');
  ids = [];
  for (const subject of ['one', 'two', 'three'])
    ids.push((await receive(service, mail({ subject, from: `${subject}@customer.test` }))).threadId);
});

async function ask(method: string, path: string, json?: unknown, secret?: string) {
  const response = await service.request(path, {
    method,
    ...(json === undefined ? {} : { json }),
    ...(secret === undefined ? {} : { headers: { authorization: `Bearer ${secret}` } }),
  });
  return { status: response.status, body: (await response.json()) as Results & { readonly code?: string } };
}
const outcomes = ({ body }: { readonly body: Results }) =>
  body.results.map(({ id, outcome, refusal }) => [ids.indexOf(id), outcome, refusal?.code ?? null]);
const threads = async (filter: string) => {
  const { body } = await ask('GET', `/api/threads?${filter}`);
  const found = (body as unknown as { threads: readonly { readonly id: string }[] }).threads;
  return found.map(({ id }) => ids.indexOf(id)).toSorted();
};
const UNKNOWN = '0190b2a0-0000-7000-8000-000000000003';

it('changes and marks those that are named, and tells which were like that already', async () => {
  const change = { status: 'done', add_labels: ['offer'], unread: false };
  expect(outcomes(await ask('PATCH', `/api/threads?ids=${ids[0]}`, change))).toEqual([[0, 'changed', null]]);
  const again = await ask('PATCH', `/api/threads?ids=${ids[0]},${ids[1]?.toUpperCase()},${ids[1]}`, change);
  expect(again.status).toBe(200);
  expect(outcomes(again)).toEqual([
    [0, 'unchanged', null],
    [1, 'changed', null],
  ]);
  expect(await threads('status=done&label=offer&unread=false')).toEqual([0, 1]);
  expect(outcomes(await ask('PATCH', `/api/threads?ids=${ids[0]}`, { unread: true }))).toEqual([
    [0, 'changed', null],
  ]);
  expect(await threads('unread=true')).toEqual([0, 2]);
});

it('changes what a filter finds, page by page, also when what was changed is found no more', async () => {
  const found: string[] = [];
  let cursor = '';
  for (let page = 0; page < 3; page++) {
    const { body } = await ask('PATCH', `/api/threads?status=open&limit=1${cursor}`, { status: 'done' });
    found.push(...body.results.map(({ id }) => id));
    cursor = `&cursor=${body.next_cursor}`;
    expect(body.next_cursor === null).toBe(page === 2);
  }
  expect(found.toSorted()).toEqual(ids.toSorted());
  expect(await threads('status=open')).toEqual([]);
});

it('refuses one thread and changes the others', async () => {
  const answer = await ask('PATCH', `/api/threads?ids=${UNKNOWN},${ids[2]}`, { status: 'done' });
  expect(answer.status).toBe(200);
  expect(outcomes(answer)).toEqual([
    [-1, 'refused', 'thread_not_found'],
    [2, 'changed', null],
  ]);
  const assigned = await ask('PATCH', `/api/threads?ids=${ids[0]}`, { assignee: 'nobody' });
  expect(outcomes(assigned)).toEqual([[0, 'refused', 'unknown_assignee']]);
});

it('changes nothing in a dry run, and tells what the change would do', async () => {
  const change = { status: 'done', unread: false };
  const dry = await ask('PATCH', `/api/threads?status=open&dry_run=true`, change);
  expect(dry.body.results.map(({ outcome }) => outcome)).toEqual(['changed', 'changed', 'changed']);
  expect(await threads('status=open&unread=true')).toEqual([0, 1, 2]);
  const deletion = await ask('DELETE', `/api/threads?ids=${ids.join(',')}&dry_run=true`);
  expect(deletion.body.results.map(({ outcome }) => outcome)).toEqual(['deleted', 'deleted', 'deleted']);
  expect(await threads('')).toEqual([0, 1, 2]);
});

it('deletes what is named or found, and nothing else', async () => {
  expect(outcomes(await ask('DELETE', `/api/threads?ids=${ids[1]},${UNKNOWN}`))).toEqual([
    [1, 'deleted', null],
    [-1, 'refused', 'thread_not_found'],
  ]);
  await ask('PATCH', `/api/threads/${ids[2]}`, { labels: ['spam'] });
  expect(outcomes(await ask('DELETE', '/api/threads?label=spam'))).toEqual([[2, 'deleted', null]]);
  expect(await threads('')).toEqual([0]);
});

it.each([
  ['PATCH', 'neither ids nor filters', ''],
  ['DELETE', 'neither ids nor filters', ''],
  ['DELETE', 'no filter but the size of a page', 'limit=200'],
  ['DELETE', 'no filter but dry_run', 'dry_run=true'],
  ['DELETE', 'ids and filters', `ids=${UNKNOWN}&status=open`],
  ['PATCH', 'no id in ids', 'ids='],
  ['PATCH', 'an id that is missing', `ids=${UNKNOWN},`],
  ['DELETE', '101 ids', `ids=${Array.from({ length: 101 }, () => UNKNOWN).join(',')}`],
  ['DELETE', 'a misspelt filter', 'labels=spam&status=open'],
  ['DELETE', 'a moment that does not exist', 'active_until=2025-02-30T00:00:00Z'],
  ['PATCH', 'filters that exclude one another', 'assignee=ada&assigned=false'],
])('refuses a %s with %s, whole', async (method, _what, parameters) => {
  const { status } = await ask(
    method,
    `/api/threads?${parameters}`,
    method === 'PATCH' ? { status: 'done' } : undefined,
  );
  expect(status).toBe(400);
  expect(await threads('status=open')).toEqual([0, 1, 2]);
});

it('finds and changes nothing of an account that the key does not see', async () => {
  const made = await service.request('/api/accounts', {
    json: { id: 'shop', from: 'shop@shop.test', smtp_url: 'smtp://127.0.0.1:1' },
  });
  expect(made.status).toBe(201);
  const other = await service.request('/api/inbound?account_id=shop', {
    method: 'POST',
    body: mail({ from: 'eve@customer.test', to: 'shop@shop.test' }),
    headers: { 'content-type': 'message/rfc822' },
  });
  const { threadId } = (await other.json()) as { threadId: string };
  const key = await service.request('/api/keys', {
    json: { name: 'limited', rights: ['read', 'operate', 'handle'], account_ids: ['default'] },
  });
  const { secret } = (await key.json()) as { secret: string };
  for (const [method, change] of [
    ['PATCH', { status: 'done' }],
    ['DELETE', undefined],
  ] as const) {
    const named = await ask(method, `/api/threads?ids=${threadId}`, change, secret);
    expect(named.body.results).toMatchObject([
      { id: threadId, outcome: 'refused', refusal: { code: 'thread_not_found' } },
    ]);
    expect((await ask(method, '/api/threads?account_id=shop', change, secret)).body.code).toBe(
      'unknown_account',
    );
    const found = await ask(method, '/api/threads?status=open', change, secret);
    expect(found.body.results.map(({ id }) => id)).not.toContain(threadId);
  }
  expect((await ask('GET', `/api/threads/${threadId}`)).body).toMatchObject({ thread: { status: 'open' } });
});

it('leaves alone what got another email after a filter had found it', async () => {
  const pool = new Pool({ connectionString: database.connectionString, max: 1 });
  try {
    const found = { id: ids[0]!, newestEmailId: UNKNOWN };
    const change = toThreadChange({ status: 'done' }, null);
    const options = { keyId: null, mark: null, dryRun: false };
    await expect(createThreadChanges(pool).changeAndMark(found, change, options)).rejects.toMatchObject({
      code: 'thread_changed',
    });
    const deletion = createDeletionStore(pool).deleteSomeOfThread(ids[0]!, 10, { newestEmailId: UNKNOWN });
    await expect(deletion).rejects.toMatchObject({ code: 'thread_changed' });
    expect(await threads('status=open')).toEqual([0, 1, 2]);
  } finally {
    await pool.end();
  }
});

it('takes 100 ids', async () => {
  const many = [
    ...Array.from({ length: 99 }, (_, index) => UNKNOWN.slice(0, -2) + String(index).padStart(2, '0')),
    ids[0],
  ];
  const { status, body } = await ask('PATCH', `/api/threads?ids=${many.join(',')}`, { status: 'done' });
  expect([status, body.results.length, body.results.at(-1)?.outcome]).toEqual([200, 100, 'changed']);
});

it('names the acts in the audit log, once for each request', async () => {
  await ask('PATCH', `/api/threads?ids=${ids[0]},${ids[1]}`, { status: 'done' });
  await ask('DELETE', `/api/threads?ids=${ids[1]}`);
  const response = await service.request('/api/audit?limit=2');
  const { entries } = (await response.json()) as { entries: readonly { act: string; result: object }[] };
  expect(entries.map(({ act, result }) => [act, result])).toEqual([
    ['threads.deleted', { threadIds: [ids[1]], threadCount: 1 }],
    ['threads.changed', { threadIds: [ids[0], ids[1]], threadCount: 2 }],
  ]);
});
