/** What backups need of the database. */
import type { FileRecord } from '../../core/backup/file-entry.ts';
import type { Manifest, SequenceState, TablePart } from '../../core/backup/manifest.ts';

export type SnapshotTable = Pick<TablePart, 'name' | 'partitionOf' | 'columns'>;

/** Rows on their way, in PostgreSQL's COPY text format. */
export interface RowStream extends AsyncIterable<Buffer> {
  /** Known at the end. */
  readonly rows: number;
}

/** What a database holds, as of one moment. */
export interface DatabaseSnapshot extends Pick<
  Manifest,
  'databaseId' | 'postgres' | 'migrations' | 'schemaDigest' | 'eventPosition'
> {
  readonly takenAt: Date;
  readonly tables: readonly SnapshotTable[];
  readonly sequences: readonly SequenceState[];
  /** One at a time. */
  readTable(table: SnapshotTable): RowStream;
  /** Every file that a record names, sorted by path; each once. */
  readFiles(): AsyncIterable<FileRecord>;
}

/** All throw `ServiceError('database_unavailable')`, or what the driver says of a connection that breaks. */
export interface BackupSource {
  /**
   * No other backup of the database runs meanwhile; throws BackupError when one does. `isHeld` of what `work` gets: nothing has
   * ended that since.
   */
  exclusively<T>(work: (hold: { isHeld(): Promise<boolean> }) => Promise<T>): Promise<T>;
  /** The snapshot ends with `work`; until then the database keeps what is deleted meanwhile. */
  withSnapshot<T>(work: (snapshot: DatabaseSnapshot) => Promise<T>): Promise<T>;
}

/** What is restored: the facts of a snapshot, and its rows. */
export interface RestoredDatabase extends Pick<Manifest, 'schemaDigest' | 'serviceVersion'> {
  readonly takenAt: Date;
  /** `rows`: null when it is known at the end alone. */
  readonly tables: readonly (SnapshotTable & { readonly rows: number | null })[];
  readonly sequences: readonly SequenceState[];
  /** Throws when it is not what was backed up, at the end at the latest. */
  readTable(table: SnapshotTable): AsyncIterable<Buffer>;
}

/**
 * `hold`: what waits to be sent becomes `unknown`, so that nothing is sent a second time that was sent after the snapshot.
 * `send`: it stays in the queue, but for what was being handed over. `keep`: the database goes on elsewhere as it was.
 */
export type WaitingSendsPolicy = 'hold' | 'send' | 'keep';

/** What is in the database that is to be filled. */
export type TargetState =
  | { readonly kind: 'empty' }
  /** A restore into it was cut off. */
  | { readonly kind: 'unfinished' }
  | {
      readonly kind: 'filled';
      readonly databaseId: string;
      readonly emails: number;
      readonly eventPosition: string;
      /** It is being moved away, or that was interrupted. */
      readonly moving: boolean;
      /** It was moved away, and is not used any more. */
      readonly moved: boolean;
    };

export interface RestoreTarget {
  /** Throws when the server is too old. */
  readState(): Promise<TargetState>;
  /** The number of other programs of ours that are connected; null where that can't be seen, behind a pooler. */
  countOthers(): Promise<number | null>;
  /** From now on no service starts on it, until `load` is done. For a database that holds nothing. */
  markUnfinished(): Promise<void>;
  /**
   * Puts everything into the database in place of what was there, in one transaction: whole, or not at all. Returns what became of
   * sends. Throws BackupError when it is of another version.
   */
  load(database: RestoredDatabase, policy: WaitingSendsPolicy): Promise<LoadResult>;
}

export interface LoadResult {
  readonly rows: number;
  /** Sends that are `unknown` now. */
  readonly heldSends: number;
  /** Requests with an Idempotency-Key that had not ended; a repeat of one is answered with `send_unknown`. */
  readonly closedKeys: number;
}
