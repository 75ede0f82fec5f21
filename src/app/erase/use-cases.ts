/** What the edges ask of deleting. `keyId`: the key that does it, which the events tell; null: none. */

export interface EraseUseCases {
  /**
   * Deletes one email for ever: what it says, its files, and every trace that only it left. Throws `email_not_found` and
   * `not_deletable`.
   */
  deleteEmail(id: string, keyId?: string | null): Promise<void>;
  /**
   * Deletes the emails of a thread, as `deleteEmail`, and the thread; in several steps where it has many. One that is cut off
   * is finished by a repeat. Throws `thread_not_found`, and `not_deletable` when one of the emails has to be kept.
   *
   * @returns the number of emails deleted
   */
  deleteThread(id: string, keyId?: string | null): Promise<number>;
}
