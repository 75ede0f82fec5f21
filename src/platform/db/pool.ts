/** The connection pool, and the mapping of its failures to our error codes. */
import pg from 'pg';
import { ServiceError } from '../../core/errors.ts';
import type { Logger } from '../base/basics.ts';
import { createFailureLog } from '../base/failure-log.ts';
import { outsideRequests } from '../base/request-scope.ts';
import { Connection, createCuttable, introduce, isReadTimeout } from './connection.ts';
import { DEFAULT_SCHEMA, type Pooler } from './session.ts';

export interface PoolOptions {
  /** A `postgres://` address, or the parts of one. */
  readonly connection:
    string | { host: string; port: number; user: string; database: string; password?: string };
  readonly maxConnections: number;
  /** How long to wait for a connection, in ms. */
  readonly connectTimeoutMs: number;
  /** How long one statement may take, in ms; afterwards the server ends it. null: as long as it needs. */
  readonly statementTimeoutMs: number | null;
  /** The schema with all our tables; a plain lower-case name. Default: `email_worker`. */
  readonly schema?: string;
  /** The pooler between this process and the server. Default: `auto`. */
  readonly pooler?: Pooler;
  readonly logger: Logger;
  /** Cuts every connection, also one that is being opened; the queries under way are rejected. */
  readonly signal?: AbortSignal;
}

export function createPool(options: PoolOptions): pg.Pool {
  const { connection, statementTimeoutMs, connectTimeoutMs, signal } = options;
  const { schema = DEFAULT_SCHEMA, pooler = 'auto' } = options;
  // `pg` lends a connection out once this has resolved, which its types do not show.
  const hooks = {
    onConnect: (client: pg.ClientBase) =>
      introduce(client, { schema, statementTimeoutMs }, pooler, connectTimeoutMs),
  };
  const pool = new pg.Pool({
    ...(typeof connection === 'string' ? { connectionString: connection } : connection),
    Client: signal === undefined ? Connection : createCuttable(signal),
    application_name: 'email-worker',
    max: options.maxConnections,
    connectionTimeoutMillis: connectTimeoutMs,
    ...(statementTimeoutMs === null
      ? {}
      : // The client gives up a little later than the server, in case the server itself has disappeared silently.
        { query_timeout: statementTimeoutMs + 2000 }),
    ...hooks,
    keepAlive: true,
  });
  // The pool replaces an idle connection that breaks; without a listener the event would end the process. Usually all break at once.
  const failures = createFailureLog(options.logger, 'idle database connections broke');
  pool.on(
    'error',
    outsideRequests((cause: Error) => failures.failed(new ServiceError('database_unavailable', { cause }))),
  );
  pool.on('connect', () => failures.worked());
  return pool;
}

/** SQLSTATE classes and codes after which the same statement may work later: the server, not the statement, is at fault. */
const AWAY = new Set([
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now: starting up or in recovery
  '57014', // query_canceled: statement_timeout
  '25006', // read_only_sql_transaction: a standby
  '25P03', // idle_in_transaction_session_timeout
  '28000', // invalid_authorization_specification
  '28P01', // invalid_password
  '3D000', // invalid_catalog_name: the database is gone
  '40003', // statement_completion_unknown
]);
const AWAY_CLASSES = new Set(['08', '53', '58', 'XX']); // connection, resources (disk full too), system, internal

/** SQLSTATEs after which the whole transaction is to be tried again at once. */
const RETRY = new Set([
  '40001', // serialization_failure
  '40P01', // deadlock_detected
  '23503', // foreign_key_violation: the thread was merged away between reading and writing
]);

/** null: not a failure that the server reported. */
export function sqlState(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}

export function isRetryable(error: unknown): boolean {
  return RETRY.has(sqlState(error) ?? '');
}

/** True if a row with the same key in one of these indexes exists. */
export function isUniqueViolation(error: unknown, indexes: readonly string[]): boolean {
  if (sqlState(error) !== '23505') return false;
  return error instanceof pg.DatabaseError && indexes.includes(error.constraint ?? '');
}

/** invalid_parameter_value, of a statement whose only parameter that may be wrong is a time zone. */
export function isUnknownTimeZone(error: unknown): boolean {
  return sqlState(error) === '22023';
}

/** lock_not_available: `lock_timeout` has passed. */
export function isLockTimeout(error: unknown): boolean {
  return sqlState(error) === '55P03';
}

/** True for a failure of the connection or the server, false for one of the statement or its data. */
export function isAway(error: unknown): boolean {
  if (error instanceof ServiceError) return error.code === 'database_unavailable';
  const code = sqlState(error);
  // pg's own errors ("Connection terminated unexpectedly", "Query read timeout", …) have no code.
  if (code === null)
    return error instanceof Error && /timeout|terminat|not queryable|ended/i.test(error.message);
  return AWAY.has(code) || AWAY_CLASSES.has(code.slice(0, 2)) || NODE_CODES.test(code);
}

/** Codes of the operating system, such as ECONNRESET, and of sockets and TLS; other codes of Node.js are faults of the program. */
const NODE_CODES = /^E(?!RR_)[A-Z]{3,}|^ERR_(?:SSL|TLS|SOCKET|STREAM)_/;

/**
 * True when the cause of `database_unavailable` is a statement that took too long: by itself, or because it waited for another transaction.
 */
export function isStatementTimeout(error: unknown): boolean {
  const cause = error instanceof ServiceError ? error.cause : error;
  return sqlState(cause) === '57014' || isReadTimeout(cause);
}

/** No connection could be opened: the next attempt will fail too. */
export function isUnreachable(error: unknown): boolean {
  const cause = error instanceof ServiceError ? error.cause : error;
  const code = sqlState(cause);
  if (code !== null) return code === '57P03' || NODE_CODES.test(code);
  return cause instanceof Error && /trying to connect|connection timeout/i.test(cause.message);
}

/** SQLSTATE classes and codes of a connection that was lost: they say nothing about the commit under way. */
const LOST = /^(?:08...|40003|57P0[12])$/;
/** No connection was there, so that nothing was sent. */
const NEVER_CONNECTED = /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ENOENT)$/;

/**
 * True when the server may have committed all the same: it did not answer. A failure that it reported itself is a commit that did not
 * happen.
 */
function isCommitUnknown(error: unknown): boolean {
  const code = sqlState(error);
  if (code === null)
    return !(error instanceof Error && /trying to connect|connection timeout/i.test(error.message));
  return LOST.test(code) || (NODE_CODES.test(code) && !NEVER_CONNECTED.test(code));
}

/** Like `guard`, for what commits: the error tells whether that may have happened. */
export async function guardCommit<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const cause = error instanceof ServiceError ? error.cause : error;
    if (!isAway(error) || !isCommitUnknown(cause)) throw error;
    throw new ServiceError('database_unavailable', { cause, mayHaveHappened: true });
  }
}

/** Runs a query; server failures become `database_unavailable`, other errors pass. */
export async function guard<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ServiceError || !isAway(error)) throw error;
    throw new ServiceError('database_unavailable', { cause: error });
  }
}
