/** A connection for work that takes hours and streams rows. */
import type { Pool, PoolClient } from 'pg';
import { guard } from '../../platform/db/pool.ts';

/** A pool of one connection, without time limits. The signal cuts the connection. */
export type OpenPatientPool = (signal: AbortSignal) => Pool;

/**
 * Runs `work` on a connection of its own. If `work` fails, the connection is cut: it may be in the middle of a stream, and could not even
 * roll back. Errors of `work` are rethrown unchanged: they may be about files, or another server. Throws `database_unavailable` if there is
 * no connection.
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
      // A connection error is expected from here on.
      pool.removeAllListeners('error').on('error', () => undefined);
      cut.abort();
      client.release(true);
      throw error;
    }
  } finally {
    await pool.end();
  }
}
