/** Finds the embedded server that another process runs for a DATA_DIR, to use it beside that process. */
import { realpath } from 'node:fs/promises';
import type { EmbeddedConnection } from './init-database.ts';
import { findLocation } from './location.ts';
import { readPidFile } from './postmaster.ts';
import { DATABASE, USER } from './settings.ts';
import { SOCKET_PORT } from './socket-folder.ts';

/**
 * null while no server takes connections, as far as its pid file shows: a server that was killed leaves one behind. Throws
 * `EmbeddedPostgresError`, or the file system's error when this user may not look.
 */
export async function findEmbeddedPostgres(dataDir: string): Promise<EmbeddedConnection | null> {
  const location = await findLocation(await realpath(dataDir));
  if (location === null) return null;
  const pidFile = await readPidFile(location.dataFolder);
  if (pidFile === null || pidFile.status !== 'ready' || pidFile.socketFolder === null) return null;
  return { host: pidFile.socketFolder, port: SOCKET_PORT, user: USER, database: DATABASE };
}
