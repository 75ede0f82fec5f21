/**
 * How many messages an account may send now. Providers limit a rolling minute and a rolling day; recording each
 * message's time would cost a row per message, so two fixed windows approximate the rolling one: messages of the previous
 * window count by the share of it that the rolling window still covers.
 */

import { DAY_MS } from '../durations.ts';

export const RATE_PERIODS = ['minute', 'day'] as const;
export type RatePeriod = (typeof RATE_PERIODS)[number];

export const PERIOD_MS: Readonly<Record<RatePeriod, number>> = { minute: 60_000, day: DAY_MS };

/** Messages at most; null: no limit. */
export interface RateLimit {
  readonly perMinute: number | null;
  readonly perDay: number | null;
}

export interface RateWindow {
  /** Messages in the current window. */
  readonly count: number;
  /** Messages in the previous window; 0 when nothing was sent then. */
  readonly previousCount: number;
  /** Time since the current window began, in ms. */
  readonly elapsedMs: number;
}

export interface Room {
  /** Messages that may go out now, a whole number; never negative. */
  readonly messages: number;
  /** Time until one may, in ms; 0 when one may now. Exact when nothing else is sent meanwhile. */
  readonly waitMs: number;
}

/** @param limit at least 1 */
export function roomIn(window: RateWindow, limit: number, period: RatePeriod): Room {
  const periodMs = PERIOD_MS[period];
  const elapsedMs = Math.min(Math.max(window.elapsedMs, 0), periodMs);
  const used = window.count + window.previousCount * (1 - elapsedMs / periodMs);
  const messages = Math.max(0, Math.floor(limit - used));
  if (messages > 0) return { messages, waitMs: 0 };
  if (window.count < limit) {
    // The previous window has to fade until it leaves room for one message.
    const share = (limit - 1 - window.count) / window.previousCount;
    return { messages, waitMs: Math.ceil(Math.max(1, periodMs * (1 - share) - elapsedMs)) };
  }
  const fade = periodMs * (1 - (limit - 1) / window.count);
  return { messages, waitMs: Math.ceil(Math.max(1, periodMs - elapsedMs + fade)) };
}
