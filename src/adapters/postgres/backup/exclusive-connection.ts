/** A connection for work that takes hours and streams rows. */
import type { Pool, PoolClient } from 'pg';
import { guard } from '../db/pool.ts';

/** A pool of one connection, without time limits, that the signal cuts. */
export type OpenPatientPool = (signal: AbortSignal) => Pool;

/**
 * Gives `work` a connection of its own. One whose work failed is cut: it may be in the middle of a stream, and could not even roll back.
 * What `work` throws is thrown as it is: it may be about files, or another server. Throws `database_unavailable` without a connection.
 */
export async function onOwnConnection<T>(
  openPool: OpenPatientPool,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const cut = new AbortController();
  const pool = openPool(cut.signal);
  try {
    const client = await guard(pool.connect());
    try {
      const result = await work(client);
      client.release();
      return result;
    } catch (error) {
      // That it breaks now is no news.
      pool.removeAllListeners('error').on('error', () => undefined);
      cut.abort();
      client.release(true);
      throw error;
    }
  } finally {
    await pool.end();
  }
}
