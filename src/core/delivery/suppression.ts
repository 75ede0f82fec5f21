/**
 * Addresses that nothing is sent to: why they are on the list, and when a report adds one. All accounts
 * share one list: a mailbox that does not exist is missing for every sender, and a person who called one email of the
 * company spam wants none from its other senders.
 */
import type { ReportOutcome } from './delivery-report.ts';

/** The weakest first: a stronger reason replaces a weaker one. */
export const SUPPRESSION_REASONS = ['repeated_soft_bounces', 'hard_bounce', 'complaint', 'manual'] as const;
export type SuppressionReason = (typeof SUPPRESSION_REASONS)[number];

export interface Suppression {
  /** In the form of deliveryAddressKey. */
  readonly address: string;
  readonly reason: SuppressionReason;
  readonly since: Date;
  /** RFC 3463; null when none was given. */
  readonly status: string | null;
  /** Words of the server that refused, or the type of a complaint; empty when there are none. */
  readonly diagnostic: string;
  /** An operator's note; null when there is none. */
  readonly note: string | null;
  /** The sent email that it is about; null when added by hand. */
  readonly emailId: string | null;
  /** The report that added the address; null when added by hand. */
  readonly reportId: string | null;
}

/** RFC 5321 §4.5.3.1: longer addresses occur only in copies of mail that other programs sent, and get no mail anyway. */
export const MAX_SUPPRESSED_CHARS = 320;

/**
 * Soft bounces that suppress an address: this many emails in a row, the first and the last this far apart, none of them
 * older than the window, and no report of a delivery in between. A mailbox that is full during a week of holidays gets
 * mail again; one that stays full is abandoned.
 */
export const SOFT_BOUNCES = { emails: 5, spanDays: 7, windowDays: 60 } as const;

/** null: the outcome does not suppress the address on its own. `bounced_soft` is counted, see SOFT_BOUNCES. */
export function suppressionBy(outcome: ReportOutcome): SuppressionReason | null {
  if (outcome === 'bounced_hard') return 'hard_bounce';
  return outcome === 'complained' ? 'complaint' : null;
}
