/** The security log of a service and of a command beside it: each act with its author, and never a secret or the text of a mail. */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../helpers/command-process.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import {
  disposeService,
  startServiceProcess,
  TEST_SECRET,
  type ServiceProcess,
} from '../helpers/service-process.ts';

const OTHER_SECRET = 'other-secret-of-32-characters-123';
const BODY = 'the text of a confidential email';

let database: TestDatabase;
let service: ServiceProcess;

beforeAll(async () => {
  database = await createTestDatabase();
  service = await startServiceProcess({
    env: {
      DATABASE_URL: database.connectionString,
      API_SECRET: `${TEST_SECRET},${OTHER_SECRET}`,
    },
  });
});
afterAll(async () => {
  await disposeService(service);
  await database.drop();
});

const ACTOR = { by: 'http', address: '127.0.0.1', credential: 1 };

/** The service's events of that name so far, without the fields that every line has. */
function eventsOf(name: string): readonly Record<string, unknown>[] {
  return service.log.flatMap((line) => {
    const {
      level: _level,
      time: _time,
      msg: _msg,
      log,
      event,
      ...fields
    } = JSON.parse(line) as Record<string, unknown>;
    return log === 'security' && event === name ? [fields] : [];
  });
}

async function call(method: string, path: string, json?: unknown): Promise<Record<string, unknown>> {
  const response = await service.request(path, { method, ...(json === undefined ? {} : { json }) });
  return (await response.json()) as Record<string, unknown>;
}

const send = (fields: object = {}) =>
  call('POST', '/api/send', {
    to: 'ann@example.org',
    subject: 'a confidential subject',
    text_body: BODY,
    ...fields,
  });

describe('an operator who', () => {
  it('cancels and retries a send, is told with the state before and after', async () => {
    const { id } = await send({ send_at: new Date(Date.now() + 3_600_000).toISOString() });
    await call('POST', `/api/emails/${String(id)}/cancel`);
    await call('POST', `/api/emails/${String(id)}/cancel`);
    await call('POST', `/api/emails/${String(id)}/retry`);
    expect(eventsOf('send.cancelled')).toEqual([
      { actor: ACTOR, emailId: id, before: 'queued', after: 'cancelled' },
      { actor: ACTOR, emailId: id, before: 'cancelled', refused: 'not_cancellable' },
    ]);
    expect(eventsOf('send.retried')).toEqual([
      { actor: ACTOR, emailId: id, before: 'cancelled', after: 'queued' },
    ]);
  });

  it('suppresses an address and lifts it, with the other secret, is told, and so is the change itself', async () => {
    const path = '/api/suppressions/gone@example.org';
    await call('PUT', path, { note: 'a note about a person' });
    const headers = { authorization: `Bearer ${OTHER_SECRET}` };
    await service.request(path, { method: 'DELETE', headers });
    await service.request(path, { method: 'DELETE', headers });
    const manual = { reason: 'manual', since: expect.any(String) as string };
    const address = 'gone@example.org';
    expect(eventsOf('suppression.set')).toEqual([{ actor: ACTOR, address, before: null, after: manual }]);
    const other = { ...ACTOR, credential: 2 };
    expect(eventsOf('suppression.lifted')).toEqual([
      { actor: other, address, before: manual, after: null },
      { actor: other, address, before: null, refused: 'suppression_not_found' },
    ]);
    expect(eventsOf('suppression.changed')).toMatchObject([
      { address, before: null, after: 'manual' },
      { address, before: 'manual', after: null },
    ]);
  });

  it('registers the addresses of a customer, is told with the rules before and after', async () => {
    const path = '/api/customer/0b8f3f0e-0000-4000-8000-000000000001/addresses';
    await call('PUT', path, { addresses: ['a@example.net'], domains: [] });
    await call('PUT', path, { addresses: [], domains: ['example.net'] });
    expect(eventsOf('customer.registered')[1]).toEqual({
      actor: ACTOR,
      customerId: '0b8f3f0e-0000-4000-8000-000000000001',
      before: { companyId: null, addresses: ['a@example.net'], addressCount: 1, domains: [], domainCount: 0 },
      after: {
        companyId: null,
        addresses: [],
        addressCount: 0,
        domains: ['example.net'],
        domainCount: 1,
        relinked: { linked: 0, moved: 0, unlinked: 0 },
      },
    });
  });

  it('splits, moves and merges threads, is told from where to where', async () => {
    const { id: first, threadId } = await send();
    const { id: second } = await send({ thread_id: threadId });
    const split = await call('POST', `/api/thread/${String(threadId)}/split`, { email_ids: [second] });
    await call('POST', `/api/thread/${String(threadId)}/move`, { email_ids: [second] });
    const { threadId: other } = await send();
    await call('POST', `/api/thread/${String(threadId)}/merge`, { thread_id: other });
    const emails = { emailIds: [second], emailCount: 1 };
    const decided = { changed: true, decisionId: expect.any(String) as string };
    expect(eventsOf('thread.split')).toEqual([
      { actor: ACTOR, threadId, ...emails, after: { threadId: split['thread_id'], ...decided } },
    ]);
    expect(eventsOf('thread.emails_moved')).toEqual([
      {
        actor: ACTOR,
        threadId,
        ...emails,
        before: { [String(second)]: split['thread_id'] },
        after: { threadId, ...decided },
      },
    ]);
    expect(eventsOf('thread.merged')).toEqual([
      { actor: ACTOR, threadId, otherThreadId: other, after: { threadId, ...decided } },
    ]);
    expect(first).not.toBe(second);
  });

  it('retries a message that is not set aside, is told of the refusal', async () => {
    const id = '0b8f3f0e-0000-4000-8000-000000000002';
    await call('POST', `/api/quarantine/${id}/retry`);
    expect(eventsOf('quarantine.retried')).toEqual([
      { actor: ACTOR, quarantinedId: id, refused: 'quarantined_not_found' },
    ]);
  });

  it('starts a command, is told in the log of DATA_DIR, which only its owner can read', async () => {
    const env = { DATABASE_URL: database.connectionString };
    const { exitCode } = await runCommand(['rethread', '--dry-run'], { dataDir: service.dataDir, env });
    expect(exitCode).toBe(0);
    const file = join(service.dataDir, 'security.log');
    const lines = (await readFile(file, 'utf8')).trim().split('\n');
    const fields = { log: 'security', command: 'rethread', arguments: '--dry-run' };
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { ...fields, event: 'command.started', actor: { by: 'command', uid: process.getuid?.() } },
      { ...fields, event: 'command.ended', exitCode: 0 },
    ]);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });
});

it('no line of any log holds a secret, a wrong secret, a subject, a text or a note', async () => {
  await service.request('/api/emails', {
    headers: { authorization: 'Bearer a-wrong-secret-that-was-tried' },
  });
  await expect.poll(() => eventsOf('login.failed')).toHaveLength(1);
  expect(service.log.join('\n')).not.toMatch(/-secret-|confidential|note about/);
});
