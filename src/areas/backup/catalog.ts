/** Reads the parts of the schema from PostgreSQL itself: every table that exists is in a backup. */
import { run, statement, type Executor } from '../../platform/db/statement.ts';
import type { SequenceState } from '../../core/backup/manifest.ts';
import type { SnapshotTable } from './backup-ports.ts';

/**
 * Tables with rows of their own, partitions included, by name. Unlogged tables are left out, because they hold nothing for longer than a
 * transaction, and so are the table of migrations, which comes with the program, and removals under way: after a restore, an
 * operator has to request them again.
 */
export async function readTables(executor: Executor): Promise<readonly SnapshotTable[]> {
  const rows = await run(executor, TABLES);
  return rows.map(({ name, partition_of: partitionOf, columns }) => ({ name, partitionOf, columns }));
}

const TABLES = statement(
  'tables-to-back-up',
  `select c.relname::text as name, p.relname::text as partition_of, (
      select array_agg(a.attname::text order by a.attnum) from pg_attribute a
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    ) as columns
  from pg_class c
  left join pg_inherits i on i.inhrelid = c.oid
  left join pg_class p on p.oid = i.inhparent
  where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and c.relpersistence = 'p'
    and c.relname <> all ('{schema_migrations,capture_removals,capture_removal_emails}')
  order by c.relname`,
).narrow<{ name: string; columns: string[] }>();

export async function readSequences(executor: Executor): Promise<readonly SequenceState[]> {
  const rows = await run(executor, SEQUENCES);
  return rows.map(({ name, last_value: lastValue, is_called: isCalled }) => ({ name, lastValue, isCalled }));
}

const SEQUENCES = statement(
  'sequences-to-back-up',
  `select sequencename::text as name, coalesce(last_value, start_value)::text as last_value, last_value is not null as is_called
  from pg_sequences where schemaname = current_schema() order by sequencename`,
).narrow<{ name: string; last_value: string; is_called: boolean }>();

/** Covers all tables with their columns and types: rows of one schema fit into any other schema with the same digest. */
export async function readSchemaDigest(executor: Executor): Promise<string> {
  const [row] = await run(executor, SCHEMA_DIGEST);
  return row?.digest ?? '';
}

const SCHEMA_DIGEST = statement(
  'schema-digest',
  `select encode(sha256(convert_to(coalesce(string_agg(
      concat_ws(' ', c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attgenerated), chr(10)
      order by c.relname collate "C", a.attname collate "C"
    ), ''), 'UTF8')), 'hex') as digest
  from pg_class c
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`,
);

/** Identifies the database, and reveals nothing about the key that it is made from. */
export async function readDatabaseId(executor: Executor): Promise<string> {
  const [row] = await run(executor, DATABASE_ID);
  return row?.id ?? '';
}

const DATABASE_ID = statement(
  'database-id',
  `select encode(sha256('email-worker database'::bytea || inner_key), 'hex') as id from digest_key`,
);

/** A name from the catalog, quoted for a statement. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Fixes how values are written in a backup, whatever the settings of the server or the role are. */
export const PLAIN_VALUES = `
  set local client_encoding = 'UTF8';
  set local datestyle = 'ISO, MDY';
  set local intervalstyle = 'postgres';
  set local timezone = 'UTC';
  set local extra_float_digits = 1;
  set local bytea_output = 'escape'`;
