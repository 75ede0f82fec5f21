/** The database operations that the worker needs to make emails searchable. */

export interface SearchIndex {
  /** Indexes the words of some waiting emails, newest first. Throws `ServiceError('database_unavailable')`. */
  indexSome(): Promise<IndexedSome>;
}

export interface IndexedSome {
  /** Emails; 0 when none waits, or another instance works on them. */
  readonly count: number;
  /** Some of them were written after those of the last call: emails are still being written. */
  readonly isBusy: boolean;
}
