/** The audit log: what operators asked for, and what became of it. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { getJson } from '../helpers/running-service.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';

interface Entry {
  readonly id: string;
  readonly author: unknown;
  readonly act: string;
  readonly target: string | null;
  readonly details: unknown;
  readonly outcome: string;
  readonly code: string | null;
  readonly result: unknown;
}

let database: TestDatabase;
let service: ServiceProcess;

beforeAll(async () => {
  database = await createTestDatabase();
  service = await startServiceProcess({ env: { DATABASE_URL: database.connectionString } });
});
afterAll(async () => {
  await disposeService(service);
  await database.drop();
});

const list = (filter: string) =>
  getJson<{ readonly entries: readonly Entry[]; readonly next_cursor: string | null }>(
    service,
    `/api/audit?${filter}`,
  );

describe('the audit log', () => {
  it('says who made a key, and what the key did', async () => {
    const made = await service.request('/api/keys', { json: { name: 'CRM', rights: ['admin'] } });
    const { key, secret } = (await made.json()) as { key: { id: string }; secret: string };
    const headers = { authorization: `Bearer ${secret}` };
    await service.request('/api/suppressions/Ann@Example.com', { method: 'PUT', json: {}, headers });
    const email = randomUUID();
    await service.request(`/api/emails/${email}/cancel`, { method: 'POST', headers });
    const { entries } = await list('');
    expect(entries).toMatchObject([
      {
        author: { kind: 'key', id: key.id, name: 'CRM' },
        act: 'send.cancelled',
        target: email,
        outcome: 'refused',
        code: 'email_not_found',
        result: null,
      },
      { author: { kind: 'key', id: key.id }, act: 'suppression.set', outcome: 'done', code: null },
      {
        author: { kind: 'secret', id: null, name: 'API_SECRET 1' },
        act: 'key.created',
        outcome: 'done',
        result: { id: key.id, name: 'CRM', rights: ['admin'] },
      },
    ]);
    const text = JSON.stringify(entries).toLowerCase();
    expect(text).not.toContain('ann@example.com');
    expect(text).not.toContain(secret.slice(17).toLowerCase());
    expect(entries[1]?.target).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  it('is read by pages and filters', async () => {
    expect((await list('author=secret')).entries.map(({ act }) => act)).toEqual(['key.created']);
    expect((await list('act=suppression.set')).entries).toHaveLength(1);
    expect((await list('until=2026-01-01T00:00:00Z')).entries).toEqual([]);
    const first = await list('limit=2');
    const second = await list(`limit=2&cursor=${first.next_cursor}`);
    expect([...first.entries, ...second.entries].map(({ act }) => act)).toEqual([
      'send.cancelled',
      'suppression.set',
      'key.created',
    ]);
    expect((await service.request('/api/audit?cursor=x')).status).toBe(400);
  });

  it.each(['audit_log', 'audit_outcomes'])('lets nothing of %s be changed or deleted', async (table) => {
    for (const sql of [`delete from ${table}`, `update ${table} set at = now()`]) {
      await expect(query(database.connectionString, sql)).rejects.toThrow('the audit log is never changed');
    }
  });
});
