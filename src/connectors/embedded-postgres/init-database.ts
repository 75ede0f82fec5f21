/** Creates whatever is missing: the data directory (`initdb`) and the service's database in it. */
import { randomBytes } from 'node:crypto';
import { readFile, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';
import { syncFolder } from './file-system.ts';
import { describe, run } from './identity.ts';
import { type Setup, isInitialised, rememberInitialised } from './location.ts';
import { INITDB_ARGUMENTS } from './settings.ts';

/** How to reach the database, as `pg` wants it. There is no password; see settings.ts. */
export interface EmbeddedConnection {
  /** The folder of the Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
}

/** In ms: for the connection, and again for each query. */
const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Creates the data directory if there is none, and checks its version if there is one. It is filled under another name, written to the disk
 * by `initdb` and renamed last, so that it is either complete or absent, whatever happens meanwhile.
 *
 * @param signal ends an `initdb` under way
 */
export async function initDataFolder(
  { location, identity, binaries }: Setup,
  signal?: AbortSignal,
): Promise<void> {
  if (await isInitialised(location)) {
    const version = (await readFile(join(location.dataFolder, 'PG_VERSION'), 'utf8')).trim();
    if (version !== binaries.major) {
      throw new EmbeddedPostgresError(
        `the data in ${location.dataFolder} is of PostgreSQL ${version}, and this is PostgreSQL ${binaries.major}`,
      );
    }
    return;
  }
  await removeUnfinished(location.folder);
  const unfinished = join(location.folder, `${UNFINISHED}${randomBytes(6).toString('hex')}`);
  try {
    await run(identity, binaries.initdb, [...INITDB_ARGUMENTS, `--pgdata=${unfinished}`], signal);
  } catch (cause) {
    await removeUnfinished(location.folder);
    throw new EmbeddedPostgresError(`initdb failed as ${identity.name}: ${describe(cause)}`, { cause });
  }
  await rename(unfinished, location.dataFolder);
  await syncFolder(location.folder);
  await rememberInitialised(location);
}

/** Creates the service's database when it is missing. Throws when the server refuses the connection. */
export async function ensureDatabase(connection: EmbeddedConnection): Promise<void> {
  const client = new Client({
    ...connection,
    database: 'postgres',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: CONNECT_TIMEOUT_MS,
  });
  // A broken connection also rejects the query under way; without a listener the event would end the process.
  client.on('error', () => {});
  await client.connect();
  try {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [
      connection.database,
    ]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${connection.database}`);
  } finally {
    await client.end();
  }
}

const UNFINISHED = 'data-unfinished-';

/** Removes the remains of starts that were killed. Remains that can't be removed only take up space; the next `initdb` tries again. */
async function removeUnfinished(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.startsWith(UNFINISHED));
  // An initdb that was left behind may still be writing there; it then fails and ends.
  const options = { recursive: true, force: true, maxRetries: 5, retryDelay: 50 };
  await Promise.allSettled(names.map((name) => rm(join(folder, name), options)));
}
