/** Reads moments from callers. `Date` alone reads some invalid days as another day: 30 February as 2 March. */

/** RFC 3339 §5.6. The offset is not optional: a local time would mean another moment to each reader. */
const MOMENT =
  /^(\d{4}-\d\d-\d\d)[Tt ]((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?)([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** null for any other form, for a day that the month does not have, for 24:00, and for a leap second, which a Date can't represent. */
export function parseMoment(text: string): Date | null {
  const [, day, time, offset] = MOMENT.exec(text) ?? [];
  if (day === undefined || time === undefined || offset === undefined || !isDay(day)) return null;
  return new Date(`${day}T${time}${offset.toUpperCase()}`);
}

function isDay(day: string): boolean {
  const date = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day);
}
