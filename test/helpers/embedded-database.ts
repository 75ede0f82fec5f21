/** An embedded database, for callers that reach it by its address. */
import type { EmbeddedConnection } from '../../src/connectors/embedded-postgres/init-database.ts';
import { startEmbeddedPostgres } from '../../src/connectors/embedded-postgres/server.ts';
import { silentLogger } from './silent-logger.ts';

/** For DATABASE_URL and `pg`. */
export const urlOfEmbedded = ({ host, port, user, database }: EmbeddedConnection): string =>
  `postgresql://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;

/** Runs `work` with the embedded database of a DATA_DIR, for which it starts a server, and returns its result. */
export async function onEmbedded<T>(dataDir: string, work: (url: string) => Promise<T>): Promise<T> {
  const server = await startEmbeddedPostgres({ dataDir, logger: silentLogger });
  try {
    return await work(urlOfEmbedded(server.connection));
  } finally {
    await server.stop();
  }
}
