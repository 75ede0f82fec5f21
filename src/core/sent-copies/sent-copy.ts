/** The copy of a sent email in the Sent mailbox of its account, as callers see it. */

/**
 * - `pending`: to be stored, now or later.
 * - `stored`: the Sent mailbox has it.
 * - `failed`: given up; an operator may have it tried again.
 */
export const SENT_COPY_STATES = ['pending', 'stored', 'failed'] as const;
export type SentCopyState = (typeof SENT_COPY_STATES)[number];

export interface SentCopyView {
  readonly state: SentCopyState;
  /** When it was stored, given up, or is tried next. */
  readonly at: Date;
  /** Failed so far. */
  readonly tries: number;
  /** Why it was not stored the last time, English; null when nothing stood in the way. */
  readonly error: string | null;
  /** Where it is; null while it is not stored. */
  readonly mailbox: string | null;
}
