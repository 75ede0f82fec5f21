/**
 * When a send that was put off is tried again, and when it is given up (RFC 5321 §4.5.4.1).
 *
 * The RFC asks for retries while "the failure is temporary", two of them in the first hour, then rarer, for four to
 * five days. A failure of the connection says nothing about the message and usually ends with the outage, so the send is
 * tried again sooner than one that the server itself put off.
 */

export interface RetrySchedule {
  /** Delay after the first, second, … attempt, in ms; the last one repeats. At least one, each at least 1. */
  readonly delaysMs: readonly [number, ...number[]];
  /** The time from when a send was first due until it is given up, in ms. */
  readonly giveUpAfterMs: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Five minutes pass most greylisting; then two attempts in the first hour, and every four hours after the first day. */
export const DEFAULT_RETRY_SCHEDULE: RetrySchedule = {
  delaysMs: [5 * MINUTE_MS, 15 * MINUTE_MS, 30 * MINUTE_MS, HOUR_MS, 2 * HOUR_MS, 4 * HOUR_MS],
  giveUpAfterMs: 4 * 24 * HOUR_MS,
};

/** Share of the delay after a failure of the connection. */
const CONNECTION_SHARE = 0.2;
/** Each delay varies by up to this share in either direction, so that sends put off together do not come back together. */
const JITTER = 0.2;

export interface PutOff {
  /** Attempts so far, this one included; at least 1. */
  readonly attempts: number;
  /** `connection`: no reply to the message or its envelope arrived. */
  readonly failure: 'connection' | 'reply';
  /** The time until the send is given up, in ms, by the database's clock. null: that clock is in doubt, and no send is given up by it. */
  readonly giveUpInMs: number | null;
  /** From 0 (inclusive) to 1 (exclusive). */
  readonly random: number;
}

/** The time until the next attempt, in ms; null when it would be after the time to give up. */
export function nextAttemptInMs(schedule: RetrySchedule, putOff: PutOff): number | null {
  const { delaysMs } = schedule;
  const base = delaysMs[Math.min(putOff.attempts, delaysMs.length) - 1] ?? delaysMs[0];
  const share = putOff.failure === 'connection' ? CONNECTION_SHARE : 1;
  const jitter = 1 + JITTER * (2 * putOff.random - 1);
  const delayMs = Math.max(1, Math.round(base * share * jitter));
  return putOff.giveUpInMs !== null && delayMs > putOff.giveUpInMs ? null : delayMs;
}
