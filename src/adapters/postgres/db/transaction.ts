/** Transactions on one connection of the pool, begun again while others get in their way. */
import type { Pool, PoolClient } from 'pg';
import { guard, isRetryable } from './pool.ts';

/** Tries of a transaction that conflicts with another one. */
const MAX_TRIES = 10;

/** The transaction relied on what has changed meanwhile: it is rolled back and begins again. */
export class BeginAgain extends Error {}

const BEGIN = {
  'read committed': 'begin',
  /** All statements read what was committed before the first one, and write nothing. */
  snapshot: 'begin isolation level repeatable read read only',
  /**
   * Its statements are planned once for each connection, whatever their values are: they look up rows by keys, and planning one
   * takes longer than carrying it out. PostgreSQL alone would plan those with arrays each time. Each row is looked up in an index,
   * however small the tables were when the plan was made: it is kept while they grow.
   */
  'planned once': [
    'begin',
    'set local plan_cache_mode = force_generic_plan',
    'set local enable_seqscan = off',
    'set local enable_hashjoin = off',
    'set local enable_mergejoin = off',
  ].join('; '),
} as const;

/**
 * Runs `work` as one transaction, again from the beginning when another one got in its way, or when `work` throws
 * BeginAgain. Failures of the server become `database_unavailable`; the transaction may then have been committed nevertheless.
 */
export async function inTransaction<T>(
  pool: Pool,
  work: (client: PoolClient) => Promise<T>,
  kind: keyof typeof BEGIN = 'read committed',
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await guard(runOnce(pool, work, BEGIN[kind]));
    } catch (error) {
      if (attempt >= MAX_TRIES || !(error instanceof BeginAgain || isRetryable(error))) throw error;
    }
  }
}

async function runOnce<T>(pool: Pool, work: (client: PoolClient) => Promise<T>, begin: string): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query(begin);
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch((failure: unknown) => {
      // A connection that can't roll back is of no use to the next one.
      broken = failure instanceof Error ? failure : new Error(String(failure));
    });
    throw error;
  } finally {
    client.release(broken);
  }
}
