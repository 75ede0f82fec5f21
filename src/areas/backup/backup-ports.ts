/** The database operations that backups need. */
import type { FileRecord } from '../../core/backup/file-entry.ts';
import type { Manifest, SequenceState, TablePart } from '../../core/backup/manifest.ts';

export type SnapshotTable = Pick<TablePart, 'name' | 'partitionOf' | 'columns'>;

/** Rows being streamed, in PostgreSQL's COPY text format. */
export interface RowStream extends AsyncIterable<Buffer> {
  /** Known at the end only. */
  readonly rows: number;
}

/** The content of a database at one moment. */
export interface DatabaseSnapshot extends Pick<
  Manifest,
  'databaseId' | 'postgres' | 'migrations' | 'schemaDigest' | 'eventPosition'
> {
  readonly takenAt: Date;
  readonly tables: readonly SnapshotTable[];
  readonly sequences: readonly SequenceState[];
  /** Only one table may be read at a time. */
  readTable(table: SnapshotTable): RowStream;
  /** Every file that a record names, once, sorted by path. */
  readFiles(): AsyncIterable<FileRecord>;
}

/** All throw `ServiceError('database_unavailable')`, or the driver's error when a connection breaks. */
export interface BackupSource {
  /**
   * No other backup of the database runs meanwhile; throws BackupError when one does. `isHeld`, which `work` receives, is
   * true as long as this exclusive hold has not been lost.
   */
  exclusively<T>(work: (hold: { isHeld(): Promise<boolean> }) => Promise<T>): Promise<T>;
  /** The snapshot ends with `work`; until then the database keeps rows that are deleted meanwhile. */
  withSnapshot<T>(work: (snapshot: DatabaseSnapshot) => Promise<T>): Promise<T>;
}

/** The database to restore: the facts of a snapshot, and its rows. */
export interface RestoredDatabase extends Pick<Manifest, 'schemaDigest' | 'serviceVersion'> {
  /** The storage of files that it goes on with; null: the next start finds out. Absent: the one that it had. */
  readonly storageId?: string | null;
  readonly takenAt: Date;
  /** `rows`: null when it is known only at the end. */
  readonly tables: readonly (SnapshotTable & { readonly rows: number | null })[];
  readonly sequences: readonly SequenceState[];
  /** Throws, at the end at the latest, when the content differs from what was backed up. */
  readTable(table: SnapshotTable): AsyncIterable<Buffer>;
}

/**
 * `hold`: emails that wait to be sent become `unknown`, so that nothing sent after the snapshot is sent a second time.
 * `send`: they stay in the queue, except those that were being handed over. `keep`: the database goes on elsewhere as it
 * was.
 */
export type WaitingSendsPolicy = 'hold' | 'send' | 'keep';

/** The content of the database that is to be filled. */
export type TargetState =
  | { readonly kind: 'empty' }
  /** A restore into it was interrupted. */
  | { readonly kind: 'unfinished' }
  | {
      readonly kind: 'filled';
      readonly databaseId: string;
      readonly emails: number;
      readonly eventPosition: string;
      /** It is being moved away, or the move was interrupted. */
      readonly moving: boolean;
      /** It was moved away and is no longer used. */
      readonly moved: boolean;
    };

export interface RestoreTarget {
  /** Throws when the server is too old. */
  readState(): Promise<TargetState>;
  /** The number of our other programs that are connected; null where that can't be seen, behind a pooler. */
  countOthers(): Promise<number | null>;
  /** The id of the storage that the database has; null: none, or it has no tables. */
  readStorageId(): Promise<string | null>;
  /** From now on no service starts on it, until `load` is done. For an empty database. */
  markUnfinished(): Promise<void>;
  /**
   * Replaces the content of the database in one transaction: whole, or not at all. Returns what became of sends. Throws
   * BackupError when the backup is of another version.
   */
  load(database: RestoredDatabase, policy: WaitingSendsPolicy): Promise<LoadResult>;
}

export interface LoadResult {
  readonly rows: number;
  /** Sends that are `unknown` now. */
  readonly heldSends: number;
  /** Requests with an Idempotency-Key that had not ended; repeating one is answered with `send_unknown`. */
  readonly closedKeys: number;
}
