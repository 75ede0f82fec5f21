/** The database operations that deleting emails needs. */

/** `kept`: it waits to be sent, is being sent, or its outcome is unknown. `absent`: nothing has that identifier. */
export type DeletionResult = 'deleted' | 'kept' | 'absent';

export interface DeletionOptions {
  /** The key that deletes; null: none. */
  readonly keyId?: string | null;
  /** True: the result is that of the deletion, and nothing is deleted. */
  readonly dryRun?: boolean;
}

/** All throw `ServiceError('database_unavailable')`. */
export interface DeletionStore {
  /**
   * Deletes the email with everything in the database that only it left. A digest of its identity is kept, so that it is
   * not recorded again. Files are deleted later, see `DeletedFiles`.
   */
  deleteEmail(id: string, options?: DeletionOptions): Promise<DeletionResult>;
  /**
   * Deletes some of the emails of the thread, as `deleteEmail` does, and with the last one the thread. When one of them
   * has to be kept, nothing is deleted at all.
   *
   * @returns how many were deleted; at most `limit`
   */
  deleteSomeOfThread(
    id: string,
    limit: number,
    options?: DeletionOptions,
  ): Promise<number | 'kept' | 'absent'>;
}

/** The files of deleted emails. Throws `ServiceError('database_unavailable')`. */
export interface DeletedFiles {
  /** Files that are to be deleted now, or some of them. */
  filesToDelete(limit: number): Promise<readonly string[]>;
  /** Call it for a file that could not be deleted: it is tried again later. */
  deferFile(path: string): Promise<void>;
  /** True while a file is still to be deleted, now or later. */
  hasFiles(): Promise<boolean>;
  /** Call it for files that are gone from storage, or that something refers to. */
  forgetFiles(paths: readonly string[]): Promise<void>;
}
