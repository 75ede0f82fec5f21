/**
 * A real PgBouncer in transaction mode before a PostgreSQL server: few sessions for many clients; each transaction gets the next free one.
 */
import { spawn } from 'node:child_process';
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client } from 'pg';
import { identity } from './external-postgres.ts';
import { findFreePort } from './free-port.ts';
import { skipWithout } from './skip.ts';
import { waitUntil } from './wait-until.ts';

const PROGRAM = '/usr/sbin/pgbouncer';

export interface PgBouncer {
  /** Like `url` of the server, but through PgBouncer. */
  readonly url: string;
  /** Ends PgBouncer at once, connections included. */
  stop(): Promise<void>;
}

/** For `describe.skipIf`; see skip.ts. */
export const skipWithoutPgBouncer = (): boolean => skipWithout('tests with PgBouncer', PROGRAM);

export interface PgBouncerOptions {
  /** Number of sessions for each database. */
  readonly sessions?: number;
  readonly mode?: 'transaction' | 'session';
  /** How long an unused session is kept. Default: 10, because each database of a run has its own sessions. */
  readonly idleSeconds?: number;
}

/** @param url of a server that trusts its clients; its other databases are reached by name */
export async function startPgBouncer(
  url: string,
  { sessions = 3, mode = 'transaction', idleSeconds = 10 }: PgBouncerOptions = {},
): Promise<PgBouncer> {
  const server = new URL(url);
  const port = await findFreePort();
  const folder = await mkdtemp(path.join(tmpdir(), 'pgbouncer-'));
  const file = path.join(folder, 'pgbouncer.ini');
  await writeFile(
    file,
    `[databases]
* = host=${server.hostname} port=${server.port} user=${server.username}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = ${sessions}
max_client_conn = 1000
; A client gets another session than the last time wherever it can.
server_round_robin = 1
server_idle_timeout = ${idleSeconds}
`,
  );
  const user = identity();
  if (user.uid !== undefined && user.gid !== undefined) await chown(folder, user.uid, user.gid);
  const child = spawn(PROGRAM, ['--quiet', file], {
    ...user,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let output = '';
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const exited = once(child, 'exit');
  const end = () => void child.kill('SIGKILL');
  process.once('exit', end);

  const through = new URL(url);
  through.hostname = '127.0.0.1';
  through.port = String(port);
  await waitUntil('PgBouncer answers', () => {
    if (child.exitCode !== null) throw new Error(`PgBouncer ended: ${output}`);
    return answers(through.href);
  });
  return {
    url: through.href,
    async stop() {
      process.off('exit', end);
      // The effect of the other signals depends on the version.
      child.kill('SIGKILL');
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function answers(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end();
  }
}
