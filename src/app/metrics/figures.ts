/** What the database knows of the work that waits, for the metrics. */

/** Of one configured account. Counts end at MAX_COUNTED. */
export interface AccountFigures {
  readonly accountId: string;
  /** Sends that wait in the queue, those for later too. */
  readonly queued: number;
  /** How long the send that is due first has been due, in seconds; 0 when none is. */
  readonly oldestDueSeconds: number;
  /** Sends whose outcome is not known. */
  readonly unknownSends: number;
  /** Since the mailbox that fell behind most was last read, in seconds; null when none was ever read. */
  readonly mailboxLagSeconds: number | null;
  /** Received messages that are not recorded yet. */
  readonly mailboxWaiting: number;
  /** Received messages that were set aside. */
  readonly quarantined: number;
}

export interface Figures {
  readonly accounts: readonly AccountFigures[];
  /** Statements whose events have no number yet, and which no reader gets until then; ends at MAX_COUNTED. */
  readonly eventsWaiting: number;
  readonly webhooks: {
    /** That deliver. */
    readonly active: number;
    /** That the service paused, because of the answers of their endpoints. */
    readonly failed: number;
    /** Events between the newest and the position of the active one that is furthest behind; filters don't count. */
    readonly lagEvents: number;
  };
}

/** Counting ends here: beyond it only that it is much matters, and counting on would cost the database. */
export const MAX_COUNTED = 100_000;

/** Throws `ServiceError('database_unavailable')`. */
export type ReadFigures = () => Promise<Figures>;
