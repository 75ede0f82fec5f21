/** Brings the schema up to date. Safe when several instances start at the same moment. */
import { Migrator, sql, type Kysely, type Migration } from 'kysely';
import type { Pool } from 'pg';
import type { Database } from './database.ts';
import * as schema from './migrations/0001_schema.ts';

/** In order of their names; forward only. A migration that was ever released is never changed. */
const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001_schema': schema,
};

/** Any constant that no other user of the same database takes; `pg_locks` shows it. */
const MIGRATION_LOCK = 0x656d6c77;

/** The oldest server the SQL is tested with. */
const MIN_SERVER_VERSION = 150_000;

/** The database can't be used by this version of the program. */
export class NewerDatabaseError extends Error {
  constructor() {
    super(
      'The database was used by a newer version of email-worker. Start that version or a later one; ' +
        'the way back is a backup from before the update.',
    );
    this.name = 'NewerDatabaseError';
  }
}

/** Throws when the server is too old, when a migration fails (it is rolled back), and `NewerDatabaseError`. */
export async function migrateToLatest(pool: Pool, db: Kysely<Database>): Promise<void> {
  const client = await pool.connect();
  try {
    const { rows } = await client.query<{ version: number }>(
      `select current_setting('server_version_num')::int as version`,
    );
    const version = rows[0]?.version ?? 0;
    if (version < MIN_SERVER_VERSION) {
      throw new Error(
        `PostgreSQL 15 or later is needed, the server is version ${Math.floor(version / 10_000)}`,
      );
    }
    // Kysely's own lock covers the migrations, but not the making of its tables.
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    try {
      if (await isLatest(db)) return;
      const migrator = new Migrator({ db, provider: { getMigrations: async () => ({ ...MIGRATIONS }) } });
      const { error } = await migrator.migrateToLatest();
      if (error !== undefined) throw new Error('the database could not be migrated', { cause: error });
    } finally {
      await client.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK]);
    }
  } finally {
    client.release();
  }
}

/** True when the schema is that of this program; false when migrations are missing. Throws `NewerDatabaseError`. */
export async function isLatest(db: Kysely<Database>): Promise<boolean> {
  const { rows } = await sql<{ there: boolean }>`
    select to_regclass('kysely_migration') is not null as there`.execute(db);
  if (rows[0]?.there !== true) return false;
  const done = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
  const names = done.rows.map(({ name }) => name);
  if (names.some((name) => !(name in MIGRATIONS))) {
    throw new NewerDatabaseError();
  }
  return names.length === Object.keys(MIGRATIONS).length;
}
