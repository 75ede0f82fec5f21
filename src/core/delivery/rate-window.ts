/**
 * How many messages an account may send now. Providers limit a rolling minute and a rolling day: no such time ever has more messages than
 * the limit. Messages that went out shortly after one another, within a hundredth of the period, are remembered as one entry with the time
 * of its last one, so that an entry leaves the period when all its messages have left it. A high limit is so used to 99 %.
 */

import { DAY_MS } from '../durations.ts';

export const RATE_PERIODS = ['minute', 'day'] as const;
export type RatePeriod = (typeof RATE_PERIODS)[number];

export const PERIOD_MS: Readonly<Record<RatePeriod, number>> = { minute: 60_000, day: DAY_MS };

/** Entries of a period; bounds what is stored of an account. */
export const ENTRIES_PER_PERIOD = 100;

/** Messages at most; null: no limit. */
export interface RateLimit {
  readonly perMinute: number | null;
  readonly perDay: number | null;
}

/** Messages that went out together. */
export interface RateEntry {
  /** Time since the last of them, in ms. */
  readonly ageMs: number;
  readonly messages: number;
}

export interface Room {
  /** Messages that may go out now, a whole number; never negative. */
  readonly messages: number;
  /** Time until one may, in ms; 0 when one may now. Exact when nothing else is sent meanwhile. */
  readonly waitMs: number;
}

/** @param limit at least 1 */
export function roomIn(entries: readonly RateEntry[], limit: number, period: RatePeriod): Room {
  const oldestFirst = entries.toSorted((a, b) => b.ageMs - a.ageMs);
  let excess = 1 - limit;
  for (const { messages } of oldestFirst) excess += messages;
  if (excess <= 0) return { messages: 1 - excess, waitMs: 0 };
  // Room for one message: so many have to leave the period before.
  let waitMs = 0;
  for (const { ageMs, messages } of oldestFirst) {
    waitMs = Math.max(1, Math.ceil(PERIOD_MS[period] - ageMs));
    excess -= messages;
    if (excess <= 0) break;
  }
  return { messages: 0, waitMs };
}
