/** An external PostgreSQL: the server of the Debian package, started in a temporary folder. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { findFreePort } from './free-port.ts';
import { query } from './query.ts';
import { skipFor } from './skip.ts';
import { waitUntil } from './wait-until.ts';

const INSTALLED = '/usr/lib/postgresql';

export interface ExternalPostgres {
  /** For DATABASE_URL; the database is empty. */
  readonly url: string;
  start(): Promise<void>;
  /** Ends the server at once, sessions included. */
  stop(): Promise<void>;
  dispose(): Promise<void>;
}

/** For `describe.skipIf`; see skip.ts. */
export const skipWithoutExternalPostgres = (): boolean =>
  skipFor(
    'tests with an external PostgreSQL',
    findBinaries() === null ? `no PostgreSQL is installed below ${INSTALLED}` : null,
  );

/** The folder of the oldest installed version. */
export function findBinaries(): string | null {
  const versions = existsSync(INSTALLED) ? readdirSync(INSTALLED) : [];
  const oldest = versions.map(Number).sort((a, b) => a - b)[0];
  return oldest === undefined ? null : path.join(INSTALLED, String(oldest), 'bin');
}

/** PostgreSQL refuses to run as root; the package creates a user for it. */
export function identity(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const [, uid, gid] = /^postgres:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8')) ?? [];
  return { uid: Number(uid), gid: Number(gid) };
}

export interface ExternalPostgresOptions {
  /** Such as `-c`, `fsync=off`. */
  readonly settings?: readonly string[];
  /** Environment variables of the server, such as those of a `FakeClock`. */
  readonly env?: Readonly<Record<string, string>>;
}

export async function createExternalPostgres({
  settings = [],
  env = {},
}: ExternalPostgresOptions = {}): Promise<ExternalPostgres> {
  const binaries = findBinaries();
  if (binaries === null) throw new Error('no PostgreSQL is installed');
  const user = identity();
  const folder = await mkdtemp(path.join(tmpdir(), 'external-postgres-'));
  if (user.uid !== undefined && user.gid !== undefined) await chown(folder, user.uid, user.gid);
  const data = path.join(folder, 'data');
  await promisify(execFile)(
    path.join(binaries, 'initdb'),
    ['-D', data, '-U', 'mail', '--auth=trust', '--encoding=UTF8', '--no-sync'],
    { ...user, cwd: folder },
  );
  const port = await findFreePort();
  const admin = `postgres://mail@127.0.0.1:${port}/postgres`;
  const server = createServerProcess({ binaries, folder, port, url: admin, settings, env });
  await server.start();
  await query(admin, 'create database email');
  return { ...server, url: `postgres://mail@127.0.0.1:${port}/email` };
}

export interface ServerProcessOptions {
  readonly binaries: string;
  /** Contains the server's data in `data`, and its socket. */
  readonly folder: string;
  readonly port: number;
  /** URL of a database in it. */
  readonly url: string;
  readonly settings: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** A server that has not been started yet. */
export function createServerProcess({
  binaries,
  folder,
  port,
  url,
  settings,
  env = {},
}: ServerProcessOptions): Omit<ExternalPostgres, 'url'> {
  let server: ChildProcess | null = null;
  const stop = async () => {
    if (server === null) return;
    const exited = once(server, 'exit');
    server.kill('SIGQUIT');
    await exited;
    server = null;
  };
  return {
    async start() {
      server = spawn(
        path.join(binaries, 'postgres'),
        ['-D', path.join(folder, 'data'), '-p', String(port), '-k', folder, ...settings],
        { ...identity(), cwd: folder, stdio: 'ignore', env: { ...process.env, ...env } },
      );
      await waitUntil('PostgreSQL answers', () =>
        query(url, 'select 1').then(
          () => true,
          () => false,
        ),
      );
    },
    stop,
    async dispose() {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
