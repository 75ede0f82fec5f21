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
import { waitUntil } from './wait-until.ts';

const INSTALLED = '/usr/lib/postgresql';

export interface ExternalPostgres {
  /** For DATABASE_URL; the database is empty. */
  readonly url: string;
  start(): Promise<void>;
  /** Ends it at once, sessions included. */
  stop(): Promise<void>;
  dispose(): Promise<void>;
}

/** For `it.skipIf`: true when there is none, after saying why. With REQUIRE_E2E=1 that is an error instead. */
export function skipWithoutExternalPostgres(): boolean {
  if (findBinaries() !== null) return false;
  const reason = `no PostgreSQL is installed below ${INSTALLED}`;
  if (process.env.REQUIRE_E2E === '1') throw new Error(`REQUIRE_E2E=1, but ${reason}`);
  process.stderr.write(`skipped: tests with an external PostgreSQL: ${reason}\n`);
  return true;
}

/** The folder of the oldest that is installed. */
export function findBinaries(): string | null {
  const versions = existsSync(INSTALLED) ? readdirSync(INSTALLED) : [];
  const oldest = versions.map(Number).sort((a, b) => a - b)[0];
  return oldest === undefined ? null : path.join(INSTALLED, String(oldest), 'bin');
}

/** PostgreSQL refuses to run as root; the package makes a user for it. */
export function identity(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const [, uid, gid] = /^postgres:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8')) ?? [];
  return { uid: Number(uid), gid: Number(gid) };
}

/** @param settings such as `-c fsync=off` */
export async function createExternalPostgres(...settings: readonly string[]): Promise<ExternalPostgres> {
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
  let server: ChildProcess | null = null;

  const postgres: ExternalPostgres = {
    url: `postgres://mail@127.0.0.1:${port}/email`,
    async start() {
      server = spawn(
        path.join(binaries, 'postgres'),
        ['-D', data, '-p', String(port), '-k', folder, ...settings],
        {
          ...user,
          cwd: folder,
          stdio: 'ignore',
        },
      );
      await waitUntil('PostgreSQL answers', () =>
        query(admin, 'select 1').then(
          () => true,
          () => false,
        ),
      );
    },
    async stop() {
      if (server === null) return;
      const exited = once(server, 'exit');
      server.kill('SIGQUIT');
      await exited;
      server = null;
    },
    async dispose() {
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
  await postgres.start();
  await query(admin, 'create database email');
  return postgres;
}
