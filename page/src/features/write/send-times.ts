/** The times for sending later, as people name them. */

export type NamedTime = 'evening' | 'tomorrow' | 'monday';

const EVENING_HOUR = 18;
const MORNING_HOUR = 8;
const MONDAY = 1;
/** The rest of the afternoon does not count as "later". */
const EVENING_AHEAD_MS = 60 * 60 * 1000;
/** A little less than the service allows. */
const MAX_AHEAD_MS = 365 * 24 * 60 * 60 * 1000;

/** The times on offer at a given moment, the earliest first; in the time zone of the browser. */
export function namedTimes(now: Date): readonly { readonly name: NamedTime; readonly at: Date }[] {
  const at = (days: number, hour: number): Date =>
    new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, hour);
  const evening = at(0, EVENING_HOUR);
  const daysToMonday = (MONDAY - now.getDay() + 7) % 7 || 7;
  return [
    ...(evening.getTime() - now.getTime() > EVENING_AHEAD_MS
      ? [{ name: 'evening' as const, at: evening }]
      : []),
    { name: 'tomorrow', at: at(1, MORNING_HOUR) },
    ...(daysToMonday > 1 ? [{ name: 'monday' as const, at: at(daysToMonday, MORNING_HOUR) }] : []),
  ];
}

/** True if the moment is in the future, and not too far ahead. */
export const isSendTime = (at: Date, now: Date): boolean =>
  at.getTime() > now.getTime() && at.getTime() - now.getTime() < MAX_AHEAD_MS;
