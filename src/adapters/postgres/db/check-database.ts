import type { Pool } from 'pg';
import { run, statement } from './statement.ts';

/** The returned function throws when the database can't be reached. */
export function createDatabaseCheck(pool: Pool): () => Promise<void> {
  return async () => {
    await run(pool, CHECK);
  };
}

const CHECK = statement('check', 'select 1 as one');
