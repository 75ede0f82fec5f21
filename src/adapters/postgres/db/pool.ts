/** The connection pool, and the mapping of its failures to our error codes. */
import type { Duplex } from 'node:stream';
import pg from 'pg';
import { ServiceError } from '../../../core/errors.ts';
import type { Logger } from '../../../app/base/basics.ts';

export interface PoolOptions {
  /** A `postgres://` address, or the parts of one. */
  readonly connection:
    string | { host: string; port: number; user: string; database: string; password?: string };
  readonly maxConnections: number;
  /** How long to wait for a connection, in ms. */
  readonly connectTimeoutMs: number;
  /** How long one statement may take, in ms; afterwards the server ends it. null: as long as it needs. */
  readonly statementTimeoutMs: number | null;
  readonly logger: Logger;
  /** Cuts every connection, also one that is being made; what was asked of them is rejected. */
  readonly signal?: AbortSignal;
}

export function createPool(options: PoolOptions): pg.Pool {
  const { connection, statementTimeoutMs, signal } = options;
  const pool = new pg.Pool({
    ...(typeof connection === 'string' ? { connectionString: connection } : connection),
    Client: signal === undefined ? Connection : createCuttable(signal),
    application_name: 'email-worker',
    max: options.maxConnections,
    connectionTimeoutMillis: options.connectTimeoutMs,
    ...(statementTimeoutMs === null
      ? {}
      : {
          statement_timeout: statementTimeoutMs,
          // The client gives up a little later than the server, for when the server itself has disappeared silently.
          query_timeout: statementTimeoutMs + 2000,
          idle_in_transaction_session_timeout: statementTimeoutMs,
        }),
    keepAlive: true,
  });
  // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
  pool.on('error', (err) => options.logger.warn({ err }, 'an idle database connection broke'));
  return pool;
}

/** How notices of our own functions and triggers begin. */
const OWN_NOTICE = 'email-worker: ';
/** What the trigger of `event_inbox` says. */
export const EVENTS_NOTICE = `${OWN_NOTICE}events`;

/** Connection → our notices since they were taken. Any connection may be the one that gets them, the first too. */
const notices = new WeakMap<pg.ClientBase, Set<string>>();

function toldOf(client: pg.ClientBase): Set<string> {
  const told = notices.get(client) ?? new Set();
  notices.set(client, told);
  return told;
}

/** As if the server had said it on this connection. */
export function addNotice(client: pg.ClientBase, text: string): void {
  toldOf(client).add(text);
}

/** The texts of our notices that a connection has got, each once. They are told one time. */
export function takeNotices(client: pg.ClientBase): ReadonlySet<string> {
  const told = toldOf(client);
  if (told.size > 0) notices.delete(client);
  return told;
}

/** A connection that owes an answer is cut: its next borrower would wait behind the statement. @param error what a query threw */
export function cutAfterTimeout(client: pg.ClientBase & { end(): Promise<void> }, error: unknown): void {
  // It never rejects; the caller has the error of the statement.
  if (isReadTimeout(error)) client.end().catch(() => undefined);
}

/** A connection that can be lent out without harm: what happens to it reaches only its borrower. */
class Connection extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config);
    // It may break between two statements, and twice. The statement under way, or the next one, is rejected; without
    // a listener the event would end the process.
    this.on('error', () => undefined);
    this.on('notice', ({ message }) => {
      if (message?.startsWith(OWN_NOTICE) === true) toldOf(this).add(message);
    });
    const query = this.query.bind(this) as unknown as (...args: readonly unknown[]) => unknown;
    const queryWithCut = (...args: readonly unknown[]): unknown => {
      const result = query(...args);
      if (result instanceof Promise) {
        result.catch((error: unknown) => {
          cutAfterTimeout(this, error);
        });
      }
      return result;
    };
    Object.assign(this, { query: queryWithCut });
  }
}

/** Connections of a pool whose work may be ended from outside. */
function createCuttable(signal: AbortSignal): typeof Connection {
  return class extends Connection {
    constructor(config?: pg.ClientConfig) {
      super(config);
      const { stream } = (this as unknown as { connection: { stream: Duplex } }).connection;
      const cut = () => stream.destroy(new Error('Connection terminated: the work was stopped'));
      if (signal.aborted) cut();
      else signal.addEventListener('abort', cut, { once: true });
      stream.once('close', () => signal.removeEventListener('abort', cut));
    }
  };
}

/** pg's own error after `query_timeout`: the server did not even say that it ended the statement. */
function isReadTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout';
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

function sqlState(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}

export function isRetryable(error: unknown): boolean {
  return RETRY.has(sqlState(error) ?? '');
}

/** A row with the same key of one of these indexes is there. */
export function isUniqueViolation(error: unknown, indexes: readonly string[]): boolean {
  if (sqlState(error) !== '23505') return false;
  return error instanceof pg.DatabaseError && indexes.includes(error.constraint ?? '');
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

/** Of the system, as ECONNRESET, and of sockets and TLS; others of Node.js are faults of the program. */
const NODE_CODES = /^E(?!RR_)[A-Z]{3,}|^ERR_(?:SSL|TLS|SOCKET|STREAM)_/;

/** The cause of `database_unavailable` is a statement that took too long: by itself, or waiting for another transaction. */
export function isStatementTimeout(error: unknown): boolean {
  const cause = error instanceof ServiceError ? error.cause : error;
  return sqlState(cause) === '57014' || isReadTimeout(cause);
}

/** No connection could be made: the next one will fail too. */
export function isUnreachable(error: unknown): boolean {
  const cause = error instanceof ServiceError ? error.cause : error;
  const code = sqlState(cause);
  if (code !== null) return code === '57P03' || NODE_CODES.test(code);
  return cause instanceof Error && /trying to connect|connection timeout/i.test(cause.message);
}

/** Runs a query; failures of the server become `database_unavailable`, others pass. */
export async function guard<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ServiceError || !isAway(error)) throw error;
    throw new ServiceError('database_unavailable', { cause: error });
  }
}
