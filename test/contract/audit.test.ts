/** The audit log: what operators asked for, and how it ended. */
import { createHash, randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAuditLog } from '../../src/areas/audit/audit-log.ts';
import { runCommandInProcess } from '../helpers/command-in-process.ts';
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
    const made = await service.request('/api/keys', {
      json: { name: 'CRM', rights: ['admin'], account_ids: '*' },
    });
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
    const digest = createHash('sha256').update('ann@example.com').digest('hex');
    expect(entries[1]?.target).toMatch(/^digest:[0-9a-f]{64}$/);
    expect(entries[1]?.target).not.toContain(digest);
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

  it.each(['%00', '%ED%A0%80', 'a%00b@example.com', '%EF%BF%BF'])(
    'takes a refusal of %s as well',
    async (address) => {
      const response = await service.request(`/api/suppressions/${address}`, { method: 'DELETE' });
      expect(response.status).toBeGreaterThanOrEqual(400);
      expect(response.status).toBeLessThan(500);
    },
  );

  it.each(['audit_log', 'audit_outcomes'])('lets nothing of %s be changed or deleted', async (table) => {
    for (const sql of [`delete from ${table}`, `update ${table} set at = now()`]) {
      await expect(query(database.connectionString, sql)).rejects.toThrow('the audit log is never changed');
    }
  });

  it(
    'has refused log-ins and rights, counted, and says whether a key was at its end',
    { tags: ['long'] },
    async () => {
      const other = await startServiceProcess({ env: { DATABASE_URL: database.connectionString } });
      const made = await service.request('/api/keys', {
        json: { name: 'Reader', rights: ['read'], account_ids: '*' },
      });
      const { key, secret } = (await made.json()) as { key: { id: string }; secret: string };
      const tryWith = async (token: string, path = '/api/emails', init = {}) =>
        (await other.request(path, { ...init, headers: { authorization: `Bearer ${token}` } })).status;
      try {
        for (let time = 0; time < 5; time += 1) expect(await tryWith('wrong')).toBe(401);
        expect(await tryWith(secret, '/api/keys')).toBe(403);
        await service.request(`/api/keys/${key.id}`, { method: 'DELETE' });
        await expect.poll(() => tryWith(secret)).toBe(401);
      } finally {
        // Counted refusals are written when the service ends, at the latest.
        await disposeService(other);
      }
      const { entries } = await list('author=stranger');
      // They are written each minute; on a busy machine a minute may end meanwhile.
      const refusals = entries.map(({ act, code, outcome }) => [act, code, outcome].join());
      expect(new Set(refusals)).toEqual(
        new Set(['login.refused,invalid_credentials,refused', 'login.refused,revoked_key,refused']),
      );
      expect(new Set(entries.map(({ target }) => target))).toEqual(new Set([key.id, null]));
      const detailsOf = (of: string | null) =>
        entries
          .filter(({ target }) => target === of)
          .map(({ details }) => details as { readonly count: number; readonly key?: string });
      expect(new Set(detailsOf(key.id).map(({ key: end }) => end))).toEqual(new Set(['revoked']));
      expect(detailsOf(null).reduce((sum, { count }) => sum + count, 0)).toBe(5);
      expect((await list(`author=${key.id}&act=right.refused`)).entries).toMatchObject([
        { details: { right: 'admin', count: 1 }, code: 'forbidden_right' },
      ]);
    },
  );

  it('has no act of a request that says too little or too much to be one', async () => {
    const replay = `/api/webhooks/${randomUUID()}/replay`;
    const after = '0000000000000000';
    for (const json of [{}, { after, since: '2026-01-01T00:00:00Z' }])
      expect((await service.request(replay, { json })).status).toBe(400);
    expect((await list('act=webhook.replayed')).entries).toEqual([]);
    expect((await service.request(replay, { json: { after } })).status).toBe(404);
    expect((await list('act=webhook.replayed')).entries).toMatchObject([{ code: 'webhook_not_found' }]);
  });

  it('has log-ins and log-outs of browsers', async () => {
    const page = { 'x-requested-with': 'email-worker', 'sec-fetch-site': 'same-origin' };
    const made = await service.request('/api/keys', {
      json: { name: 'Eva', rights: ['read'], account_ids: '*' },
    });
    const { key, secret } = (await made.json()) as { key: { id: string }; secret: string };
    const opened = await service.request('/api/session', { json: { secret }, headers: page });
    expect(opened.status).toBe(200);
    const cookie = (opened.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    const ended = await fetch(`${service.url}/api/session`, {
      method: 'DELETE',
      headers: { ...page, cookie },
    });
    expect(ended.status).toBe(200);
    const author = { kind: 'key', id: key.id, name: 'Eva' };
    expect((await list(`author=${key.id}`)).entries).toMatchObject([
      { author, act: 'session.ended', outcome: 'done', details: { sessions: 1 } },
      { author, act: 'session.opened', outcome: 'done', details: { by: 'secret' } },
    ]);
    expect(JSON.stringify((await list(`author=${key.id}`)).entries)).not.toContain(secret.slice(17));
  });

  it('has the acts of commands, without what may name a person', async () => {
    const env = { DATABASE_URL: database.connectionString };
    const { stdout } = await runCommandInProcess(
      ['keys', 'create', '--name', 'Ann Ames', '--right', 'read', '--all-accounts'],
      {
        dataDir: service.dataDir,
        env,
      },
    );
    expect(stdout).toMatch(/ewk_/);
    const { exitCode } = await runCommandInProcess(['keys', 'revoke', 'ann@example.com'], {
      dataDir: service.dataDir,
      env,
    });
    expect(exitCode).not.toBe(0);
    const { entries } = await list('act=command.keys');
    expect(entries).toMatchObject([
      {
        author: { kind: 'command', id: null, name: userInfo().username },
        details: { arguments: ['revoke'] },
        outcome: 'refused',
        code: 'command_failed',
      },
      {
        details: { arguments: ['create', '--name', '--right', '--all-accounts'] },
        outcome: 'done',
        code: null,
      },
    ]);
  });

  it('forgets what is older than it is kept, and nothing younger', async () => {
    const pool = new Pool({ connectionString: database.connectionString });
    try {
      await pool.query(`
        with old as (
          insert into audit_log (position, at, author, act, details) overriding system value
          select -n, now() - interval '40 days', '{"kind":"secret","number":1}', 'old', '{}' from generate_series(1, 25) n
          returning position
        )
        insert into audit_outcomes (position, code, details) select position, null, '{}' from old where position % 2 = 0`);
      const log = createAuditLog(pool);
      const kept = async () => Number((await pool.query('select count(*) from audit_log')).rows[0].count);
      const all = await kept();
      expect(await log.forget(50, 10)).toBe(0);
      expect(await log.forget(35, 10)).toBe(10);
      expect(await log.forget(35, 10)).toBe(10);
      expect(await log.forget(35, 10)).toBe(5);
      expect(await log.forget(35, 10)).toBe(0);
      expect(await kept()).toBe(all - 25);
      await expect(log.forget(-1, 1000)).rejects.toThrow('the audit log is never changed');
      expect(await kept()).toBe(all - 25);
    } finally {
      await pool.end();
    }
  });
});
