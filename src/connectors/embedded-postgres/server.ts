/**
 * A real PostgreSQL server without any set-up, for when there is no DATABASE_URL. The binaries come with npm; the data is in DATA_DIR; the
 * only way in is a private Unix socket. Unix systems only.
 *
 * There is one server per DATA_DIR: the caller must hold the lock of DATA_DIR.
 */
import { mkdir, realpath } from 'node:fs/promises';
import type { Logger } from '../../platform/base/basics.ts';
import { findBinaries } from './binaries.ts';
import { type EmbeddedConnection, ensureDatabase, initDataFolder } from './init-database.ts';
import { chooseLocation, prepareLocation } from './location.ts';
import { createServerLog } from './server-log.ts';
import { ServerProcess } from './server-process.ts';
import { DATABASE, USER, serverArguments } from './settings.ts';
import { SOCKET_PORT, chooseSocketFolder } from './socket-folder.ts';

export interface EmbeddedPostgresOptions {
  /** DATA_DIR. Created when missing, readable by its owner only. */
  readonly dataDir: string;
  readonly logger: Logger;
  /**
   * Parent of the database's folder when root runs the service and no other user can enter DATA_DIR; see location.ts.
   * Default `/var/lib/email-worker`.
   */
  readonly fallbackFolder?: string;
  /** Ends a start that is under way, which stops everything that it began and throws the reason. */
  readonly signal?: AbortSignal;
  /** Repeats the first connection while the server does not answer in time. Default: there is one attempt. */
  readonly patiently?: (step: () => Promise<void>) => Promise<void>;
}

export interface EmbeddedPostgres {
  /** Stays the same when the server is restarted. */
  readonly connection: EmbeddedConnection;
  /** Ends the server and waits until it is gone. Close the pools first: open sessions are cut. */
  stop(): Promise<void>;
}

/**
 * Starts the server, or takes over one that a killed service left running, and creates the database when it is missing. When the server
 * ends unasked it is started again; pools reconnect on their own. Throws `EmbeddedPostgresError`.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { logger, signal, patiently = (step) => step() } = options;
  const binaries = await findBinaries();
  await mkdir(options.dataDir, { recursive: true, mode: 0o700 });
  const dataDir = await realpath(options.dataDir);
  const setup = await chooseLocation(dataDir, options.fallbackFolder ?? '/var/lib/email-worker', binaries);
  const { location, identity } = setup;
  if (location.marker !== null)
    logger.warn({ folder: location.folder }, 'the database is kept outside of DATA_DIR');
  const socketFolder = chooseSocketFolder(location, identity);
  const log = createServerLog(location.logFile, logger);
  const server = new ServerProcess({
    setup,
    socketFolder,
    serverArguments: serverArguments(location.dataFolder, socketFolder.path, setup.binaries.version),
    log,
    logger,
    prepare: async () => {
      await prepareLocation(setup);
      await initDataFolder(setup, signal);
    },
    ...(signal === undefined ? {} : { signal }),
  });
  const connection = { host: socketFolder.path, port: SOCKET_PORT, user: USER, database: DATABASE };
  try {
    await server.start(() => patiently(() => ensureDatabase(connection)));
  } catch (error) {
    log.close();
    signal?.throwIfAborted();
    throw error;
  }
  let stopped: Promise<void> | null = null;
  return {
    connection,
    stop() {
      stopped ??= server.stop().finally(() => log.close());
      return stopped;
    },
  };
}
