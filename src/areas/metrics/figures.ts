/** The metrics that come from the database, about waiting work. */

/** The figures of one configured account. Counts end at MAX_COUNTED. */
export interface AccountFigures {
  readonly accountId: string;
  /** Sends that wait in the queue, including those for later. */
  readonly queued: number;
  /** How long the send that was due first has been due, in seconds; 0 when none is. */
  readonly oldestDueSeconds: number;
  /** Sends whose outcome is not known. */
  readonly unknownSends: number;
  /** Since the mailbox that is furthest behind was last read, in seconds; null when none was ever read. */
  readonly mailboxLagSeconds: number | null;
  /** Received messages that are not recorded yet. */
  readonly mailboxWaiting: number;
  /** Received messages that were set aside. */
  readonly quarantined: number;
}

export interface Figures {
  readonly accounts: readonly AccountFigures[];
  /** Statements whose events have no number yet, so that no reader gets them; ends at MAX_COUNTED. */
  readonly eventsWaiting: number;
  /** More is due than retention may delete in an hour. */
  readonly isRetentionHeld: boolean;
  readonly webhooks: {
    /** Webhooks that deliver. */
    readonly active: number;
    /** Webhooks that the service paused, because of the answers of their endpoints. */
    readonly failed: number;
    /**
     * Events between the newest one and the position of the active webhook that is furthest behind; filters don't count.
     */
    readonly lagEvents: number;
  };
}

/** Counting ends here: beyond it only the fact that it is a lot matters, and counting on would burden the database. */
export const MAX_COUNTED = 100_000;

/** Throws `ServiceError('database_unavailable')`. */
export type ReadFigures = () => Promise<Figures>;
