/**
 * The id of an event: its position in the feed as 16 hexadecimal digits, so that ids sort as text in the order of the feed. Opaque to
 * callers. A position is the day's number since 1970 times 2^36, plus a number within the day; it is exact as a number until 2328.
 */
const DAY_MS = 86_400_000;
const DIGITS = 16;

/** Before the first event. */
export const START = 0;

export const formatEventId = (position: number): string => position.toString(16).padStart(DIGITS, '0');

/** null for what `formatEventId` does not make. */
export function parseEventId(text: string): number | null {
  if (!/^[0-9a-f]{16}$/.test(text)) return null;
  const position = Number.parseInt(text, 16);
  return Number.isSafeInteger(position) ? position : null;
}

/** The number of a day (UTC), by which events are forgotten. */
export const dayOf = (at: Date): number => Math.floor(at.getTime() / DAY_MS);
