import type { Pool, PoolClient } from 'pg';
import { sessionOf, sharedSettings } from './connection.ts';
import { guard } from './pool.ts';
import { SESSION_MARK } from './session.ts';
import { run, statement } from './statement.ts';

/** Statements of a connection do not find the settings that the connection made: a pooler in transaction mode was not recognised. */
export class LostSessionError extends Error {
  constructor() {
    super(
      'What was set for a database connection is gone: between the service and PostgreSQL is a pooler that shares sessions. ' +
        'Set DATABASE_POOLER=transaction.',
    );
    this.name = 'LostSessionError';
  }
}

/** Throws `database_unavailable` when the database can't be reached; its contents do not matter. */
export async function reachDatabase(pool: Pool): Promise<void> {
  await run(pool, REACH);
}

const REACH = statement('reach-database', 'select', {
  plannedEachTime: 'it is to be carried out in a session that does not know it',
});

/** The returned function throws when the database can't be reached, or would not work. */
export function createDatabaseCheck(pool: Pool): () => Promise<void> {
  return async () => {
    await onConnections(pool, 1);
  };
}

/**
 * The same check for the start, so that a fault shows before any work is done. A pooler that shares sessions gives the second connection
 * the session of the first; a pooler that assigns sessions in turn gives each statement another one. Returns true for a pooler that was
 * recognised.
 */
export const checkSessions = (pool: Pool): Promise<boolean> => onConnections(pool, 2);

async function onConnections(pool: Pool, count: 1 | 2): Promise<boolean> {
  const clients: PoolClient[] = [];
  try {
    while (clients.length < count) clients.push(await guard(pool.connect()));
    for (const client of clients) {
      for (let times = 0; times < count; times += 1) await checkSession(client);
    }
    return clients.some((client) => sharedSettings(client) !== null);
  } finally {
    for (const client of clients) client.release();
  }
}

async function checkSession(client: PoolClient): Promise<void> {
  const [row] = await run(client, CHECK);
  const mark = sessionOf(client)?.mark ?? null;
  if (mark !== null && row?.mark !== mark) throw new LostSessionError();
  if (row?.has_tables !== true) throw new Error('the tables of email-worker are not in the database');
}

const CHECK = statement(
  'check',
  `select current_setting('${SESSION_MARK}', true) as mark, to_regclass('schema_migrations') is not null as has_tables`,
  { plannedEachTime: 'it is to be carried out in a session that does not know it' },
);
