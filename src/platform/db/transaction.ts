/**
 * Transactions on one connection of the pool, which begin again while others get in their way; and transactions on a connection of the
 * caller's own.
 */
import type { Pool, PoolClient, QueryResult, Submittable } from 'pg';
import { addNotice, cutAfterTimeout, EVENTS_NOTICE, sharedSettings } from './connection.ts';
import { guard, guardCommit, isRetryable } from './pool.ts';
import type { Call, Executor } from './statement.ts';
import { tracedStatements } from './statement-spans.ts';
import { StatementGroup, type GroupedQuery, type GroupedResult } from './statement-group.ts';

/** Tries of a transaction that conflicts with another one. */
const MAX_TRIES = 10;

/** The transaction relied on rows that have changed meanwhile: it is rolled back and begins again. */
export class BeginAgain extends Error {}

const BEGIN = {
  'read committed': 'begin',
  /** All statements read what was committed before the first one, and write nothing. */
  snapshot: 'begin isolation level repeatable read read only',
} as const;

/**
 * Runs `work` as one transaction, again from the beginning when another transaction got in its way, or when `work` throws BeginAgain.
 * Server failures become `database_unavailable`; the transaction may have been committed nevertheless.
 */
export function inTransaction<T>(
  pool: Pool,
  work: (client: PoolClient) => Promise<T>,
  kind: keyof typeof BEGIN = 'read committed',
): Promise<T> {
  return untilDone(() =>
    onConnection(pool, async (client) => {
      await client.query(BEGIN[kind]);
      const result = await work(client);
      await guardCommit(client.query('commit'));
      return result;
    }),
  );
}

/**
 * Like inTransaction, for frequent work made of small statements: it takes as few round trips as possible, and plans are made once per
 * connection.
 */
export function inPlannedTransaction<T>(
  pool: Pool,
  work: (transaction: PlannedTransaction) => Promise<T>,
): Promise<T> {
  return untilDone(() =>
    onConnection(pool, async (client) => {
      const transaction = new PlannedTransaction(client);
      const result = await work(transaction);
      await transaction.commit();
      return result;
    }),
  );
}

export interface OwnTransactionOptions {
  /** Default: `read committed`. */
  readonly kind?: keyof typeof BEGIN;
  /** The transaction has nothing to commit: losing the connection at the end is no failure. Default: false. */
  readonly mayLoseEnd?: boolean;
}

/**
 * Runs `work` as one transaction on the caller's own connection, for as long as it takes, and once. Errors of `work` are rethrown
 * unchanged, and the transaction is left open, as it may be in the middle of a stream: the caller cuts the connection. Only after
 * BeginAgain is the transaction rolled back first, so that another one may follow.
 */
export async function inOwnTransaction<T>(
  client: PoolClient,
  work: () => Promise<T>,
  { kind = 'read committed', mayLoseEnd = false }: OwnTransactionOptions = {},
): Promise<T> {
  await client.query(BEGIN[kind]);
  let result: T;
  try {
    result = await work();
  } catch (error) {
    if (error instanceof BeginAgain) await client.query('rollback');
    throw error;
  }
  const end = client.query('commit');
  await (mayLoseEnd ? end.catch(() => undefined) : end);
  return result;
}

async function untilDone<T>(runOnce: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await guard(runOnce());
    } catch (error) {
      if (attempt >= MAX_TRIES || !(error instanceof BeginAgain || isRetryable(error))) throw error;
    }
  }
}

async function onConnection<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    return await work(client);
  } catch (error) {
    await client.query('rollback').catch((failure: unknown) => {
      // A connection that can't roll back is of no use to its next borrower.
      broken = failure instanceof Error ? failure : new Error(String(failure));
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

const command = (name: string, text: string): GroupedQuery => ({ name, text, values: [], givesRows: false });
const COMMIT = command('commit', 'commit');

/**
 * Settings of a planned transaction. Its statements are planned once per connection, whatever their values are: they look up rows by keys,
 * and planning one takes longer than executing it. By default PostgreSQL would plan those with arrays each time. Each row is looked up in
 * an index, however small the tables were when the plan was made, because the plan is kept while they grow.
 */
const SETTINGS = Object.entries({
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  // The commit sends the signal: see the trigger of `event_inbox`.
  'email_worker.tells_events': 'on',
}).map(([name, value]) => `set_config('${name}', '${value}', true)`);

function beginPlanned(client: PoolClient): readonly GroupedQuery[] {
  const settings = [...(sharedSettings(client)?.calls ?? []), ...SETTINGS];
  return [command('begin', 'begin'), command('set-planned', `select ${settings.join(', ')}`)];
}

/** The results of each query, or the failure of the first that failed. */
const queryTogether = (
  client: PoolClient,
  queries: readonly GroupedQuery[],
): Promise<readonly GroupedResult[]> =>
  new Promise((resolve, reject) => {
    const onEnd = (error: Error | null, results: readonly GroupedResult[] = []) => {
      if (error === null) return resolve(results);
      cutAfterTimeout(client as PoolClient & { end(): Promise<void> }, error);
      reject(error);
    };
    const group = new StatementGroup(queries, onEnd, { areNamed: sharedSettings(client) === null });
    client.query(group as unknown as Submittable);
  });

/** Rows of each of some calls. */
type RowsOf<Calls extends readonly Call<object>[]> = {
  -readonly [Index in keyof Calls]: Calls[Index] extends Call<infer Row> ? Row[] : never;
};

/** A transaction that begins with its first statement, and may end with its last: neither costs an extra round trip. */
export class PlannedTransaction implements Executor {
  readonly #client: PoolClient;
  #state: 'new' | 'open' | 'committed' = 'new';

  constructor(client: PoolClient) {
    this.#client = client;
  }

  /** Executes them one after the other, so each sees the changes of those before it; sends them in one go. Returns the rows of each. */
  run<const Calls extends readonly Call<object>[]>(...calls: Calls): Promise<RowsOf<Calls>> {
    return this.#send(calls, []);
  }

  /** Like run, and commits if all succeed: no statement may follow. */
  async runLast<const Calls extends readonly Call<object>[]>(...calls: Calls): Promise<RowsOf<Calls>> {
    const rows = await this.#send(calls, [COMMIT]);
    this.#end();
    return rows;
  }

  async query({ name, text, values }: Parameters<Executor['query']>[0]): Promise<QueryResult> {
    if (name === undefined) throw new Error('a statement of a planned transaction has a name');
    const [result] = await this.#sendAll([{ name, text, values, givesRows: true }], []);
    return result as unknown as QueryResult;
  }

  async commit(): Promise<void> {
    if (this.#state !== 'open') return;
    await guardCommit(this.#client.query('commit'));
    this.#end();
  }

  #end(): void {
    this.#state = 'committed';
    addNotice(this.#client, EVENTS_NOTICE);
  }

  async #send<Calls extends readonly Call<object>[]>(
    calls: Calls,
    behind: readonly GroupedQuery[],
  ): Promise<RowsOf<Calls>> {
    const results = await this.#sendAll(calls, behind);
    return results.map(({ rows }) => rows) as unknown as RowsOf<Calls>;
  }

  async #sendAll(
    queries: readonly GroupedQuery[],
    behind: readonly GroupedQuery[],
  ): Promise<readonly GroupedResult[]> {
    if (this.#state === 'committed') throw new Error('the transaction is committed');
    const before = this.#state === 'new' ? beginPlanned(this.#client) : [];
    this.#state = 'open';
    const all = [...before, ...queries, ...behind];
    const answer = queryTogether(this.#client, all);
    const told = guard(tracedStatements(() => all.map(({ name }) => name), answer));
    const results = await (behind.includes(COMMIT) ? guardCommit(told) : told);
    return results.slice(before.length, before.length + queries.length);
  }
}
