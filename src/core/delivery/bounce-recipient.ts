/** What came of a delivery for one recipient, as a report says it. */
import { severityOf, type BounceSeverity } from './failure-severity.ts';

/** What happened for a recipient, RFC 3464 §2.3.3. */
export const BOUNCE_ACTIONS = ['failed', 'delayed', 'delivered', 'relayed', 'expanded'] as const;
export type BounceAction = (typeof BOUNCE_ACTIONS)[number];

export interface BounceRecipient {
  /** `local@domain`, as we wrote it if the report says so (Original-Recipient), else as the last server saw it. */
  readonly address: string;
  /** As the last server saw it, where that is another; null else. */
  readonly finalAddress: string | null;
  readonly action: BounceAction;
  /** null for `delivered`, `relayed` and `expanded`. */
  readonly severity: BounceSeverity | null;
  /** RFC 3463, such as `5.1.1`; null when the report has none. */
  readonly status: string | null;
  /** The server's words on one line, at most 1,000 characters; empty when there are none. */
  readonly diagnostic: string;
}

/** null for what is no failure. `diagnostic` is on one line. */
export function classifyFailure(
  action: string,
  status: string | null,
  diagnostic: string,
): BounceSeverity | null {
  if (action === 'delayed') return 'soft';
  return action === 'failed' ? severityOf(status, diagnostic) : null;
}

/** The first enhanced status in a text; null when there is none. Addresses such as 5.1.1.9 are none. */
export function findStatus(text: string): string | null {
  return /(?<![\d.])[245]\.\d{1,3}\.\d{1,3}(?![\d.]*\d)/.exec(text)?.[0] ?? null;
}
