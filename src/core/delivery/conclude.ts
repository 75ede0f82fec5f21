/**
 * Derives the state of an email from the states of its recipients (the rules are in states.ts).
 */
import type { DeliveryState, EmailState } from './states.ts';

export interface Conclusion {
  readonly state: Extract<EmailState, 'sent' | 'deferred' | 'failed' | 'unknown'>;
  /** English reason, null when every recipient was accepted. */
  readonly detail: string | null;
  /** The time until the open recipients are tried again, in ms; null when none is to be. */
  readonly dueInMs: number | null;
}

/**
 * @param states of all recipients, after the attempt
 * @param detail the result of the last attempt, in English
 * @param dueInMs the time until the open recipients are tried again; null: never
 */
export function conclude(
  states: readonly DeliveryState[],
  detail: string,
  dueInMs: number | null,
): Conclusion {
  // Before anything else: while one recipient's outcome is unknown, the email must not be sent again automatically.
  if (states.includes('unknown')) return { state: 'unknown', detail, dueInMs: null };
  const open = states.filter(isOpen).length;
  if (open > 0 && dueInMs !== null) return { state: 'deferred', detail, dueInMs };
  const accepted = states.filter((state) => state === 'accepted').length;
  const gaveUp = open === 0 ? '' : 'given up: ';
  if (accepted === 0) return { state: 'failed', detail: `${gaveUp}${detail}`, dueInMs: null };
  if (accepted === states.length) return { state: 'sent', detail: null, dueInMs: null };
  const missed = `${states.length - accepted} of ${states.length} recipients were not reached`;
  return { state: 'sent', detail: `${missed}: ${gaveUp}${detail}`, dueInMs: null };
}

/** True for a recipient that is tried again while the email is in the queue. */
export function isOpen(state: DeliveryState): boolean {
  return state === 'pending' || state === 'deferred';
}
