/** Starting and stopping as an operator sees it, with the embedded database. */
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';

const MAIL = { to: 'ada@example.org', subject: 'Hallo', text_body: 'Guten Tag' };

const running: ServiceProcess[] = [];
const folders: string[] = [];

afterEach(async () => {
  for (const service of running.splice(0)) await service.stop();
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

async function start(dataDir: string, env: Record<string, string> = {}): Promise<ServiceProcess> {
  const service = await startServiceProcess({ dataDir, env });
  running.push(service);
  return service;
}

async function newDataDir(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'email-worker-start-'));
  folders.push(folder);
  return folder;
}

/** The text on standard error of a start that ends with code 1. Standard output, the log, then has no error. */
async function failToStart(env: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const dataDir = await newDataDir();
  const log: string[] = [];
  await expect(startServiceProcess({ dataDir, env, log })).rejects.toThrow('the service ended with 1');
  const lines = log.join('\n').trim().split('\n');
  return lines.filter((line) => !/^\{"level":[34]0,/.test(line)).filter((line) => line !== '');
}

async function send(service: ServiceProcess): Promise<{ id: string; threadId: string }> {
  const response = await service.request('/api/send', { json: MAIL });
  expect(response.status).toBe(200);
  return (await response.json()) as { id: string; threadId: string };
}

it('starts with nothing set, sends to the outbox, stops in order, and starts again with everything there', async () => {
  const dataDir = await newDataDir();
  const first = await start(dataDir);
  const { threadId } = await send(first);
  expect(await first.stop()).toBe(0);
  expect(JSON.parse(first.log.at(-1)!)).toMatchObject({ level: 30, msg: 'email-worker has stopped' });
  const second = await start(dataDir);
  const response = await second.request(`/api/thread/${threadId}`);
  expect(((await response.json()) as { emails: unknown[] }).emails).toHaveLength(1);
});

it('makes an API secret that only its owner can read, and keeps it', async () => {
  const dataDir = await newDataDir();
  const first = await start(dataDir, { API_SECRET: '' });
  const secret = (await readFile(path.join(dataDir, 'api-secret'), 'utf8')).trim();
  expect((await stat(path.join(dataDir, 'api-secret'))).mode & 0o077).toBe(0);
  expect(first.log.join('\n')).not.toContain(secret);
  await first.stop();
  const second = await start(dataDir, { API_SECRET: '' });
  const response = await fetch(`${second.url}/api/customer/00000000-0000-4000-8000-000000000000/emails`, {
    headers: { authorization: `Bearer ${secret}` },
  });
  expect(response.status).toBe(200);
});

it('starts after kill -9, taking over the database server, and has lost nothing', async () => {
  const dataDir = await newDataDir();
  const first = await start(dataDir);
  const sent = await Promise.all(Array.from({ length: 20 }, () => send(first)));
  await first.kill();
  const second = await start(dataDir);
  for (const { id } of sent) {
    expect(await (await second.request(`/api/emails/${id}`)).json()).toMatchObject({ id, state: 'sent' });
  }
});

it('refuses a second instance on the same data folder, naming the first', async () => {
  const dataDir = await newDataDir();
  const first = await start(dataDir);
  expect(await failToStart({ DATA_DIR: dataDir })).toEqual([
    `DATA_DIR ${dataDir} is in use by process ${first.process.pid}. Stop that process, or give this one a DATA_DIR of its own.`,
  ]);
});

it.each([
  ['PORT', '70000'],
  ['API_SECRET', 'short'],
  ['SMTP_URL', 'smtp://user:pa%zz@host'],
  ['MAIL_FROM', 'nobody'],
  ['DATABASE_URL', 'mysql://x'],
  ['BLOB_URL', 's3://user:hunter2hunter2@bucket/x'],
])('ends with a clear message that names %s when it is wrong, and shows no secret', async (name, value) => {
  const dataDir = await newDataDir();
  const failure = await startServiceProcess({ dataDir, env: { [name]: value } }).then(
    () => null,
    (error: unknown) => String(error),
  );
  expect(failure).toContain(name);
  expect(failure).not.toContain('hunter2');
});

it('says in one line that HOST is no address of this machine', async () => {
  expect(await failToStart({ HOST: '192.0.2.1' })).toEqual(['HOST: 192.0.2.1 is no address of this machine']);
});

describe('with a database that is there', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createTestDatabase();
  });
  afterEach(() => database.drop());

  it.each([
    ['PORT', '127.0.0.1', (port: number) => ({ PORT: String(port) })],
    ['PORT', '::1', (port: number) => ({ PORT: String(port), HOST: '::1' })],
    ['LMTP_LISTEN', '127.0.0.1', (port: number) => ({ LMTP_LISTEN: `127.0.0.1:${port}` })],
    ['SMTP_LISTEN', '127.0.0.1', (port: number) => ({ SMTP_LISTEN: `127.0.0.1:${port}` })],
  ])('says in one line that the port of %s on %s is taken', async (variable, host, envOf) => {
    const other = createServer();
    await once(other.listen(0, host), 'listening');
    const { port } = other.address() as AddressInfo;
    try {
      const lines = await failToStart({ ...envOf(port), DATABASE_URL: database.connectionString });
      const address = host === '::1' ? `[::1]:${port}` : `${host}:${port}`;
      expect(lines).toEqual([
        `${variable}: another process listens on ${address} already; stop it, or choose another port`,
      ]);
    } finally {
      other.close();
    }
  });

  it('refuses a database that a newer version has migrated, in one line', async () => {
    await migrateFurther(false);
    expect(await failToStart({ DATABASE_URL: database.connectionString })).toEqual([
      expect.stringMatching(/^The database was used by a newer version of email-worker/),
    ]);
  });

  it('starts on one that a newer version has only added to, as while instances are updated one by one', async () => {
    await migrateFurther(true);
    const service = await startServiceProcess({ env: { DATABASE_URL: database.connectionString } });
    try {
      const sent = await service.request('/api/send', {
        json: { to: 'ada@example.org', subject: 'Hallo', text_body: 'Guten Tag' },
      });
      expect(sent.status).toBe(200);
    } finally {
      await disposeService(service);
    }
  });

  const migrateFurther = (letsOlderRun: boolean) =>
    query(database.connectionString, 'insert into schema_migrations (name, lets_older_run) values ($1, $2)', [
      '9999_of_the_future',
      letsOlderRun,
    ]);
});
