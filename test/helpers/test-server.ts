/**
 * The PostgreSQL server of a test run: one for all test files, started when the first of them asks for it. It runs in the main process of
 * Vitest; the files ask through a Unix socket (`requestTestServer`), so that a run of unit tests alone starts none.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { migrateToLatest } from '../../src/platform/db/migrate.ts';
import { createPool } from '../../src/platform/db/pool.ts';
import { urlOfEmbedded } from './embedded-database.ts';
import { createExternalPostgres } from './external-postgres.ts';
import { startPgBouncer } from './pgbouncer.ts';
import { query } from './query.ts';
import { QUICK, startQuickPostgres } from './quick-postgres.ts';
import { silentLogger } from './silent-logger.ts';
import { makeTempFolder } from './temp-folder.ts';

/** A running server with a migrated template, for `pg`. */
export interface TestServer {
  /** Address of a database from which others can be created and dropped. */
  readonly adminUrl: string;
  /** The same through PgBouncer, if the service is tested with it; otherwise null. */
  readonly pooledUrl: string | null;
  /** Name of the template. */
  readonly template: string;
  /** Prefix of the names of this run's databases. */
  readonly prefix: string;
}

type Answer = TestServer | { readonly failed: string };

/** Offers the server at the path of a Unix socket. `stop` ends it, and drops the databases that the run left in an external one. */
export async function offerTestServer(): Promise<{ readonly path: string; stop(): Promise<void> }> {
  const folder = await makeTempFolder();
  const path = join(folder.path, 'ask');
  const cleanups: (() => Promise<void>)[] = [];
  let server: Promise<Answer> | null = null;

  const listener = createServer((socket) => {
    socket.on('error', () => {});
    server ??= startServer(folder.path, cleanups).catch((error: unknown) => ({ failed: String(error) }));
    void server.then((answer) => socket.end(JSON.stringify(answer)));
  });
  listener.listen(path);
  await once(listener, 'listening');
  return {
    path,
    async stop() {
      listener.close();
      await server;
      for (const cleanup of cleanups.toReversed()) await cleanup();
      await folder.remove();
    },
  };
}

/** Asks for the server; the first call starts it. */
export async function requestTestServer(path: string): Promise<TestServer> {
  const answer = JSON.parse(await text(connect(path))) as Answer;
  if ('failed' in answer) throw new Error(`there is no PostgreSQL server for the tests: ${answer.failed}`);
  return answer;
}

/** The address of another database of the same server. */
export function withDatabase(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
}

async function startServer(folder: string, cleanups: (() => Promise<void>)[]): Promise<TestServer> {
  const { adminUrl, pooledUrl } = await startServers(folder, cleanups);
  // Several runs may use one external server at the same moment.
  const prefix = `email_worker_${randomBytes(4).toString('hex')}_`;
  const template = `${prefix}template`;
  cleanups.push(() => dropAll(adminUrl, prefix));
  await query(adminUrl, `create database ${template}`);
  const pool = createPool({
    connection: withDatabase(adminUrl, template),
    maxConnections: 2,
    connectTimeoutMs: 10_000,
    statementTimeoutMs: 30_000,
    logger: silentLogger,
  });
  try {
    await migrateToLatest(pool);
  } finally {
    await pool.end();
  }
  return { adminUrl, pooledUrl, template, prefix };
}

async function startServers(
  folder: string,
  cleanups: (() => Promise<void>)[],
): Promise<Pick<TestServer, 'adminUrl' | 'pooledUrl'>> {
  if (process.env['TEST_POOLER'] === '1') {
    const server = await createExternalPostgres({ settings: [...QUICK, '-c', 'max_connections=300'] });
    cleanups.push(() => server.dispose());
    const pooler = await startPgBouncer(server.url);
    cleanups.push(() => pooler.stop());
    return { adminUrl: server.url, pooledUrl: pooler.url };
  }
  const adminUrl = process.env['TEST_DATABASE_URL'] ?? (await startEmbedded(folder, cleanups));
  return { adminUrl, pooledUrl: null };
}

async function startEmbedded(folder: string, cleanups: (() => Promise<void>)[]): Promise<string> {
  const server = await startQuickPostgres(join(folder, 'data'));
  cleanups.push(() => server.stop());
  return urlOfEmbedded(server.connection);
}

async function dropAll(adminUrl: string, prefix: string): Promise<void> {
  const rows = await query(adminUrl, `select datname from pg_database where starts_with(datname, $1)`, [
    prefix,
  ]);
  for (const { datname } of rows) await query(adminUrl, `drop database ${String(datname)} with (force)`);
}
