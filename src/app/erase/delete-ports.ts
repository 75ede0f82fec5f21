/** What deleting emails needs from the database. */

/**
 * `kept`: it waits to be sent, is being sent, or its outcome is unknown. `absent`: there is none with that identifier.
 */
export type DeletionResult = 'deleted' | 'kept' | 'absent';

/** Throws `ServiceError('database_unavailable')`. */
export interface DeletionStore {
  /**
   * Deletes the email with everything that only it left in the database. Its identity is remembered as a digest, so that it
   * is not recorded again. Files are deleted later, see `deletedFiles`.
   */
  deleteEmail(id: string): Promise<DeletionResult>;
  /**
   * Deletes some of the emails of the thread, as `deleteEmail`, and with the last one the thread. When one of them has to be
   * kept, nothing is deleted at all.
   *
   * @returns how many were deleted; at most `limit`
   */
  deleteSomeOfThread(id: string, limit: number): Promise<number | 'kept' | 'absent'>;
}

/** The files of deleted emails. Throws `ServiceError('database_unavailable')`. */
export interface DeletedFiles {
  /** Those that are still to be deleted, or some of them. */
  filesToDelete(limit: number): Promise<readonly string[]>;
  /** They are gone from storage, or something refers to them. */
  forgetFiles(paths: readonly string[]): Promise<void>;
}
