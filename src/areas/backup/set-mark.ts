/** Puts a mark on a database that is being restored into, or that is moved. */
import { markDatabase, type DatabaseMark } from '../../platform/db/migrate.ts';
import type { OpenPatientPool } from './exclusive-connection.ts';

/** @param mark null: removes the mark */
export async function setMark(openPool: OpenPatientPool, mark: DatabaseMark | null): Promise<void> {
  const pool = openPool(new AbortController().signal);
  try {
    await markDatabase(pool, mark);
  } finally {
    await pool.end();
  }
}
