/** A part of the composition root: the database, embedded or external, migrated and ready. */
import { findEmbeddedPostgres } from '../connectors/embedded-postgres/find-server.ts';
import { startEmbeddedPostgres } from '../connectors/embedded-postgres/server.ts';
import { callersShareOf, createCallersShare } from '../platform/db/callers-share.ts';
import { checkSessions } from '../platform/db/check-database.ts';
import { isLatest, migrateToLatest } from '../platform/db/migrate.ts';
import { createPool, isAway, type PoolOptions } from '../platform/db/pool.ts';
import { createReplicaReads, type ReplicaReads } from '../platform/db/replica-reads.ts';
import { untilThere } from '../platform/db/until-there.ts';
import { keepStatistics } from '../platform/db/statistics.ts';
import type { Logger } from '../platform/base/basics.ts';
import { currentAsker } from '../platform/base/request-scope.ts';
import type { Config } from '../config/config.ts';
import type { Teardown } from './teardown.ts';

export interface OpenDatabase {
  readonly pool: ReturnType<typeof createPool>;
  /** The part of its connections that callers' requests may hold: for everything that they ask for, but for sends and received mail. */
  readonly callers: ReturnType<typeof createPool>;
  /** The same with a few separate connections, for statements whose time grows with the amount of mail. */
  readonly patient: ReturnType<typeof createPool>;
  /** For callers' reads; null: there is none. */
  readonly replica: ReplicaReads | null;
  /** Opens another pool, without time limits, that the signal cuts. Its caller ends it. Default: of one connection. */
  readonly openUnlimited: (signal: AbortSignal, connections?: number) => ReturnType<typeof createPool>;
}

/**
 * How long a statement of `patient` may take, in ms. Our choice: a million emails are relinked in less, see
 * operations.md.
 */
const PATIENT_TIMEOUT_MS = 600_000;
const PATIENT_CONNECTIONS = 2;

/**
 * Adds the steps to undo to `teardown`. Throws when the server stays unavailable or can't be migrated.
 *
 * @param signal ends the start at any moment, and it throws the reason: a migration under way is one transaction, which
 * the server then rolls back
 * @param cut cuts all connections, also later
 */
export async function openDatabase(
  config: Config,
  logger: Logger,
  teardown: Teardown,
  { signal, cut }: { readonly signal?: AbortSignal | undefined; readonly cut?: AbortSignal | undefined } = {},
): Promise<OpenDatabase> {
  const ended = signal === undefined ? {} : { signal };
  const embedded =
    config.databaseUrl === null
      ? await startEmbeddedPostgres({
          dataDir: config.dataDir,
          logger,
          ...ended,
          patiently: (step) => untilThere(step, { logger, signal }),
        })
      : null;
  if (embedded !== null) teardown.push(() => embedded.stop());
  const options = {
    ...poolOptions(config, embedded?.connection ?? config.databaseUrl ?? '', logger),
    ...(cut === undefined ? {} : { signal: cut }),
  };
  await migrateWhenThere({ ...options, ...ended }, logger);
  const database = openPool(options, teardown);
  const replica = openReplica(config, database.callers, options, teardown);
  if (await untilThere(() => checkSessions(database.pool), { logger, signal }))
    logger.info({ pooler: 'transaction' }, 'database sessions are shared');
  return { ...database, replica };
}

/**
 * The database of a process that has DATA_DIR, which starts the embedded server and migrates; this one does neither. null
 * when it does not exist or is not migrated yet. Throws when it can't be used.
 */
export async function findDatabase(
  config: Config,
  logger: Logger,
  teardown: Teardown,
): Promise<OpenDatabase | null> {
  const connection = config.databaseUrl ?? (await findEmbeddedPostgres(config.dataDir));
  if (connection === null) return null;
  const options = poolOptions(config, connection, logger);
  const probe = createPool({ ...options, maxConnections: 1 });
  try {
    if (!(await isLatest(probe))) return null;
  } catch (err) {
    if (!isAway(err)) throw err;
    logger.debug({ err }, 'the database is not there yet');
    return null;
  } finally {
    await probe.end();
  }
  return { ...openPool(options, teardown), replica: null };
}

function poolOptions(config: Config, connection: PoolOptions['connection'], logger: Logger): PoolOptions {
  return {
    connection,
    maxConnections: config.databasePoolSize,
    connectTimeoutMs: config.databaseConnectTimeoutMs,
    statementTimeoutMs: config.databaseStatementTimeoutMs,
    schema: config.databaseSchema,
    pooler: config.databasePooler,
    logger,
  };
}

/** Sends no query yet: an unavailable replica must not delay the start. */
function openReplica(
  { databaseReadUrl, databaseReadMaxLagMs }: Config,
  primary: OpenDatabase['pool'],
  options: PoolOptions,
  teardown: Teardown,
): ReplicaReads | null {
  if (databaseReadUrl === null) return null;
  const replica = createPool({ ...options, connection: databaseReadUrl });
  teardown.push(() => replica.end());
  const now = () => performance.now();
  return createReplicaReads({
    primary,
    replica,
    maxLagMs: databaseReadMaxLagMs,
    now,
    logger: options.logger,
  });
}

function openPool(options: PoolOptions, teardown: Teardown): Omit<OpenDatabase, 'replica'> {
  const pool = createPool(options);
  teardown.push(() => pool.end());
  const patient = createPool({
    ...options,
    maxConnections: PATIENT_CONNECTIONS,
    statementTimeoutMs:
      options.statementTimeoutMs === null ? null : Math.max(PATIENT_TIMEOUT_MS, options.statementTimeoutMs),
  });
  // A change that is still under way after all other waits is cut off, and so does not happen.
  const clients = new Set<{ end(): Promise<void> }>();
  patient.on('connect', (client) => clients.add(client as unknown as { end(): Promise<void> }));
  patient.on('remove', (client) => clients.delete(client as unknown as { end(): Promise<void> }));
  teardown.push(async () => {
    const ended = patient.end();
    await Promise.all([...clients].map((client) => client.end()));
    await ended;
  });
  const statistics = keepStatistics(pool, options.logger);
  teardown.push(() => statistics.stop());
  const callers = createCallersShare(pool, {
    most: callersShareOf(options.maxConnections),
    patienceMs: options.connectTimeoutMs,
    asker: currentAsker,
  });
  return { pool, callers, patient, openUnlimited: unlimited(options) };
}

const unlimited =
  (options: PoolOptions): OpenDatabase['openUnlimited'] =>
  (signal, maxConnections = 1) =>
    createPool({ ...options, maxConnections, statementTimeoutMs: null, signal });

/**
 * A database that is to be filled, whatever it contains: neither migrated nor inspected. Adds the steps to undo to
 * `teardown`.
 *
 * @param url null: the embedded server of DATA_DIR, which the caller has locked
 */
export async function openUnlimitedDatabase(
  config: Config,
  url: string | null,
  logger: Logger,
  teardown: Teardown,
): Promise<OpenDatabase['openUnlimited']> {
  const embedded = url === null ? await startEmbeddedPostgres({ dataDir: config.dataDir, logger }) : null;
  if (embedded !== null) teardown.push(() => embedded.stop());
  return unlimited(poolOptions(config, embedded?.connection ?? url ?? '', logger));
}

/**
 * Migrations take the time that they need, so they have separate connections. Each attempt waits longer for one, up to ten times: a starved
 * process reads the server's answer late.
 */
async function migrateWhenThere(options: PoolOptions, logger: Logger): Promise<void> {
  await untilThere(
    async (attempt) => {
      const connectTimeoutMs = options.connectTimeoutMs * Math.min(attempt, 10);
      const pool = createPool({ ...options, connectTimeoutMs, maxConnections: 2, statementTimeoutMs: null });
      try {
        await migrateToLatest(pool);
      } finally {
        await pool.end();
      }
    },
    { logger, signal: options.signal },
  );
}
