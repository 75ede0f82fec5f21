/** Brings the schema up to date. Safe when several instances start at the same moment. */
import type { Pool } from 'pg';
import { PROTECTION } from './migrations/protection.ts';
import { isAway } from './pool.ts';
import { run, statement } from './statement.ts';
import { inTransaction } from './transaction.ts';

/**
 * Name → its statements, in order; forward only. A migration that was ever released is never changed. Loaded when it is carried out: nearly
 * every start finds nothing to do.
 */
const MIGRATIONS: ReadonlyMap<string, () => Promise<readonly string[]>> = new Map([
  ['0001_schema', async () => (await import('./migrations/0001_schema.ts')).SCHEMA],
]);

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

/**
 * Throws when the server is too old, when a migration fails (all are rolled back), `NewerDatabaseError`, and
 * `database_unavailable`.
 */
export async function migrateToLatest(pool: Pool): Promise<void> {
  const [server] = await run(pool, SERVER_VERSION);
  const version = server?.version ?? 0;
  if (version < MIN_SERVER_VERSION) {
    throw new Error(
      `PostgreSQL 15 or later is needed, the server is version ${Math.floor(version / 10_000)}`,
    );
  }
  await inTransaction(pool, async (client) => {
    await run(client, LOCK);
    const done = await namesOf(client);
    const missing = [...MIGRATIONS].filter(([name]) => !done.includes(name));
    try {
      if (missing.length === 0) return;
      await client.query(MAKE_SCHEMA);
      await client.query(MAKE_TABLE);
      for (const [name, load] of missing) {
        for (const text of await load()) await client.query(text);
        await run(client, NOTE, { name });
      }
      for (const text of PROTECTION) await client.query(text);
    } catch (error) {
      if (isAway(error)) throw error;
      throw new Error('the database could not be migrated', { cause: error });
    }
  });
}

/** True when the schema is that of this program; false when migrations are missing. Throws `NewerDatabaseError`. */
export async function isLatest(pool: Pool): Promise<boolean> {
  return (await namesOf(pool)).length === MIGRATIONS.size;
}

/** Of the migrations that were carried out. */
async function namesOf(session: Parameters<typeof run>[0]): Promise<readonly string[]> {
  const [table] = await run(session, FIND_TABLE);
  if (table?.is_there !== true) return [];
  const names = (await run(session, READ_NAMES)).map(({ name }) => name);
  if (names.some((name) => !MIGRATIONS.has(name))) throw new NewerDatabaseError();
  return names;
}

const SERVER_VERSION = statement(
  'server-version',
  `select current_setting('server_version_num')::int as version`,
);

const LOCK = statement('lock-migrations', `select pg_advisory_xact_lock(${MIGRATION_LOCK})`);

const FIND_TABLE = statement(
  'find-migrations',
  `select to_regclass('schema_migrations') is not null as is_there`,
);

/**
 * The one that names are looked up in; see session.ts. Where it is there, owning it is the only right that is needed: `if not exists`
 * would ask for the right to make one all the same.
 */
const MAKE_SCHEMA = `
  do $$
  declare
    name text = trim('"' from split_part(current_setting('search_path'), ',', 1));
  begin
    if to_regnamespace(name) is null then
      execute format('create schema %I', name);
    end if;
  end $$`;

/** Not a part of a migration: it says which there were. */
const MAKE_TABLE = `
  create table if not exists schema_migrations (
    name text primary key,
    applied_at timestamptz not null default now()
  )`;

const READ_NAMES = statement('read-migrations', 'select name from schema_migrations');

const NOTE = statement('note-migration', 'insert into schema_migrations (name) values ($name)');
