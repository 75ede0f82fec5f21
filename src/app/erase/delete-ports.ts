/** What deleting emails needs from the database. */

/**
 * `kept`: it waits to be sent, is being sent, or its outcome is unknown. `absent`: there is none with that identifier.
 */
export type DeletionResult = 'deleted' | 'kept' | 'absent';

/** Throws `ServiceError('database_unavailable')`. `keyId`: the key that deletes; null: none. */
export interface DeletionStore {
  /**
   * Deletes the email with everything that only it left in the database. Its identity is remembered as a digest, so that it
   * is not recorded again. Files are deleted later, see `deletedFiles`.
   */
  deleteEmail(id: string, keyId?: string | null): Promise<DeletionResult>;
  /**
   * Deletes some of the emails of the thread, as `deleteEmail`, and with the last one the thread. When one of them has to be
   * kept, nothing is deleted at all.
   *
   * @param quietSince one with an email of that time or later is kept; null: any time
   * @returns how many were deleted; at most `limit`
   */
  deleteSomeOfThread(
    id: string,
    limit: number,
    quietSince: Date | null,
    keyId?: string | null,
  ): Promise<number | 'kept' | 'absent'>;
  /** Threads of the account in which nothing was sent or received since, the longest quiet first; none that has to be kept. */
  findQuiet(accountId: string, since: Date, limit: number): Promise<readonly string[]>;
  /** Their number, and that of their emails. */
  countQuiet(accountId: string, since: Date): Promise<{ readonly threads: number; readonly emails: number }>;
}

/** The files of deleted emails. Throws `ServiceError('database_unavailable')`. */
export interface DeletedFiles {
  /** Those that are still to be deleted, or some of them. */
  filesToDelete(limit: number): Promise<readonly string[]>;
  /** They are gone from storage, or something refers to them. */
  forgetFiles(paths: readonly string[]): Promise<void>;
}
