/** Brings the schema up to date. Safe when several instances start at the same moment. */
import type { Pool, PoolClient } from 'pg';
import { PROTECTION } from './migrations/protection.ts';
import { isAway } from './pool.ts';
import { run, statement, type Executor, type RowOf } from './statement.ts';
import { inTransaction } from './transaction.ts';

interface Migration {
  /**
   * True: processes of the version before still run and start with this migration, because it only adds things that they need not know
   * about. False: all of them have to be stopped first. See CONTRIBUTING.md.
   */
  readonly letsOlderRun: boolean;
  /** Its statements. Loaded only when the migration runs: nearly every start finds nothing to do. */
  readonly load: () => Promise<readonly string[]>;
}

/** By name, in order; forward only. A migration that was ever released is never changed. */
const MIGRATIONS: ReadonlyMap<string, Migration> = new Map([
  [
    '0001_schema',
    { letsOlderRun: false, load: async () => (await import('./migrations/0001_schema.ts')).SCHEMA },
  ],
]);

/** Any constant that no other user of the same database uses; `pg_locks` shows it. */
const MIGRATION_LOCK = 0x656d6c77;

/** The oldest server version that the SQL is tested with. */
const MIN_SERVER_VERSION = 150_000;

/** A later version changed the database in a way that this one can't live with. */
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
 * Marks that may stand beside the migrations. A mark keeps every service and command from the database, which is not complete yet, or no
 * longer in use.
 */
const MARKS = {
  unfinished_restore:
    'A restore into the database was cut off. Run it again; until then the database is not whole.',
  moving:
    'The database is being moved, or that was cut off. Run `email-worker move` again with the same target.',
  moved:
    'The database was moved to another server, and is not used any more. Set DATABASE_URL to where it is now.',
} as const;
export type DatabaseMark = keyof typeof MARKS;

/** The database has a mark. */
export class MarkedDatabaseError extends Error {
  readonly mark: DatabaseMark;

  constructor(mark: DatabaseMark) {
    super(MARKS[mark]);
    this.name = 'MarkedDatabaseError';
    this.mark = mark;
  }
}

/** The migrations of this program, in their order. */
export const MIGRATION_NAMES: readonly string[] = [...MIGRATIONS.keys()];

/** Throws when the server is too old. */
export async function requireServer(session: Executor): Promise<void> {
  const [server] = await run(session, SERVER_VERSION);
  const version = server?.version ?? 0;
  if (version < MIN_SERVER_VERSION) {
    throw new Error(
      `PostgreSQL 15 or later is needed, the server is version ${Math.floor(version / 10_000)}`,
    );
  }
}

/** Until the end of the transaction no other process migrates, so none starts. */
export async function lockMigrations(client: Executor): Promise<void> {
  await run(client, LOCK);
}

/** Makes the missing parts of the schema, in the transaction of the caller, which holds the lock. */
export async function makeSchema(client: PoolClient, missing = MIGRATION_NAMES): Promise<void> {
  await client.query(MAKE_SCHEMA);
  await client.query(MAKE_TABLE);
  for (const name of missing) {
    const migration = MIGRATIONS.get(name);
    for (const text of (await migration?.load()) ?? []) await client.query(text);
    await run(client, NOTE, { name, letsOlderRun: migration?.letsOlderRun ?? false });
  }
  for (const text of PROTECTION) await client.query(text);
}

/** Puts a mark on the database, in place of another; also on a database without tables. null: removes the mark. */
export function markDatabase(pool: Pool, mark: DatabaseMark | null): Promise<void> {
  return inTransaction(pool, async (client) => {
    await run(client, LOCK);
    await client.query(MAKE_SCHEMA);
    await client.query(MAKE_TABLE);
    await run(client, TAKE_MARKS, { marks: Object.keys(MARKS) });
    if (mark !== null) await run(client, NOTE, { name: mark, letsOlderRun: false });
  });
}

/** null: no mark. */
export async function readMark(session: Executor): Promise<DatabaseMark | null> {
  return markOf((await readRows(session)).map(({ name }) => name));
}

/** For a name from the table of migrations. */
export const isMark = (name: string): boolean => Object.hasOwn(MARKS, name);

const markOf = (names: readonly string[]): DatabaseMark | null =>
  (Object.keys(MARKS) as DatabaseMark[]).find((mark) => names.includes(mark)) ?? null;

/**
 * Throws when the server is too old or a migration fails (all are rolled back). Throws `NewerDatabaseError`, `MarkedDatabaseError` and
 * `database_unavailable`.
 */
export async function migrateToLatest(pool: Pool): Promise<void> {
  await requireServer(pool);
  await inTransaction(pool, async (client) => {
    await run(client, LOCK);
    const done = await namesOf(client);
    const missing = MIGRATION_NAMES.filter((name) => !done.includes(name));
    try {
      if (missing.length > 0) await makeSchema(client, missing);
    } catch (error) {
      if (isAway(error)) throw error;
      throw new Error('the database could not be migrated', { cause: error });
    }
  });
}

/**
 * True when the schema has everything that this program needs; false when migrations are missing. Throws `NewerDatabaseError` and
 * `MarkedDatabaseError`.
 */
export async function isLatest(pool: Pool): Promise<boolean> {
  return (await namesOf(pool)).length === MIGRATIONS.size;
}

/** The names of this program's migrations that have run. */
async function namesOf(session: Executor): Promise<readonly string[]> {
  const rows = await readRows(session);
  const mark = markOf(rows.map(({ name }) => name));
  if (mark !== null) throw new MarkedDatabaseError(mark);
  const others = rows.filter(({ name }) => !MIGRATIONS.has(name));
  if (others.some((one) => !one.lets_older_run)) throw new NewerDatabaseError();
  return rows.filter((row) => !others.includes(row)).map(({ name }) => name);
}

async function readRows(session: Executor): Promise<readonly RowOf<typeof READ_ROWS>[]> {
  const [table] = await run(session, FIND_TABLE);
  return table?.is_there === true ? await run(session, READ_ROWS) : [];
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
 * The schema that names are looked up in; see session.ts. If it exists, the only right needed is to own it: `if not exists` would still ask
 * for the right to create one.
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

/** Not a part of a migration: this table lists the migrations that have run. */
const MAKE_TABLE = `
  create table if not exists schema_migrations (
    name text primary key,
    lets_older_run boolean not null,
    applied_at timestamptz not null default now()
  )`;

const READ_ROWS = statement('read-migrations', 'select name, lets_older_run from schema_migrations');

const NOTE = statement(
  'note-migration',
  'insert into schema_migrations (name, lets_older_run) values ($name, $letsOlderRun)',
);

const TAKE_MARKS = statement('take-marks', 'delete from schema_migrations where name = any ($marks::text[])');
