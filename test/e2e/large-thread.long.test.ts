/** Threads larger than the memory that the service should ever use. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import {
  disposeService,
  startServiceProcess,
  TEST_SECRET,
  type ServiceProcess,
} from '../helpers/service-process.ts';
import { storeLargeThread } from '../helpers/stored-emails.ts';
import { createTestPool } from '../helpers/test-pool.ts';

const MIB = 1024 * 1024;
const EMAILS = 350;
const TEXT_BYTES = 1_000_000;
/** Above the memory after a first reading of 20 MB. Measured: 104 MiB. Held in memory, the answer would be 350 MB. */
const MAX_GROWTH_BYTES = 150 * MIB;
const CUSTOMER = '0190b2a0-0000-7000-8000-000000000004';

let database: TestDatabase;
let pool: pg.Pool;
let service: ServiceProcess;
let threadId: string;
let smallThreadId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createTestPool(database);
  // Noise does not compress, and trying to takes long.
  await pool.query('alter table emails alter column text_body set storage external');
  threadId = await storeLargeThread(pool, { count: EMAILS, bytes: TEXT_BYTES });
  await pool.query(`update emails set customer_id = $2, customer_source = 'explicit' where thread_id = $1`, [
    threadId,
    CUSTOMER,
  ]);
  smallThreadId = await storeLargeThread(pool, { count: 5, bytes: 2000 });
  service = await startServiceProcess({ env: { DATABASE_URL: database.connectionString } });
}, 400_000);
afterAll(async () => {
  await disposeService(service);
  await pool.end();
  await database.drop();
});

/** The highest resident memory so far. */
function memory(): number {
  const status = readFileSync(`/proc/${service.process.pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

const open = (id: string) => openPath(`/api/thread/${id}`);

async function openPath(path: string): Promise<IncomingMessage> {
  const request = httpRequest(service.url + path, {
    headers: { authorization: `Bearer ${TEST_SECRET}` },
  });
  request.end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  expect(response.statusCode).toBe(200);
  return response;
}

/** Reads the emails of an answer as they arrive: their identifiers and the digest of each text. */
async function* readEmails(response: AsyncIterable<Buffer>): AsyncGenerator<{ id: string; digest: string }> {
  let pending = '';
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for await (const bytes of response) {
    pending += decoder.decode(bytes, { stream: true });
    for (;;) {
      const email = firstEmail(pending);
      if (!email) break;
      pending = pending.slice(email.end);
      const { id, text_body } = JSON.parse(email.json) as { id: string; text_body: string };
      // A copy: a slice of a string keeps the whole string in memory.
      yield { id: Buffer.from(id).toString(), digest: createHash('md5').update(text_body).digest('hex') };
    }
  }
  expect(pending).toMatch(/^\](?:,"next_cursor":"[\w-]+")?\}$/);
}

/** The first whole email in a piece of an answer, with the offset after it. The long text stands before the attachments. */
function firstEmail(pending: string): { json: string; end: number } | undefined {
  const start = pending.indexOf('{"id"');
  const attachments = pending.indexOf(ATTACHMENTS, Math.max(start, 0));
  if (start < 0 || attachments < 0) return undefined;
  // Lists add fields after the attachments, some of them objects: the email ends at the first brace that makes it complete JSON.
  const rest = attachments + ATTACHMENTS.length;
  for (let brace = pending.indexOf('}', rest); brace >= 0; brace = pending.indexOf('}', brace + 1)) {
    if (isJson(`{"-":0${pending.slice(rest, brace + 1)}`))
      return { json: pending.slice(start, brace + 1), end: brace + 1 };
  }
  return undefined;
}

const ATTACHMENTS = '"email_attachments":[]';

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

async function expectedEmails(ids: readonly string[]) {
  const { rows } = await pool.query<{ id: string; digest: string }>(
    'select id, md5(text_body) as digest from emails where thread_id = any($1) order by date, id',
    [ids],
  );
  return rows;
}

/** Sessions of the service that hold a snapshot, a transaction or a lock. */
async function busySessions(): Promise<number> {
  const { rows } = await pool.query<{ n: number }>(
    `select count(*)::int as n from pg_stat_activity
    where application_name = 'email-worker' and pid <> pg_backend_pid()
      and datname = current_database() and (state <> 'idle' or backend_xmin is not null)`,
  );
  return rows[0]!.n;
}

it.skipIf(process.platform !== 'linux')(
  'take little memory, as do lists, while small ones are read beside them',
  async () => {
    const warmUp = await storeLargeThread(pool, { count: 20, bytes: TEXT_BYTES });
    for await (const email of readEmails(await open(warmUp))) expect(email.id).toHaveLength(36);
    const before = memory();

    const reading = new AbortController();
    const small = (async () => {
      let count = 0;
      while (!reading.signal.aborted) {
        const response = await service.request(`/api/thread/${smallThreadId}`);
        expect(((await response.json()) as { emails: unknown[] }).emails).toHaveLength(5);
        count += 1;
      }
      return count;
    })();
    const found = [];
    for await (const email of readEmails(await open(threadId))) found.push(email);
    reading.abort();
    const listed = [];
    for (const path of ['/api/emails?limit=50', `/api/customer/${CUSTOMER}/emails?limit=50`]) {
      for await (const email of readEmails(await openPath(path))) listed.push(email);
    }

    expect(await small).toBeGreaterThan(10);
    expect(found).toEqual(await expectedEmails([threadId]));
    expect(listed.slice(50)).toEqual(found.toReversed().slice(0, 50));
    expect(listed).toHaveLength(100);
    expect(memory() - before).toBeLessThan(MAX_GROWTH_BYTES);
  },
  400_000,
);

it('a reader that pauses holds nothing of the database, and gets every email once though the thread is merged meanwhile', async () => {
  // Its emails are older than, between and newer than those of the other thread.
  const own = { count: 100, bytes: TEXT_BYTES, from: new Date('2026-01-02T00:00:00Z') };
  const other = { count: 100, bytes: 100, from: new Date('2026-01-04T00:30:00Z') };
  const [ownId, otherId] = [await storeLargeThread(pool, own), await storeLargeThread(pool, other)];
  const ownEmails = await expectedEmails([ownId]);
  const response = await open(ownId);
  const emails = readEmails(response);
  const found = [(await emails.next()).value as { id: string; digest: string }];
  await expect.poll(busySessions).toBe(0);

  // The other thread is older, so it survives.
  await pool.query(`update email_threads set created_at = created_at - interval '1 day' where id = $1`, [
    otherId,
  ]);
  const merged = await service.request(`/api/thread/${otherId}/merge`, { json: { thread_id: ownId } });
  expect(merged.status).toBe(200);

  for await (const email of emails) found.push(email);
  const ids = found.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const ownIds = new Set(ownEmails.map(({ id }) => id));
  expect(found.filter(({ id }) => ownIds.has(id))).toEqual(ownEmails);
  const all = await expectedEmails([otherId, ownId]);
  expect(all).toHaveLength(200);
  expect(all.map(({ id }) => id).filter((id) => ids.includes(id))).toEqual(ids);
});

it('a reader that leaves ends the work', async () => {
  const large = await storeLargeThread(pool, { count: 50, bytes: TEXT_BYTES });
  const readers = await Promise.all(Array.from({ length: 20 }, () => open(large)));
  for (const reader of readers) reader.destroy();
  await expect.poll(busySessions).toBe(0);
  // All slots are free again.
  const again = await Promise.all(Array.from({ length: 20 }, () => open(large)));
  for (const reader of again) reader.destroy();
});
