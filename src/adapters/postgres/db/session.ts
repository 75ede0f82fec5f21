/**
 * What our statements rely on in the session that carries them out: the schema that names are looked up in, and time limits.
 *
 * A connection that has a session of the server to itself sets these once. A pooler in transaction mode (PgBouncer, Supavisor) gives
 * each transaction the session that is free: nothing that was set or prepared before is there. Each transaction then brings its
 * settings along, in the same round trip, and no statement has a name. Nothing is set by the startup packet: poolers refuse that.
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

/** Temporary tables come last: in a shared session they may be another program's, and have the names of ours. */
function settingsOf({ schema, statementTimeoutMs }: SessionOptions): Settings {
  const limit = String(statementTimeoutMs ?? 0);
  return [
    ['search_path', `"${schema}", pg_temp`],
    ['statement_timeout', limit],
    ['idle_in_transaction_session_timeout', limit],
    // Before version 18 a plan without an index, where `enable_seqscan` is off, counts as so dear that it is compiled each time.
    ['jit', 'off'],
  ];
}

/** The settings of a transaction as SQL, in the forms that are needed. */
export interface TransactionSettings {
  /** For the beginning of the list of a `select`; they last until the end of the transaction. */
  readonly calls: readonly string[];
  /** The same as a statement. */
  readonly select: string;
  /** Commands for a message of several. They need no snapshot, so they may follow `begin` of any kind. */
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

/** What tells a session from others: made at random for each connection that has one. */
export const SESSION_MARK = 'email_worker.session';

/**
 * A first statement. The server's process is the one that it named at the beginning of the connection (`$1`) unless a pooler answered
 * in its place. Sets what a session needs, for the statement alone where it is not ours (`$2`: it is in any case).
 */
export function introduction(options: SessionOptions, mark: string): string {
  const isShared = '(not $2::boolean and pg_backend_pid() <> $1::int)';
  const settings = [...settingsOf(options), [SESSION_MARK, mark] as const];
  const calls = settings.map(([name, value]) => `set_config('${name}', '${value}', ${isShared})`);
  return `select ${isShared} as is_shared, ${calls.join(', ')}`;
}
