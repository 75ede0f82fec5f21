/** SIGTERM before the service is ready, whatever its start waits for: the service ends, and leaves nothing running. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readPidFile } from '../../src/connectors/embedded-postgres/postmaster.ts';
import { watchPostgres } from '../crash/stream-watchers.ts';
import { TcpProxy } from '../crash/tcp-proxy.ts';
import { createEmptyDatabase, createTestDatabase } from '../helpers/postgres.ts';
import { processesOf } from '../helpers/processes-of.ts';
import { query } from '../helpers/query.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const MAIN = fileURLToPath(new URL('../../dist/bundle/main.js', import.meta.url));
/** Longer than a busy machine needs, and shorter than the waits of the start. */
const PATIENCE_MS = 30_000;
const LONG_MS = '600000';
const TEST_TIMEOUT_MS = 120_000;

let folder: string;
let service: ChildProcess | null;
let output: string;
let cleanups: (() => Promise<unknown>)[];

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'email-worker-starting-'));
  service = null;
  output = '';
  cleanups = [];
});
afterEach(async () => {
  service?.kill('SIGKILL');
  for (const cleanup of cleanups) await cleanup();
  for (const line of processesOf(folder)) process.kill(Number.parseInt(line, 10), 'SIGKILL');
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

function start(env: Readonly<Record<string, string>> = {}): ChildProcess {
  const child = spawn(process.execPath, [MAIN], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'] ?? '',
      PORT: '0',
      DATA_DIR: path.join(folder, 'data'),
      DATABASE_CONNECT_TIMEOUT_MS: LONG_MS,
      DATABASE_STATEMENT_TIMEOUT_MS: LONG_MS,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  service = child;
  return child;
}

/** A database without tables, and a client that holds something that the start waits for. */
async function startBlocked(
  ...statements: readonly string[]
): Promise<{ connectionString: string; other: Client }> {
  const { connectionString, drop } = await createEmptyDatabase();
  cleanups.push(drop);
  const other = new Client({ connectionString });
  other.on('error', () => undefined);
  await other.connect();
  cleanups.unshift(() => other.end());
  for (const statement of statements) await other.query(statement);
  return { connectionString, other };
}

/** Waits until a session of the database fulfils the condition. */
async function waitForSession(connectionString: string, condition: string): Promise<void> {
  const sessions = `select 1 from pg_stat_activity where datname = current_database() and ${condition}`;
  await waitUntil('it waits', async () => (await query(connectionString, sessions)).length > 0, PATIENCE_MS);
}

async function terminate(child: ChildProcess): Promise<void> {
  const closed = once(child, 'close');
  child.kill('SIGTERM');
  await Promise.race([
    closed,
    new Promise((_resolve, reject) => {
      setTimeout(() => reject(new Error(`it does not end:\n${output}`)), PATIENCE_MS).unref();
    }),
  ]);
}

async function expectStopped(child: ChildProcess): Promise<void> {
  await terminate(child);
  expect([child.exitCode, child.signalCode]).toEqual([0, null]);
  expect(output).toContain('email-worker has stopped');
  expect(output).not.toContain('"level":50');
  await waitUntil('no process is left', () => processesOf(folder).length === 0);
}

/** To the database; falls silent for good when a client sends that text. */
function createLineSilentAt(text: string): { readonly line: TcpProxy; readonly isSilent: () => boolean } {
  let isSilent = false;
  const line: TcpProxy = new TcpProxy(() => {
    const { fromClient, fromServer } = watchPostgres();
    return {
      fromClient(chunk) {
        if (chunk.includes(text)) {
          isSilent = true;
          line.silence();
        }
        return fromClient(chunk);
      },
      fromServer,
    };
  });
  return { line, isSilent: () => isSilent };
}

/** Accepts connections and passes them to `onConnection`. */
async function startListener(onConnection: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    onConnection(socket);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  cleanups.push(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `postgres://someone@127.0.0.1:${(server.address() as AddressInfo).port}/mail`;
}

describe.skipIf(process.platform !== 'linux')('a start that waits', () => {
  it(
    'for a database that takes connections and says nothing ends on SIGTERM',
    async () => {
      let connections = 0;
      const url = await startListener(() => (connections += 1));
      const child = start({ DATABASE_URL: url });
      await waitUntil('it waits', () => connections > 0, PATIENCE_MS);
      await expectStopped(child);
    },
    TEST_TIMEOUT_MS,
  );

  it(
    'for a database that is not there, between two tries, ends on SIGTERM',
    async () => {
      const url = await startListener((socket) => socket.resetAndDestroy());
      const child = start({ DATABASE_URL: url });
      await waitUntil('it waits', () => output.includes('the database is not there yet'), PATIENCE_MS);
      await expectStopped(child);
    },
    TEST_TIMEOUT_MS,
  );

  it(
    'for the migration of another process ends on SIGTERM, and leaves the database as it was',
    async () => {
      // The lock of migrate.ts.
      const { connectionString } = await startBlocked(`select pg_advisory_lock(${0x65_6d_6c_77})`);
      const child = start({ DATABASE_URL: connectionString });
      await waitForSession(connectionString, `wait_event = 'advisory'`);
      await expectStopped(child);
      const tables = `select 1 from information_schema.tables where table_name = 'emails'`;
      expect(await query(connectionString, tables)).toEqual([]);
    },
    TEST_TIMEOUT_MS,
  );

  it(
    'for a statement of its migrations ends on SIGTERM, which takes them back, and the next start does them',
    async () => {
      // The migration waits for this table's name.
      const { connectionString, other } = await startBlocked(
        'create schema email_worker',
        'begin',
        'create table email_worker.emails (id int)',
      );
      const child = start({ DATABASE_URL: connectionString });
      await waitForSession(connectionString, `wait_event_type = 'Lock' and query ilike '%create table%'`);
      await expectStopped(child);
      await other.query('rollback');
      const again = start({ DATABASE_URL: connectionString });
      await waitUntil('it is ready', () => output.includes('email-worker is listening'), PATIENCE_MS);
      await expectStopped(again);
    },
    TEST_TIMEOUT_MS,
  );

  // Parts of statements: nothing can be under way at the first, and all loops run at the second.
  it.each(['look_at_clock', 'from session_clock'])(
    'for a database that falls silent at "%s" ends on SIGTERM',
    async (text) => {
      const { connectionString, drop } = await createTestDatabase();
      cleanups.push(drop);
      const { line, isSilent } = createLineSilentAt(text);
      const port = await line.start();
      cleanups.unshift(() => line.stop());
      const socket = new URL(connectionString);
      line.target = { path: `${socket.searchParams.get('host')}/.s.PGSQL.${socket.port}` };
      const child = start({
        DATABASE_URL: `postgres://${socket.username}@127.0.0.1:${port}${socket.pathname}`,
        SHUTDOWN_TIMEOUT_MS: '3000',
      });
      await waitUntil('it waits', isSilent, PATIENCE_MS);
      await terminate(child);
      expect(output).not.toContain('email-worker is listening');
      expect([child.exitCode, child.signalCode]).toEqual([0, null]);
    },
    TEST_TIMEOUT_MS,
  );

  it(
    'for initdb ends on SIGTERM, and leaves nothing half made',
    async () => {
      const child = start();
      const postgres = path.join(folder, 'data', 'postgres');
      await waitUntil(
        'initdb runs',
        async () =>
          existsSync(postgres) &&
          (await readdir(postgres)).some((name) => name.startsWith('data-unfinished-')),
        PATIENCE_MS,
      );
      await expectStopped(child);
      expect(await readdir(postgres)).toEqual(['run']);
    },
    TEST_TIMEOUT_MS,
  );

  it(
    'for its own PostgreSQL server ends on SIGTERM, and takes that along',
    async () => {
      const child = start();
      await waitUntil(
        'the server is there',
        () => existsSync(path.join(folder, 'data', 'postgres', 'data', 'postmaster.pid')),
        PATIENCE_MS,
      );
      await expectStopped(child);
    },
    TEST_TIMEOUT_MS,
  );

  it(
    'for a PostgreSQL server that can not even end is over when SHUTDOWN_TIMEOUT_MS is, with code 0 as it served nothing',
    async () => {
      const child = start({ SHUTDOWN_TIMEOUT_MS: '1000' });
      const data = path.join(folder, 'data', 'postgres', 'data');
      await waitUntil('the server is there', async () => (await readPidFile(data)) !== null, PATIENCE_MS);
      process.kill((await readPidFile(data))?.pid ?? 0, 'SIGSTOP');
      await terminate(child);
      expect(output).toContain('SHUTDOWN_TIMEOUT_MS; email-worker ends at once');
      // On a slow machine it may have served before the server stood still.
      expect(child.exitCode).toBe(output.includes('email-worker is listening') ? 1 : 0);
    },
    TEST_TIMEOUT_MS,
  );
});
