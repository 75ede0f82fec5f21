/** The embedded server as the service starts it, except for settings that cost time and protect nothing that a test looks at. */
import { mkdir } from 'node:fs/promises';
import { findBinaries } from '../../src/connectors/embedded-postgres/binaries.ts';
import {
  ensureDatabase,
  initDataFolder,
  type EmbeddedConnection,
} from '../../src/connectors/embedded-postgres/init-database.ts';
import { chooseLocation, prepareLocation } from '../../src/connectors/embedded-postgres/location.ts';
import { createServerLog } from '../../src/connectors/embedded-postgres/server-log.ts';
import { ServerProcess } from '../../src/connectors/embedded-postgres/server-process.ts';
import { DATABASE, USER, serverArguments } from '../../src/connectors/embedded-postgres/settings.ts';
import { SOCKET_PORT, chooseSocketFolder } from '../../src/connectors/embedded-postgres/socket-folder.ts';
import { silentLogger } from './silent-logger.ts';

/** Tests of the aftermath of a server crash start servers of their own; this one ends with the run. */
export const QUICK = ['-c', 'fsync=off', '-c', 'full_page_writes=off'];

export async function startQuickPostgres(
  dataDir: string,
): Promise<{ readonly connection: EmbeddedConnection; stop(): Promise<void> }> {
  const binaries = await findBinaries();
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const setup = await chooseLocation(dataDir, '/var/lib/email-worker', binaries);
  const { location, identity } = setup;
  const socketFolder = chooseSocketFolder(location, identity);
  const log = createServerLog(location.logFile, silentLogger);
  const server = new ServerProcess({
    setup,
    socketFolder,
    serverArguments: [...serverArguments(location.dataFolder, socketFolder.path, binaries.version), ...QUICK],
    log,
    logger: silentLogger,
    async prepare() {
      await prepareLocation(setup);
      await initDataFolder(setup);
    },
  });
  const connection = { host: socketFolder.path, port: SOCKET_PORT, user: USER, database: DATABASE };
  await server.start(() => ensureDatabase(connection));
  return {
    connection,
    async stop() {
      await server.stop();
      log.close();
    },
  };
}
