/** Files that callers store before the send that refers to them. */
import type { Account, IdSource } from '../base/basics.ts';
import type { BlobStore } from '../files/file-ports.ts';

export interface Upload {
  readonly id: string;
  /** Only sends of this account may use it. */
  readonly accountId: string;
  readonly filename: string;
  readonly contentType: string;
  readonly sizeBytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
  readonly storagePath: string;
  readonly expiresAt: Date;
}

/** Throws `ServiceError('database_unavailable')`. */
export interface UploadStore {
  /**
   * Called before its file is stored, so that no file is left without a row. Returns when it expires, by the database's clock; null when
   * all uploads together would exceed `maxBytes`.
   */
  reserve(upload: Omit<Upload, 'expiresAt'>, lifeMs: number, maxBytes: number): Promise<Date | null>;
  /** Uploads that expired that long ago, at most `limit`; none while the database's clock is in doubt. */
  listExpired(graceMs: number, limit: number): Promise<readonly Pick<Upload, 'id' | 'storagePath'>[]>;
  remove(ids: readonly string[]): Promise<void>;
}

export interface UploadPorts {
  readonly uploads: UploadStore;
  readonly blobs: Pick<BlobStore, 'put' | 'delete'>;
  readonly accounts: ReadonlyMap<string, Account>;
  readonly defaultAccountId: string;
  readonly openFile: (path: string) => AsyncIterable<Buffer>;
  readonly ids: IdSource;
}
