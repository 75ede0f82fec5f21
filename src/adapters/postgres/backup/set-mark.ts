/** Puts a mark on a database that a backup comes into, or that is moved. */
import { markDatabase, type DatabaseMark } from '../db/migrate.ts';
import type { OpenPatientPool } from './exclusive-connection.ts';

/** @param mark null: takes it away */
export async function setMark(openPool: OpenPatientPool, mark: DatabaseMark | null): Promise<void> {
  const pool = openPool(new AbortController().signal);
  try {
    await markDatabase(pool, mark);
  } finally {
    await pool.end();
  }
}
