/** Contents, the scratch folders of requests, and the store of files. */
import type { Readable } from 'node:stream';

/** Bytes in memory (small) or in a file of the spool (large). Never changed once made. */
export type Content =
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  | {
      readonly kind: 'file';
      readonly path: string;
      readonly sizeBytes: number;
      /** It has no byte above 127. Set for content that this process wrote; absent: unknown. */
      readonly isAscii?: boolean;
    };

/** A scratch folder of one request, for content that is too large for memory. */
export interface SpoolFolder {
  /** Writes a stream to a new file, without fsync. Throws `ServiceError('disk_full')` when there is no space. */
  write(source: AsyncIterable<Buffer>): Promise<SpoolFile>;
  /** Moves a file of another folder of the same spool here; its old path is gone. Throws `ServiceError('disk_full')`. */
  adopt(file: SpoolFile): Promise<SpoolFile>;
  /** Deletes everything in it; a second call does nothing. */
  remove(): Promise<void>;
}

export type SpoolFile = Extract<Content, { kind: 'file' }>;

export interface Spool {
  /** The folder appears on disk with its first file; making one costs nothing. */
  create(): SpoolFolder;
}

/** Byte range, both ends included, zero-based (RFC 9110 §14.1.2). */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Files under a relative path with `/`, such as `<account_id>/<email_id>/<filename>`. */
export interface BlobStore {
  /**
   * Stores a file durably; it is visible whole or not at all. A second put of the same path replaces it.
   * Throws `ServiceError('storage_unavailable' | 'disk_full')`.
   */
  put(path: string, content: Content, contentType: string): Promise<void>;
  /** null when the file does not exist. The stream must be read or destroyed. */
  get(path: string, range?: ByteRange): Promise<Readable | null>;
  /** Deletes the file; does nothing when it does not exist. */
  delete(path: string): Promise<void>;
  /**
   * Every file, in any order; files added or deleted meanwhile may be among them or not. Throws
   * `ServiceError('storage_unavailable')`.
   */
  list(): AsyncIterable<StoredFile>;
  /** Throws when the store can't be reached or written to. */
  check(): Promise<void>;
  /** null: the store has none. Throws `ServiceError('storage_unavailable')`. */
  readIdentity(): Promise<StorageIdentity | null>;
  /**
   * Gives the store an identity durably. `create`: unless it has one by now. Throws
   * `ServiceError('storage_unavailable' | 'disk_full')`.
   */
  writeIdentity(identity: StorageIdentity, mode: 'create' | 'replace'): Promise<void>;
  /** How long what `readIdentity` found may be relied on, in ms; 0 for a store that can become another at any moment. */
  readonly identityMaxAgeMs: number;
  /**
   * For the end of the time that a stop may take: every operation that waits for a server, now or later, fails with
   * `ServiceError('storage_unavailable')`.
   */
  abort(): void;
  close(): Promise<void>;
}

/**
 * The time is certain, and this process reaches the files of this database: what it deletes is what was meant, and the files go as well. Throws
 * `clock_skewed`, `clock_in_doubt`, `storage_mismatch`, `storage_unavailable` and `database_unavailable`.
 */
export type RequireCertainty = () => Promise<void>;

/** An object of the store that belongs to the store itself. A database records the id of its store; see own-storage.ts. */
export interface StorageIdentity {
  readonly id: string;
  /** The name of the database that it was made for; for people. */
  readonly database: string;
}

/** A file in the store. */
export interface StoredFile {
  readonly path: string;
  readonly sizeBytes: number;
  /** When it was last put, or later. */
  readonly storedAt: Date;
}

/** The location of a raw message: exactly one of `raw` and `rawPath` is set. */
export interface RecordedRaw {
  readonly rawSizeBytes: number;
  /** Small messages stay in the database. */
  readonly raw: Buffer | null;
  /** Large messages are in blob storage. */
  readonly rawPath: string | null;
}

/** The location of a stored message: one of the two. */
export interface RawLocation {
  readonly bytes: Buffer | null;
  readonly path: string | null;
  readonly sizeBytes: number;
}
