/**
 * Makes a backup, whether or not the service is running. The database is read in one snapshot; then the files, which
 * never change once a record names them; the manifest comes last. An interrupted backup has no manifest, and the next one
 * takes over its files.
 */
import { formatFileLine, isAbsent, type FileLine } from '../../core/backup/file-entry.ts';
import { BACKUP_FORMAT, BackupError, type Manifest, type TablePart } from '../../core/backup/manifest.ts';
import type { BackupSource, DatabaseSnapshot } from './backup-ports.ts';
import { copyFiles, type CopyCounts, type CopyFilesPorts } from './copy-files.ts';
import { readFileLines } from './file-list.ts';
import { readRecords, spoolRecords, type SpoolRecordsPorts } from './spool-records.ts';
import { pruneBackups } from './prune-backups.ts';
import { Vault } from './vault.ts';

export interface MakeBackupPorts extends CopyFilesPorts, SpoolRecordsPorts {
  readonly source: BackupSource;
  readonly clock: () => Date;
}

export interface MakeBackupOptions {
  readonly serviceVersion: string;
  /** Whole backups to keep, this one included; null: all. */
  readonly keep: number | null;
  readonly signal: AbortSignal;
  /** Called for each file that a record names and the storage does not have. */
  readonly onMissing: (path: string) => void;
  /** Called with each step. */
  readonly onStep: (text: string) => void;
}

export interface BackupResult {
  readonly id: string;
  readonly manifest: Manifest;
  readonly copied: Pick<CopyCounts, 'copied' | 'copiedBytes'>;
  readonly removedBackups: number;
  readonly removedFiles: number;
}

/** Throws BackupError, errors of the storages, and the reason of the signal. */
export function makeBackup(ports: MakeBackupPorts, options: MakeBackupOptions): Promise<BackupResult> {
  const { source, vault } = ports;
  return source.exclusively(async (hold) => {
    const whole = (await vault.list()).filter(({ isWhole }) => isWhole);
    const last = whole.at(-1);
    const before = last === undefined ? null : { id: last.id, manifest: await vault.readManifest(last.id) };
    const folder = ports.spool.create();
    try {
      options.onStep('reading the database');
      const { id, wanted, facts } = await source.withSnapshot(async (snapshot) => {
        if (before !== null && before.manifest.databaseId !== snapshot.databaseId) {
          throw new BackupError(
            'the place holds backups of another database; give each one a place of its own',
          );
        }
        const backup = Vault.idOf(snapshot.takenAt);
        if (last !== undefined && last.id >= backup)
          throw new BackupError(`the place has a backup of the same moment or of a later one: ${last.id}`);
        return {
          id: backup,
          facts: await writeTables(vault, backup, snapshot, options.signal),
          wanted: await spoolRecords(folder, snapshot.readFiles()),
        };
      });

      options.onStep('copying files');
      const counts = { copied: 0, copiedBytes: 0, count: 0, contentBytes: 0, deleted: 0, missing: 0 };
      const lines = copyFiles(
        ports,
        readRecords(ports, wanted),
        before === null ? nothing() : readFileLines(vault, before.id, before.manifest),
        counts,
        options.signal,
      );
      const files = await vault.writeStream(id, 'files', toBytes(lines, options.onMissing));
      const { copied, copiedBytes, ...contents } = counts;
      const manifest: Manifest = {
        format: BACKUP_FORMAT,
        ...facts,
        serviceVersion: options.serviceVersion,
        endedAt: ports.clock().toISOString(),
        files: { ...files, ...contents },
      };
      options.signal.throwIfAborted();
      await vault.writeManifest(id, manifest);

      // Another backup, which may rely on a file that is no longer in use, runs only if this one has lost its hold.
      const pruned =
        options.keep !== null && (await hold.isHeld())
          ? await pruneBackups(vault, options.keep, options.onStep)
          : { backups: 0, files: 0 };
      return {
        id,
        manifest,
        copied: { copied, copiedBytes },
        removedBackups: pruned.backups,
        removedFiles: pruned.files,
      };
    } finally {
      await folder.remove();
    }
  });
}

async function writeTables(
  vault: Vault,
  id: string,
  snapshot: DatabaseSnapshot,
  signal: AbortSignal,
): Promise<Omit<Manifest, 'format' | 'endedAt' | 'files' | 'serviceVersion'>> {
  const { takenAt, databaseId, postgres, migrations, schemaDigest, eventPosition, sequences } = snapshot;
  const tables: TablePart[] = [];
  for (const table of snapshot.tables) {
    signal.throwIfAborted();
    const stream = snapshot.readTable(table);
    const stored = await vault.writeStream(id, `tables/${table.name}`, stream);
    tables.push({ ...table, rows: stream.rows, ...stored });
  }
  return {
    takenAt: takenAt.toISOString(),
    databaseId,
    postgres,
    migrations,
    schemaDigest,
    eventPosition,
    tables,
    sequences: [...sequences],
  };
}

async function* toBytes(
  lines: AsyncIterable<FileLine>,
  onMissing: (path: string) => void,
): AsyncGenerator<Buffer> {
  for await (const line of lines) {
    if (isAbsent(line) && line.absent === 'missing') onMissing(line.path);
    yield Buffer.from(formatFileLine(line));
  }
}

async function* nothing(): AsyncGenerator<never> {}
