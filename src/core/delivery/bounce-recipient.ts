/** The result of a delivery for one recipient, as a report states it. */
import { severityOf, type BounceSeverity } from './failure-severity.ts';

/** The action that was taken for a recipient, RFC 3464 §2.3.3. */
export const BOUNCE_ACTIONS = ['failed', 'delayed', 'delivered', 'relayed', 'expanded'] as const;
export type BounceAction = (typeof BOUNCE_ACTIONS)[number];

/** Recipients of one report; more are left out. */
export const MAX_BOUNCE_RECIPIENTS = 1000;

export interface BounceRecipient {
  /** `local@domain`, as we wrote it if the report says so (Original-Recipient), else as the last server saw it. */
  readonly address: string;
  /** The address as the last server saw it; null when it is the same or not given. */
  readonly finalAddress: string | null;
  readonly action: BounceAction;
  /** null for `delivered`, `relayed` and `expanded`. */
  readonly severity: BounceSeverity | null;
  /** RFC 3463, such as `5.1.1`; null when the report has none. */
  readonly status: string | null;
  /** The server's words on one line, at most 1,000 characters; empty when there are none. */
  readonly diagnostic: string;
}

/** null when the action is not a failure. `diagnostic` is on one line. */
export function classifyFailure(
  action: string,
  status: string | null,
  diagnostic: string,
): BounceSeverity | null {
  if (action === 'delayed') return 'soft';
  return action === 'failed' ? severityOf(status, diagnostic) : null;
}

/**
 * The first enhanced status in a text that fits the action: `2.0.0` in the transcript of a session says nothing
 * about a failure. null when there is none. Addresses such as 5.1.1.9 and versions such as 4.80.1 are not status codes.
 */
export function findStatus(text: string, action: BounceAction | null = null): string | null {
  return (action === 'failed' || action === 'delayed' ? FAILURE_STATUS : ANY_STATUS).exec(text)?.[0] ?? null;
}

// RFC 3463 §3: subjects are 0 to 7.
const ANY_STATUS = /(?<![\d.])[245]\.[0-7]\.\d{1,3}(?![\d.]*\d)/;
const FAILURE_STATUS = /(?<![\d.])[45]\.[0-7]\.\d{1,3}(?![\d.]*\d)/;
