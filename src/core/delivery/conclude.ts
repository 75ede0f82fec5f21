/**
 * Derives the state of an email from the states of its recipients (the rules are in states.ts).
 */
import type { DeliveryState, EmailState } from './states.ts';

export interface Conclusion {
  readonly state: Extract<EmailState, 'sent' | 'deferred' | 'failed' | 'unknown'>;
  /** English reason, null when every recipient was accepted. */
  readonly detail: string | null;
  /** When the open recipients are tried again; null when none is to be. */
  readonly dueAt: Date | null;
}

/**
 * @param states of all recipients, after the attempt
 * @param detail the result of the last attempt, in English
 * @param dueAt when to try the open recipients again; null: never
 */
export function conclude(states: readonly DeliveryState[], detail: string, dueAt: Date | null): Conclusion {
  // Before anything else: while one recipient's outcome is unknown, the email must not be sent again automatically.
  if (states.includes('unknown')) return { state: 'unknown', detail, dueAt: null };
  const open = states.filter(isOpen).length;
  if (open > 0 && dueAt !== null) return { state: 'deferred', detail, dueAt };
  const accepted = states.filter((state) => state === 'accepted').length;
  const gaveUp = open === 0 ? '' : 'given up: ';
  if (accepted === 0) return { state: 'failed', detail: `${gaveUp}${detail}`, dueAt: null };
  if (accepted === states.length) return { state: 'sent', detail: null, dueAt: null };
  const missed = `${states.length - accepted} of ${states.length} recipients were not reached`;
  return { state: 'sent', detail: `${missed}: ${gaveUp}${detail}`, dueAt: null };
}

/** True for a recipient that is tried again while the email is in the queue. */
export function isOpen(state: DeliveryState): boolean {
  return state === 'pending' || state === 'deferred';
}
