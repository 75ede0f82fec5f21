/**
 * The settings that our statements rely on in their session: the schema that names are looked up in, and time limits.
 *
 * A connection that has a session of the server to itself sets these once. A pooler in transaction mode (PgBouncer, Supavisor) gives each
 * transaction any free session: nothing that was set or prepared before is left. Each transaction then brings its settings along, in the
 * same round trip, and no statement has a name. The startup packet sets nothing: poolers refuse that.
 */

/** The default of DATABASE_SCHEMA. */
export const DEFAULT_SCHEMA = 'email_worker';

/** `auto`: each connection finds out whether it has a session to itself. `transaction`: none has. `none`: each has. */
export type Pooler = 'auto' | 'transaction' | 'none';

export interface SessionOptions {
  /** A plain lower-case name. */
  readonly schema: string;
  /** How long one statement may take, in ms; afterwards the server ends it. null: as long as it needs. */
  readonly statementTimeoutMs: number | null;
}

type Settings = readonly (readonly [name: string, value: string])[];

/** Temporary tables come last: in a shared session they may belong to another program, and have the names of ours. */
function settingsOf({ schema, statementTimeoutMs }: SessionOptions): Settings {
  const limit = String(statementTimeoutMs ?? 0);
  return [
    ['search_path', `"${schema}", pg_temp`],
    ['statement_timeout', limit],
    ['idle_in_transaction_session_timeout', limit],
    // Before version 18 a plan without an index, where `enable_seqscan` is off, has such a high cost that it is compiled each time.
    ['jit', 'off'],
  ];
}

/** The settings of a transaction as SQL, in the forms that are needed. */
export interface TransactionSettings {
  /** For the beginning of the list of a `select`; they last until the end of the transaction. */
  readonly calls: readonly string[];
  /** The same as a statement. */
  readonly select: string;
  /** Commands for a message with several commands. They need no snapshot, so they may follow any kind of `begin`. */
  readonly commands: readonly string[];
}

export function transactionSettings(options: SessionOptions): TransactionSettings {
  const settings = settingsOf(options);
  const calls = settings.map(([name, value]) => `set_config('${name}', '${value}', true)`);
  return {
    calls,
    select: `select ${calls.join(', ')}`,
    commands: settings.map(([name, value]) => `set local ${name} = ${value}`),
  };
}

/** The setting that identifies a session: a random value for each connection that has a session of its own. */
export const SESSION_MARK = 'email_worker.session';

/**
 * The first statement of a connection. The session belongs to the connection if the server process is the one that the server named when
 * the connection began (`$1`), or if `$2` is true; otherwise a pooler answered in its place. Sets everything that a session needs; in a
 * session that is not ours, for the statement alone.
 */
export function introduction(options: SessionOptions, mark: string): string {
  const isShared = '(not $2::boolean and pg_backend_pid() <> $1::int)';
  const settings = [...settingsOf(options), [SESSION_MARK, mark] as const];
  const calls = settings.map(([name, value]) => `set_config('${name}', '${value}', ${isShared})`);
  return `select ${isShared} as is_shared, ${calls.join(', ')}`;
}
