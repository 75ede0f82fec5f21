/** What retention may delete, and what is due; see retain.ts. */

/** How long an account keeps threads in which nothing happens. */
export interface RetentionRule {
  readonly accountId: string;
  readonly days: number;
}

/** Of one rule. */
export interface DueThreads extends RetentionRule {
  readonly threads: number;
  readonly emails: number;
}

/** The hour under way, over all accounts and processes. */
export interface RetentionHour {
  readonly began: Date;
  /** Emails that may be deleted in it, and those that were. */
  readonly bound: number;
  readonly deleted: number;
  /** Emails that an operator let go beyond the bound, until `confirmedUntil`; 0: none. */
  readonly confirmed: number;
  readonly confirmedUntil: Date | null;
  /** Since then more is due than may be deleted; null: no more is. */
  readonly heldSince: Date | null;
}

export interface Retention extends RetentionHour {
  readonly due: readonly DueThreads[];
}

/** All throw `ServiceError('database_unavailable')`. Days are counted back from the database's `now()`. */
export interface RetentionStore {
  /** Threads in which nothing was sent or received for that long, the longest quiet first; without threads that must be kept. */
  findQuiet(rule: RetentionRule, limit: number): Promise<readonly string[]>;
  countQuiet(rule: RetentionRule): Promise<DueThreads>;
  /**
   * Deletes some emails of the thread, and with the last one the thread. The first step of a thread counts all its emails against the hour.
   *
   * @returns how many were deleted, at most `limit`. `held`: the hour has no room for the thread, or the clock is in doubt. `kept`: it is no
   * longer quiet, or something in it must be kept.
   */
  deleteSomeQuiet(
    id: string,
    options: { readonly days: number; readonly limit: number; readonly isFirst: boolean },
  ): Promise<number | 'held' | 'kept' | 'absent'>;
  readHour(): Promise<RetentionHour>;
  /** More is due than may be deleted: writes the event of a new hold. */
  hold(due: readonly DueThreads[]): Promise<void>;
  /** Nothing more is due. */
  release(): Promise<void>;
  /** Within a day that many emails may be deleted beyond the bound. */
  confirm(emails: number, keyId: string | null): Promise<void>;
}
