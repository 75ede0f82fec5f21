/**
 * The states of a send and of each of its recipients.
 *
 * A synchronous send is carried out before anything is recorded, so its first recorded state is already an outcome:
 * `sent`, `deferred` (some recipients got it, others were put off), `failed` or `unknown`. A send for the queue begins as
 * `queued`: nothing was handed over yet. The hand-over makes it `sent`, `deferred` (retried automatically), `failed` or
 * `unknown`, and so does the next hand-over of a `deferred` email. Which process holds an email is written in its row of the
 * queue, not in its state; no operator can change an email that a process holds. `sending` only shows a hand-over that takes
 * longer than a moment.
 *
 * `unknown`: the message may or may not have been taken. Either the connection broke after its end, or the
 * process that was sending fell silent. It never ends by an automatic retry. Three things end it: evidence
 * (the silent process comes back and its journal has the outcome: to any other state, back to `queued` when the hand-over
 * had not begun), `resolve` (an operator knows the outcome: to `sent` or `failed`) and `retry` (an operator wants the email
 * sent again: to `queued`).
 *
 * An operator may `cancel` a `queued` or `deferred` email: it becomes `cancelled`, or `sent` when a recipient was already
 * accepted. `retry` turns `failed`, `cancelled` and `unknown` into `queued`, for the recipients that were not accepted;
 * a `deferred` email is only brought forward. `sent` is final.
 *
 * Every change is conditional on the state it starts from, and on the row of the queue, so that of two operators or
 * processes only one wins. The acceptance of a recipient is a fact and never taken back; an acceptance that becomes known
 * late, after `unknown`, overrides any assumption made meanwhile. An email is `sent` when no recipient is open and at least
 * one was accepted, and `failed` when none was. An inbound email is `received`.
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

/**
 * The result of the hand-overs so far for one recipient (RFC 5321 §4.2.1); `pending` before the first one.
 * `pending` and `deferred` are open: they are tried again while the email is in the queue.
 */
export const DELIVERY_STATES = ['pending', 'accepted', 'deferred', 'rejected', 'unknown'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** How one hand-over ended, see `TransportResult`. */
export const ATTEMPT_OUTCOMES = ['accepted', 'refused', 'unknown'] as const;
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];

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

/** One hand-over of an email, as it is recorded and shown. */
export interface RecordedAttempt {
  /** Ascending from 1; a number may be left out (a claim that was given back). */
  readonly number: number;
  readonly startedAt: Date;
  /** null when the end was not seen. */
  readonly endedAt: Date | null;
  readonly outcome: AttemptOutcome;
  /** The decisive reply; null when there was none. */
  readonly reply: Reply | null;
  /** English. */
  readonly detail: string;
}

/** States that a thread or a customer's list shows: emails that were sent, will be or may have been. */
export const LISTED_STATES: readonly EmailState[] = [
  'queued',
  'sending',
  'sent',
  'deferred',
  'unknown',
  'received',
];
