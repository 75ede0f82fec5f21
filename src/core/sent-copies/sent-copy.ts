/** The copy of a sent email in the Sent mailbox of its account, as callers see it. */

/**
 * - `pending`: to be stored, now or later.
 * - `stored`: in the Sent mailbox.
 * - `failed`: given up; an operator may have it tried again.
 */
export const SENT_COPY_STATES = ['pending', 'stored', 'failed'] as const;
export type SentCopyState = (typeof SENT_COPY_STATES)[number];

export interface SentCopyView {
  readonly state: SentCopyState;
  /** When the copy was stored or given up, or is tried next. */
  readonly at: Date;
  /** Failed tries so far. */
  readonly tries: number;
  /** What last kept it from being stored or tried, in English; null when nothing did. */
  readonly error: string | null;
  /** The mailbox with the copy; null while it is not stored. */
  readonly mailbox: string | null;
}
