/** What the worker needs to make emails searchable. */

export interface SearchIndex {
  /**
   * Makes the words of some emails that wait for it, newest first. Returns how many; 0 when none waits, or another
   * instance is at it. Throws `ServiceError('database_unavailable')`.
   */
  indexSome(): Promise<number>;
}
