/** A PostgreSQL server of its own in a temporary folder, with a database that the migrations have made. */
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';

const logger = { debug() {}, info() {}, warn() {}, error: console.error };

/** The message has PostgreSQL's error about a migration, in one line. */
export class MigrationFailed extends Error {
  constructor(error) {
    let cause = error;
    while (cause.cause instanceof Error) cause = cause.cause;
    super(`src/platform/db/migrations: the schema can't be made: ${cause.message}`, {
      cause: error,
    });
  }
}

/** Passes a connection to `work`, and returns its result. Throws MigrationFailed. */
export async function withDatabase(dist, work) {
  const { startEmbeddedPostgres } = await import(
    path.join(dist, 'connectors', 'embedded-postgres', 'server.js')
  );
  const { DEFAULT_SCHEMA } = await import(path.join(dist, 'platform', 'db', 'session.js'));
  const { migrateToLatest } = await import(path.join(dist, 'platform', 'db', 'migrate.js'));
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'email-worker-statements-'));
  try {
    const server = await startEmbeddedPostgres({ dataDir: path.join(folder, 'data'), logger });
    try {
      const connection = { ...server.connection, options: `-c search_path=${DEFAULT_SCHEMA}` };
      const pool = new pg.Pool(connection);
      try {
        await migrateToLatest(pool);
      } catch (error) {
        throw new MigrationFailed(error);
      } finally {
        // Must end before the server stops: a pool that loses its connections ends the process.
        await pool.end();
      }
      const client = new pg.Client(connection);
      await client.connect();
      try {
        return await work(client);
      } finally {
        await client.end();
      }
    } finally {
      await server.stop();
    }
  } finally {
    await fs.rm(folder, { recursive: true, force: true });
  }
}
