/** The list of threads, read marks and search, through the whole service. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mail, receive } from '../helpers/inbound-mail.ts';
import { startServiceWithDatabase } from '../helpers/running-service.ts';
import type { ServiceProcess } from '../helpers/service-process.ts';
import { waitUntil } from '../helpers/wait-until.ts';

interface Threads {
  readonly threads: readonly { id: string; unread_count: number; newest_email: { snippet: string } }[];
  readonly next_cursor: string | null;
}

let service: ServiceProcess;
let end: () => Promise<void>;

beforeAll(async () => {
  ({ service, end } = await startServiceWithDatabase());
});
afterAll(() => end());

async function get<T>(path: string): Promise<T> {
  const response = await service.request(path);
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

const search = (q: string) => get<Threads>(`/api/threads?q=${encodeURIComponent(q)}`);

describe('a received email', () => {
  it('is in the list, unread until it is marked, and found by its words soon', async () => {
    const { threadId, id } = await receive(
      service,
      mail({ from: 'Jörg Müller <jm@kunde.example>', subject: 'Rechnung 4711', body: 'Wann kommt sie?' }),
    );
    expect(await get<Threads>('/api/threads?unread=true&unanswered=true')).toMatchObject({
      threads: [{ id: threadId, unread_count: 1, newest_email: { snippet: 'Wann kommt sie?' } }],
      next_cursor: null,
    });
    const marked = await service.request(`/api/thread/${threadId.toUpperCase()}/read`, { method: 'POST' });
    expect([marked.status, await marked.json()]).toEqual([200, { id: threadId, unread_count: 0 }]);
    expect(await get<Threads>('/api/threads?unread=true')).toEqual({ threads: [], next_cursor: null });

    await waitUntil('the email is found', async () => (await search('rechnung 4711')).threads.length === 1);
    for (const q of ['Mueller', '@kunde.example', '"wann kommt sie"', 'rech -4712']) {
      expect((await search(q)).threads.map((thread) => thread.id)).toEqual([threadId]);
    }
    expect((await search(`'); drop table emails; --`)).threads).toEqual([]);
    expect((await search('"')).threads).toEqual([]);
    expect(await get(`/api/emails?q=4711&state=received`)).toMatchObject({ emails: [{ id }] });
  });

  it('is read from the start when it is posted so, and stays as it is when it is posted again', async () => {
    const read = mail({ subject: 'Old' });
    const { threadId } = await receive(service, read, '?read=true');
    const listing = async () =>
      (await get<Threads>('/api/threads')).threads.find(({ id }) => id === threadId);
    expect(await listing()).toMatchObject({ unread_count: 0 });
    expect(await receive(service, read)).toMatchObject({ status: 'duplicate' });
    expect(await listing()).toMatchObject({ unread_count: 0 });
  });
});

it.each([
  ['/api/threads?q=', 400, 'invalid_request'],
  [`/api/threads?q=${'x'.repeat(201)}`, 400, 'invalid_request'],
  ['/api/threads?unread=1', 400, 'invalid_request'],
  ['/api/threads?unraed=true', 400, 'unknown_parameter'],
  ['/api/threads?customer_id=x', 400, 'invalid_uuid'],
  ['/api/threads?cursor=x', 400, 'invalid_cursor'],
  ['/api/threads?limit=201', 400, 'invalid_request'],
])('refuses %s', async (path, status, code) => {
  const response = await service.request(path);
  expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([status, code]);
});

it('knows no thread to mark', async () => {
  const path = '/api/thread/00000000-0000-4000-8000-000000000000/unread';
  expect((await service.request(path, { method: 'POST' })).status).toBe(404);
});
