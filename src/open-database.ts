/** A part of the composition root: the database, embedded or external, migrated and ready. */
import { setTimeout as wait } from 'node:timers/promises';
import { startEmbeddedPostgres } from './adapters/postgres/embedded/server.ts';
import { migrateToLatest } from './adapters/postgres/migrate.ts';
import { createKysely, createPool, isAway, type PoolOptions } from './adapters/postgres/pool.ts';
import type { Logger } from './app/ports.ts';
import type { Config } from './config.ts';

export interface OpenDatabase {
  readonly pool: ReturnType<typeof createPool>;
  readonly db: ReturnType<typeof createKysely>;
}

/** How long an external server may be away at the start, in ms: machines that start together come up in any order. */
const START_PATIENCE_MS = 60_000;
const RETRY_AFTER_MS = 1000;

/** Adds to `teardown` what is to be undone. Throws when the server stays away or can't be migrated. */
export async function openDatabase(
  config: Config,
  logger: Logger,
  teardown: (() => Promise<void>)[],
): Promise<OpenDatabase> {
  const embedded =
    config.databaseUrl === null ? await startEmbeddedPostgres({ dataDir: config.dataDir, logger }) : null;
  if (embedded !== null) teardown.push(() => embedded.stop());
  const options: PoolOptions = {
    connection: embedded?.connection ?? config.databaseUrl ?? '',
    maxConnections: config.databasePoolSize,
    connectTimeoutMs: config.databaseConnectTimeoutMs,
    statementTimeoutMs: config.databaseStatementTimeoutMs,
    logger,
  };
  await migrateWhenThere(options, logger);
  const pool = createPool(options);
  teardown.push(() => pool.end());
  return { pool, db: createKysely(pool) };
}

/** Migrations take the time they need, so they have connections of their own. */
async function migrateWhenThere(options: PoolOptions, logger: Logger): Promise<void> {
  const deadline = performance.now() + START_PATIENCE_MS;
  for (;;) {
    const pool = createPool({ ...options, maxConnections: 2, statementTimeoutMs: null });
    try {
      await migrateToLatest(pool, createKysely(pool));
      return;
    } catch (err) {
      if (!isAway(err) || performance.now() > deadline) throw err;
      logger.warn({ err }, 'the database is not there yet');
    } finally {
      await pool.end();
    }
    await wait(RETRY_AFTER_MS);
  }
}
