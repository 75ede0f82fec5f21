/** The use cases of deleting that the edges call. `keyId`: the key that deletes, which the events contain; null: none. */

export interface EraseUseCases {
  /**
   * Permanently deletes one email: its content, its files, and every trace that only it left. Throws `email_not_found`,
   * `not_deletable` and what `RequireCertainty` throws, as all of these do.
   */
  deleteEmail(id: string, keyId?: string | null): Promise<void>;
  /**
   * Deletes the emails of a thread, as `deleteEmail` does, and the thread; in several steps if it has many. A repeat
   * finishes a deletion that was interrupted. Throws `thread_not_found`, and `not_deletable` when one of the emails has
   * to be kept.
   *
   * @returns the number of emails deleted
   */
  deleteThread(id: string, keyId?: string | null): Promise<number>;
  /** The dry runs of both: they throw the same errors, and delete nothing. */
  checkDeleteEmail(id: string): Promise<void>;
  checkDeleteThread(id: string): Promise<number>;
}
