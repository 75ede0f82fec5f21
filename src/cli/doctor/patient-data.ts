/**
 * The data that the doctor examines: DATA_DIR, which a running service may hold, and the database, which may be unavailable. The doctor
 * creates nothing that did not exist, and migrates nothing.
 */
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { DataDirError, waitForDataDir, type DataDirLock } from '../../connectors/data-dir/data-dir-lock.ts';
import { reachDatabase } from '../../platform/db/check-database.ts';
import { createPool, type PoolOptions } from '../../platform/db/pool.ts';
import { findEmbeddedPostgres } from '../../connectors/embedded-postgres/find-server.ts';
import { findLocation } from '../../connectors/embedded-postgres/location.ts';
import { startEmbeddedPostgres } from '../../connectors/embedded-postgres/server.ts';
import type { Logger } from '../../platform/base/basics.ts';
import type { Config } from '../../config/config.ts';
import { ServiceError } from '../../core/errors.ts';
import { formatError } from '../../core/causes.ts';

/** How long a connection and a statement may take, in ms. */
const CONNECT_MS = 5000;
const STATEMENT_MS = 10_000;
/** How long the embedded server may take to stop, in ms. */
const END_MS = 10_000;

/**
 * - `missing`: the first start creates it.
 * - `held`: a service or another command holds it; `holder` is its process, null when that is not known.
 * - `free`: no process holds it; the doctor holds it until the doctor ends.
 * - `unusable`: for the reason, in words.
 */
export type DataDir =
  | { readonly kind: 'missing' }
  | { readonly kind: 'held'; readonly holder: number | null }
  | { readonly kind: 'free' }
  | { readonly kind: 'unusable'; readonly reason: string };

/** `none`: the first start creates it. `reason`: in words. */
export type Database =
  | { readonly kind: 'open'; readonly pool: ReturnType<typeof createPool> }
  | { readonly kind: 'none' }
  | { readonly kind: 'away'; readonly reason: string };

export interface PatientData {
  readonly dataDir: DataDir;
  /** Never rejects. */
  readonly database: Promise<Database>;
  close(): Promise<void>;
}

export async function openPatientData(
  config: Config,
  logger: Logger,
  signal: AbortSignal,
): Promise<PatientData> {
  const teardown: (() => Promise<unknown>)[] = [];
  const dataDir = await takeDataDir(config.dataDir, teardown, signal);
  const database = openDatabase(config, dataDir, teardown, logger, signal).catch(
    (error: unknown): Database => ({ kind: 'away', reason: formatError(error) }),
  );
  return {
    dataDir,
    database,
    async close() {
      await database;
      for (const step of teardown.splice(0).reverse()) await step().catch(() => undefined);
    },
  };
}

async function takeDataDir(
  folder: string,
  teardown: (() => Promise<unknown>)[],
  signal: AbortSignal,
): Promise<DataDir> {
  let lock: DataDirLock;
  try {
    await stat(folder);
    // A service that starts meanwhile waits for the lock, and so does another doctor.
    lock = await waitForDataDir(folder, { isBrief: true, signal });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return { kind: 'missing' };
    if (!(error instanceof DataDirError) || error.code !== 'data_dir_locked') {
      return { kind: 'unusable', reason: formatError(error) };
    }
    const pid = await readFile(path.join(folder, 'lock'), 'utf8').catch(() => '');
    return { kind: 'held', holder: /^\d+\s*$/.test(pid) ? Number(pid) : null };
  }
  teardown.push(() => lock.release());
  return { kind: 'free' };
}

async function openDatabase(
  config: Config,
  dataDir: DataDir,
  teardown: (() => Promise<unknown>)[],
  logger: Logger,
  signal: AbortSignal,
): Promise<Database> {
  const connection =
    config.databaseUrl ?? (await openEmbedded(config.dataDir, dataDir, teardown, logger, signal));
  if (connection === null) {
    if (dataDir.kind === 'unusable') return { kind: 'away', reason: 'DATA_DIR can not be used' };
    return dataDir.kind === 'held'
      ? { kind: 'away', reason: 'the process that has DATA_DIR has not opened its database' }
      : { kind: 'none' };
  }
  const pool = createPool({
    connection,
    maxConnections: 3,
    connectTimeoutMs: Math.min(config.databaseConnectTimeoutMs, CONNECT_MS),
    statementTimeoutMs: STATEMENT_MS,
    schema: config.databaseSchema,
    // A pooler that the configuration denies is detected and reported.
    pooler: config.databasePooler === 'none' ? 'auto' : config.databasePooler,
    logger,
    signal,
  });
  teardown.push(() => pool.end());
  try {
    await reachDatabase(pool);
    return { kind: 'open', pool };
  } catch (error) {
    // The message of the server or the system, without our code for it.
    return { kind: 'away', reason: formatError(error instanceof ServiceError ? error.cause : error) };
  }
}

/** null: there is no database, or the process that holds DATA_DIR has not started it. */
async function openEmbedded(
  folder: string,
  dataDir: DataDir,
  teardown: (() => Promise<unknown>)[],
  logger: Logger,
  signal: AbortSignal,
): Promise<PoolOptions['connection'] | null> {
  if (dataDir.kind === 'missing' || dataDir.kind === 'unusable') return null;
  if (dataDir.kind === 'held') return await findEmbeddedPostgres(folder);
  // A first start that was cut short leaves folders but no database.
  if ((await findLocation(folder)) === null) return null;
  const server = await startEmbeddedPostgres({ dataDir: folder, logger, signal });
  teardown.push(() => {
    const late = new Promise<void>((resolve) => setTimeout(resolve, END_MS).unref());
    return Promise.race([server.stop(), late]);
  });
  return server.connection;
}
