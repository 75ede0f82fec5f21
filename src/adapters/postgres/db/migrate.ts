/** Brings the schema up to date. Safe when several instances start at the same moment. */
import { Migrator, sql, type Kysely, type Migration } from 'kysely';
import type { Pool } from 'pg';
import type { Database } from './database.ts';
import * as emails from './migrations/0001_emails.ts';
import * as queue from './migrations/0002_queue.ts';
import * as idempotency from './migrations/0003_idempotency.ts';
import * as inbound from './migrations/0004_inbound.ts';
import * as oauth2Tokens from './migrations/0005_oauth2_tokens.ts';
import * as mailboxes from './migrations/0006_mailboxes.ts';
import * as threadDecisions from './migrations/0007_thread_decisions.ts';
import * as customerRules from './migrations/0008_customer_rules.ts';
import * as threadListSearch from './migrations/0009_thread_list_search.ts';
import * as bounces from './migrations/0010_bounces.ts';
import * as imports from './migrations/0011_imports.ts';
import * as sentCopies from './migrations/0012_sent_copies.ts';
import * as emailAliases from './migrations/0013_email_aliases.ts';
import * as notParsed from './migrations/0014_not_parsed.ts';
import * as mailboxCounts from './migrations/0015_mailbox_counts.ts';
import * as search from './migrations/0020_search.ts';
import * as automaticExchanges from './migrations/0022_automatic_exchanges.ts';
import * as joinBySubject from './migrations/0023_join_by_subject.ts';
import * as quarantine from './migrations/0024_quarantine.ts';
import * as searchFileNames from './migrations/0025_search_file_names.ts';
import * as summariesOfBatches from './migrations/0026_summaries_of_batches.ts';
import * as partiesOfThreads from './migrations/0030_parties_of_threads.ts';
import * as variants from './migrations/0035_variants.ts';
import * as emailJson from './migrations/0080_email_json.ts';

/** In order of their names; forward only. A migration that was ever released is never changed. */
const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001_emails': emails,
  '0002_queue': queue,
  '0003_idempotency': idempotency,
  '0004_inbound': inbound,
  '0005_oauth2_tokens': oauth2Tokens,
  '0006_mailboxes': mailboxes,
  '0007_thread_decisions': threadDecisions,
  '0008_customer_rules': customerRules,
  '0009_thread_list_search': threadListSearch,
  '0010_bounces': bounces,
  '0011_imports': imports,
  '0012_sent_copies': sentCopies,
  '0013_email_aliases': emailAliases,
  '0014_not_parsed': notParsed,
  '0015_mailbox_counts': mailboxCounts,
  '0020_search': search,
  '0022_automatic_exchanges': automaticExchanges,
  '0023_join_by_subject': joinBySubject,
  '0024_quarantine': quarantine,
  '0025_search_file_names': searchFileNames,
  '0026_summaries_of_batches': summariesOfBatches,
  '0030_parties_of_threads': partiesOfThreads,
  '0035_variants': variants,
  '0080_email_json': emailJson,
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
