/**
 * Fills a database with the rows of another one, in one transaction. The schema is re-created, as this program defines it. Triggers, foreign
 * keys and indexes come after the rows: the triggers did their work when the rows were first written, an index is built faster from all
 * rows at once, and foreign keys are checked when they are created.
 */
import { pipeline } from 'node:stream/promises';
import type { PoolClient } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { LoadResult, RestoredDatabase, SnapshotTable, WaitingSendsPolicy } from './backup-ports.ts';
import { BackupError } from '../../core/backup/manifest.ts';
import { lockMigrations, makeSchema } from '../../platform/db/migrate.ts';
import { sqlState } from '../../platform/db/pool.ts';
import { run, statement } from '../../platform/db/statement.ts';
import { PLAIN_VALUES, quoted, readSchemaDigest, readSequences, readTables } from './catalog.ts';
import { restoreStorage } from '../../platform/files/storage-record.ts';
import { settleRestored } from './settle-restored.ts';

/** Runs in the caller's transaction, which the caller rolls back when this throws. */
export async function loadDatabase(
  client: PoolClient,
  database: RestoredDatabase,
  policy: WaitingSendsPolicy,
): Promise<LoadResult> {
  await lockMigrations(client);
  await client.query(CLEAR);
  await makeSchema(client);
  await client.query(PLAIN_VALUES);
  if ((await readSchemaDigest(client)) !== database.schemaDigest) {
    throw new BackupError(
      `the tables are not those of email-worker ${database.serviceVersion}, which made the backup: restore it with that version`,
    );
  }
  for (const table of database.tables) await makePartition(client, table);
  requireSame(await readTables(client), database.tables);

  const aside = await setAside(client);
  let rows = 0;
  for (const table of database.tables) rows += await fill(client, database, table);
  for (const text of aside) await client.query(text);
  await restoreSequences(client, database);
  if (database.storageId !== undefined) await restoreStorage(client, database.storageId);
  const settled = await settleRestored(client, database.takenAt, policy);
  await client.query(`analyze ${database.tables.map(({ name }) => quoted(name)).join(', ')}`);
  return { rows, ...settled };
}

/** Drops everything in the schema, which belongs to us alone. Dropping the schema itself would need the right to create one. */
const CLEAR = `
  do $$
  declare
    name text = trim('"' from split_part(current_setting('search_path'), ',', 1));
    here oid = to_regnamespace(name);
    named text;
  begin
    foreach named in array array(
      select format('table %I.%I', name, relname) from pg_class
      where relnamespace = here and relkind in ('r', 'p') and not relispartition
      union all
      select format('sequence %I.%I', name, relname) from pg_class where relnamespace = here and relkind = 'S'
      union all
      select format('routine %I.%I(%s)', name, proname, pg_get_function_identity_arguments(oid)) from pg_proc where pronamespace = here
      union all
      select format(case typtype when 'd' then 'domain %I.%I' else 'type %I.%I' end, name, typname) from pg_type t
      where typnamespace = here and (typtype in ('d', 'e')
        or exists (select from pg_class c where c.oid = t.typrelid and c.relkind = 'c'))
    ) loop
      begin
        execute format('drop %s cascade', named);
      exception when undefined_object or undefined_table or undefined_function then
        -- It went with one before it.
        null;
      end;
    end loop;
  end $$`;

/** The tables with partitions, one per day, whose names end with the day; and the function that makes a partition. */
const PARTITIONED: ReadonlyMap<string, string> = new Map([
  ['events', 'make_event_partition'],
  ['webhook_deliveries', 'make_webhook_partition'],
]);

async function makePartition(client: PoolClient, { name, partitionOf }: SnapshotTable): Promise<void> {
  if (partitionOf === null) return;
  const make = PARTITIONED.get(partitionOf);
  const day = /_(\d{8})$/.exec(name)?.[1];
  if (make === undefined || day === undefined)
    throw new BackupError(`the backup has a table that this version does not know: ${name}`);
  await client.query(`select ${make}(to_date($1, 'YYYYMMDD') - '1970-01-01'::date)`, [day]);
}

function requireSame(here: readonly SnapshotTable[], there: readonly SnapshotTable[]): void {
  const describe = (tables: readonly SnapshotTable[]) =>
    new Set(
      tables.map(
        ({ name, partitionOf, columns }) => `${name} ${partitionOf ?? ''} ${columns.toSorted().join()}`,
      ),
    );
  const [ours, theirs] = [describe(here), describe(there)];
  const other = [...ours].find((one) => !theirs.has(one)) ?? [...theirs].find((one) => !ours.has(one));
  if (other !== undefined)
    throw new BackupError(
      `the tables of the backup are not those of this version: ${other.split(' ', 1)[0]}`,
    );
}

/** Empties all tables and removes the checks that rows need not pass. Returns the statements that put these back, in order. */
async function setAside(client: PoolClient): Promise<readonly string[]> {
  const keys = await run(client, FOREIGN_KEYS);
  for (const { table_name: table, name } of keys)
    await client.query(`alter table ${table} drop constraint ${quoted(name)}`);
  const indexes = await run(client, INDEXES);
  for (const { name } of indexes) await client.query(`drop index ${name}`);
  const tables = (await readTables(client)).map(({ name }) => quoted(name));
  // In the same transaction as the rows: they are written frozen, so vacuum need not visit them again.
  await client.query(`truncate ${tables.join(', ')}`);
  for (const table of tables) await client.query(`alter table ${table} disable trigger user`);
  return [
    ...indexes.map(({ definition }) => definition),
    ...keys.map(
      ({ table_name: table, name, definition }) =>
        `alter table ${table} add constraint ${quoted(name)} ${definition}`,
    ),
    ...tables.map((table) => `alter table ${table} enable trigger user`),
  ];
}

const FOREIGN_KEYS = statement(
  'foreign-keys',
  `select conrelid::regclass::text as table_name, conname::text as name, pg_get_constraintdef(oid) as definition
  from pg_constraint where contype = 'f' and conparentid = 0 and connamespace = current_schema()::regnamespace
  order by conname`,
).narrow<{ table_name: string; name: string; definition: string }>();

/** Without the indexes of constraints, which stay, and those of partitions, which are part of other indexes. */
const INDEXES = statement(
  'secondary-indexes',
  `select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition
  from pg_index i join pg_class c on c.oid = i.indrelid
  where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and not c.relispartition
    and not exists (select from pg_constraint k where k.conindid = i.indexrelid)
  order by i.indexrelid`,
).narrow<{ name: string; definition: string }>();

async function fill(
  client: PoolClient,
  database: RestoredDatabase,
  table: RestoredDatabase['tables'][number],
): Promise<number> {
  const columns = table.columns.map(quoted).join(', ');
  const stream = client.query(copyFrom(`copy ${quoted(table.name)} (${columns}) from stdin (freeze)`));
  try {
    await pipeline(database.readTable(table), stream);
  } catch (error) {
    throw isBadData(error)
      ? new BackupError(`the rows of ${table.name} can't be loaded`, { cause: error })
      : error;
  }
  if (table.rows !== null && stream.rowCount !== table.rows) {
    throw new BackupError(`${table.name} has ${stream.rowCount} rows in the backup, and not ${table.rows}`);
  }
  return stream.rowCount;
}

/** SQLSTATE classes 22 and 23: data exceptions, and rows that break a constraint. */
const isBadData = (error: unknown): boolean => /^2[23]/.test(sqlState(error) ?? '');

async function restoreSequences(client: PoolClient, { sequences }: RestoredDatabase): Promise<void> {
  const known = new Set((await readSequences(client)).map(({ name }) => name));
  for (const { name, lastValue, isCalled } of sequences) {
    if (!known.has(name)) throw new BackupError(`the backup has a sequence that this version does not know`);
    await client.query('select setval($1::regclass, $2::bigint, $3)', [quoted(name), lastValue, isCalled]);
  }
}
