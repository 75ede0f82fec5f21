/** What the worker needs to make emails searchable. */

export interface SearchIndex {
  /**
   * Makes the words of some emails that wait for it, newest first. Throws `ServiceError('database_unavailable')`.
   */
  indexSome(): Promise<IndexedSome>;
}

export interface IndexedSome {
  /** Emails; 0 when none waits, or another instance works on them. */
  readonly count: number;
  /** Some of them came after those of the last call: emails are being written. */
  readonly isBusy: boolean;
}
