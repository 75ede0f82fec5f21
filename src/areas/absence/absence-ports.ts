/** What answering in an absence needs: the emails that may be answered, and the answers. */

/** An email that may be answered: stored with it. */
export interface AbsenceRequest {
  /** Who gets the answer; lower-case. */
  readonly address: string;
  /** null: now, by the database's clock. */
  readonly arrivedAt: Date | null;
  /** It was read from a mailbox. */
  readonly isOfMailbox: boolean;
}

/** An account whose people are away. */
export interface AwayAccount {
  readonly accountId: string;
  /** See OutOfOffice. */
  readonly from: Date | null;
  readonly until: Date | null;
}

/** An answer that this process has to record. */
export interface ClaimedAnswer {
  readonly accountId: string;
  readonly address: string;
  /** The answered email. */
  readonly emailId: string;
  /** The answer. */
  readonly answerId: string;
  /** It was tried for so long that it would surprise its reader. */
  readonly isTooLate: boolean;
}

/** All throw `ServiceError('database_unavailable')`. */
export interface AbsenceStore {
  /** Decides about emails that wait for it; returns how many. An account that this process does not know yet keeps its emails for a minute. */
  choose(away: readonly AwayAccount[]): Promise<number>;
  /** Answers that are due, for this process alone for some minutes. @param away see `choose` */
  claim(away: readonly AwayAccount[]): Promise<readonly ClaimedAnswer[]>;
  /** The answer is recorded, or never will be. */
  settle(answerId: string): Promise<void>;
  /** The answer is tried again later. */
  putOff(answerId: string): Promise<void>;
}
