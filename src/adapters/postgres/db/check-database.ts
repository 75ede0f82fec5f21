import type { Pool } from 'pg';
import { createNamedQuery } from './named-query.ts';

/** The returned function throws when the database can't be reached. */
export function createDatabaseCheck(pool: Pool): () => Promise<void> {
  const query = createNamedQuery(pool);
  return async () => {
    await query('check', 'select 1', []);
  };
}
