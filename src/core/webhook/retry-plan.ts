/**
 * When to deliver an event again that an endpoint did not accept: exponentially later, for three days. The first delays
 * bridge a restart of the endpoint; the longest one lets an endpoint that was repaired overnight catch up in the morning. The time alone
 * proves nothing: a clock that jumped by days makes a failure of seconds old, and so does a service that did not run.
 */

import { DAY_MS } from '../durations.ts';

/** Before the second attempt, in ms; each further delay is `FACTOR` times longer. */
const FIRST_DELAY_MS = 5000;
const FACTOR = 4;
const MAX_DELAY_MS = 8 * 3_600_000;
/** From the first failure to the last attempt, in ms. */
export const GIVE_UP_AFTER_MS = 3 * DAY_MS;
/** Attempts without which no event is given up: a few less than three days have, also when each one is put off by Retry-After. */
const LEAST_ATTEMPTS = { planned: 12, asked: 4 };
/** Each delay varies by up to this share in either direction, so that events that failed together are not retried together. */
const JITTER = 0.2;
/** Bounds of the delay that an endpoint asks for by Retry-After (RFC 9110 §10.2.3), in ms. */
const MIN_RETRY_AFTER_MS = 1000;
const MAX_RETRY_AFTER_MS = DAY_MS;

export interface FailedDelivery {
  /** Attempts so far, this one included; at least 1. */
  readonly attempts: number;
  /** The time since the first failure, in ms. */
  readonly failingMs: number;
  /** The delay that the endpoint asked for; null: none. */
  readonly retryAfterMs: number | null;
  /** From 0 (inclusive) to 1 (exclusive). */
  readonly random: number;
}

/** The time until the next attempt, in ms; null: that was the last one. */
export function nextDeliveryInMs({
  attempts,
  failingMs,
  retryAfterMs,
  random,
}: FailedDelivery): number | null {
  const isOver = failingMs >= GIVE_UP_AFTER_MS;
  if (isOver && attempts >= LEAST_ATTEMPTS[retryAfterMs === null ? 'planned' : 'asked']) return null;
  const planned =
    Math.min(FIRST_DELAY_MS * FACTOR ** (attempts - 1), MAX_DELAY_MS) * (1 + JITTER * (2 * random - 1));
  const delay =
    retryAfterMs === null
      ? planned
      : Math.min(Math.max(retryAfterMs, MIN_RETRY_AFTER_MS), MAX_RETRY_AFTER_MS);
  // The last attempt is made when the time is up.
  return isOver ? Math.round(delay) : Math.min(Math.round(delay), GIVE_UP_AFTER_MS - failingMs);
}

/** The value of a Retry-After field: seconds, or a date of HTTP. null for anything else. */
export function parseRetryAfter(value: string | undefined, now: Date): number | null {
  if (value === undefined) return null;
  const text = value.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  // RFC 9110 §5.6.7: every form begins with the name of a day.
  const at = /^[A-Z][a-z]{2}/.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - now.getTime());
}
