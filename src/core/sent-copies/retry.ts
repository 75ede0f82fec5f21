/** When a copy that could not be put into a Sent mailbox is tried again. */

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/**
 * The first delay. A command whose answer was lost may still be running at the server: after this delay it has ended, so
 * that a search finds its result.
 */
const FIRST_DELAY_MS = MINUTE_MS;
const LONGEST_DELAY_MS = HOUR_MS;
/** Each delay varies by up to this share in either direction, so that copies do not come back together. */
const JITTER = 0.25;

/** @param tries failed ones, this one included @param random from 0 (inclusive) to 1 (exclusive) @returns ms */
export function copyRetryDelay(tries: number, random: number): number {
  const delayMs = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(Math.max(1, tries) - 1, 20));
  return Math.round(delayMs * (1 + JITTER * (2 * random - 1)));
}
