/**
 * The states of a send and of each of its recipients.
 *
 * `queued` → `sending` → `sent` | `deferred` | `failed` | `unknown`; `deferred` → `sending` again;
 * `queued` and `deferred` → `cancelled`. `sent`, `failed` and `cancelled` are final. `unknown` means that the
 * connection broke after the message could have been taken: it is never left by sending again, only by evidence or
 * by an operator. An inbound email is `received`.
 */

export const EMAIL_STATES = [
  'queued',
  'sending',
  'sent',
  'deferred',
  'failed',
  'unknown',
  'cancelled',
  'received',
] as const;
export type EmailState = (typeof EMAIL_STATES)[number];

/** What one SMTP hand-over meant for one recipient (RFC 5321 §4.2.1). */
export const DELIVERY_STATES = ['accepted', 'deferred', 'rejected', 'unknown'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** An SMTP reply, RFC 5321 §4.2. */
export interface Reply {
  /** 200 to 599. */
  readonly code: number;
  /** RFC 3463, such as `5.1.1`; null when the server sent none. */
  readonly enhancedStatus: string | null;
  /** Text without code and status, lines joined by a space; at most 1,000 characters. */
  readonly text: string;
}

export interface RecipientOutcome {
  /** `local@domain`. */
  readonly address: string;
  readonly state: DeliveryState;
  /** null when no reply came. */
  readonly reply: Reply | null;
}

/** States that a thread or a customer's list shows: what was sent, will be or may have been. */
export const LISTED_STATES: readonly EmailState[] = [
  'queued',
  'sending',
  'sent',
  'deferred',
  'unknown',
  'received',
];
