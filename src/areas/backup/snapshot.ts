/** `BackupSource` on PostgreSQL. A snapshot is one transaction, so it also works through a pooler that shares sessions. */
import type { PoolClient } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import type { BackupSource, DatabaseSnapshot, RowStream, SnapshotTable } from './backup-ports.ts';
import type { FileRecord } from '../../core/backup/file-entry.ts';
import { BackupError } from '../../core/backup/manifest.ts';
import { isMark, readMark } from '../../platform/db/migrate.ts';
import { sqlState } from '../../platform/db/pool.ts';
import { run, statement } from '../../platform/db/statement.ts';
import { BeginAgain, inOwnTransaction } from '../../platform/db/transaction.ts';
import type { MovedDatabase } from './move-database.ts';
import {
  PLAIN_VALUES,
  quoted,
  readDatabaseId,
  readSchemaDigest,
  readSequences,
  readTables,
} from './catalog.ts';
import { onOwnConnection, type OpenPatientPool } from './exclusive-connection.ts';
import { setMark } from './set-mark.ts';

/** Any constant that no other user of the same database uses. */
const BACKUP_LOCK = 0x656d6c78;
/** undefined_table */
const UNDEFINED_TABLE = '42P01';
/** A partition that is created or dropped while the tables are being locked makes the snapshot begin again. */
const MAX_TRIES = 5;

export function createBackupSource(openPool: OpenPatientPool): BackupSource {
  return {
    exclusively: (work) =>
      onOwnConnection(openPool, (client) =>
        // While no statement runs, it holds a lock but no snapshot, so it does not hold up vacuum.
        inOwnTransaction(
          client,
          async () => {
            const [row] = await run(client, TRY_LOCK);
            if (row?.is_locked !== true) throw new BackupError('another backup of the database is under way');
            return work({
              isHeld: () =>
                client.query('select').then(
                  () => true,
                  () => false,
                ),
            });
          },
          // The lock is lost with the connection; the backup is complete all the same.
          { mayLoseEnd: true },
        ),
      ),

    withSnapshot: (work) =>
      onOwnConnection(openPool, (client) =>
        inSnapshot(client, async (tables) => work(await toSnapshot(client, tables))),
      ),
  };
}

export function createMovedDatabase(openPool: OpenPatientPool): MovedDatabase {
  return {
    ...createBackupSource(openPool),
    readMark: () => onOwnConnection(openPool, readMark),
    mark: (mark) => setMark(openPool, mark),
  };
}

const TRY_LOCK = statement(
  'try-lock-backup',
  `select pg_try_advisory_xact_lock(${BACKUP_LOCK}) as is_locked`,
);

/** Locks all tables against being altered or dropped before the snapshot is taken, so that tables and rows are of the same moment. */
async function inSnapshot<T>(
  client: PoolClient,
  work: (tables: readonly SnapshotTable[]) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const before = await readTables(client);
    try {
      return await inOwnTransaction(client, async () => work(await lockTables(client, before)), {
        kind: 'snapshot',
      });
    } catch (error) {
      if (!(error instanceof BeginAgain)) throw error;
      if (attempt >= MAX_TRIES)
        throw error.cause ?? new BackupError('the tables of the database change all the time');
    }
  }
}

/** Throws BeginAgain when the set of tables has changed; its cause is the server's error about a table that is gone. */
async function lockTables(
  client: PoolClient,
  before: readonly SnapshotTable[],
): Promise<readonly SnapshotTable[]> {
  try {
    // The snapshot is taken by the first statement that needs one, which is the one after this.
    await client.query(
      `lock table ${before.map(({ name }) => quoted(name)).join(', ')} in access share mode`,
    );
    await client.query(PLAIN_VALUES);
    const tables = await readTables(client);
    if (JSON.stringify(tables) === JSON.stringify(before)) return tables;
  } catch (cause) {
    if (sqlState(cause) !== UNDEFINED_TABLE) throw cause;
    throw new BeginAgain('a table is gone', { cause });
  }
  throw new BeginAgain('the tables are others');
}

async function toSnapshot(client: PoolClient, tables: readonly SnapshotTable[]): Promise<DatabaseSnapshot> {
  const [facts] = await run(client, FACTS);
  if (facts === undefined) throw new Error('the clock of events has no row');
  return {
    takenAt: facts.now,
    databaseId: await readDatabaseId(client),
    postgres: facts.version,
    migrations: facts.migrations.filter((name) => !isMark(name)),
    schemaDigest: await readSchemaDigest(client),
    eventPosition: facts.position,
    tables,
    sequences: await readSequences(client),
    readTable: ({ name, columns }) =>
      copyRows(client, `copy ${quoted(name)} (${columns.map(quoted).join(', ')}) to stdout`),
    readFiles: () => readFiles(client),
  };
}

/** `now()` is before the snapshot was taken, so that everything from before that moment is in it. */
const FACTS = statement(
  'facts-of-snapshot',
  `select date_trunc('milliseconds', now()) as now, current_setting('server_version') as version,
    (select position::text from event_clock) as position,
    (select array_agg(name order by name) from schema_migrations) as migrations`,
).narrow<{ now: Date; version: string; position: string; migrations: string[] }>();

function copyRows(client: PoolClient, text: string): RowStream {
  const stream = client.query(copyTo(text));
  return {
    get rows() {
      return stream.rowCount;
    },
    [Symbol.asyncIterator]: () => stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>,
  };
}

/** Paths in hex: they may contain characters that end a value or a line. They are in the order of their bytes. */
const FILES = `
  select distinct on (path) encode(path, 'hex'), size_bytes, coalesce(sha256, '') from (
    select convert_to(storage_path, 'UTF8') as path, size_bytes, encode(sha256, 'hex') as sha256 from email_attachments
    union all
    select convert_to(storage_path, 'UTF8'), size_bytes, encode(sha256, 'hex') from uploads
    union all
    select convert_to(storage_path, 'UTF8'), size_bytes, sha256 from draft_files
    union all
    select convert_to(raw_path, 'UTF8'), raw_size_bytes, null from emails where raw_path is not null
    union all
    select convert_to(raw_path, 'UTF8'), raw_size_bytes, null from email_variants where raw_path is not null
  ) f order by path, sha256`;

async function* readFiles(client: PoolClient): AsyncGenerator<FileRecord> {
  let rest = '';
  for await (const chunk of copyRows(client, `copy (${FILES}) to stdout`)) {
    const lines = `${rest}${chunk.toString('latin1')}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const [path = '', sizeBytes = '', sha256 = ''] = line.split('\t');
      yield {
        path: Buffer.from(path, 'hex').toString(),
        sizeBytes: Number(sizeBytes),
        sha256: sha256 === '' ? null : sha256,
      };
    }
  }
}
