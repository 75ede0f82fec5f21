import { query } from './query.ts';

/** PostgreSQL's error code for the one of two transactions that it ends. */
const DEADLOCK_DETECTED = '40P01';

/** Empties tables under a running service: the service's own work takes the same locks in another order, and is done soon. */
export async function emptyTables(connectionString: string, ...tables: readonly string[]): Promise<void> {
  for (;;) {
    try {
      await query(connectionString, `truncate ${tables.join(', ')} cascade`);
      return;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === DEADLOCK_DETECTED)) throw error;
    }
  }
}
