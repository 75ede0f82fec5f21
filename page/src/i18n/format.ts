/** Dates, numbers and sizes in the reader's language and the browser's time zone. */

export type Language = 'de' | 'en';

/** The first of the browser's languages that the page has; English when it has none of them. */
export function chooseLanguage(wanted: readonly string[]): Language {
  for (const tag of wanted) {
    const [primary] = tag.toLowerCase().split('-');
    if (primary === 'de' || primary === 'en') return primary;
  }
  return 'en';
}

export interface Formats {
  /** In a list: the time for today, the day for this year, otherwise the date. */
  brief(moment: string): string;
  /** The time, and the day of a year. */
  time(moment: string): string;
  day(moment: string): string;
  /** Day and time. */
  full(moment: string): string;
  /** Day and time of both, in the reader's zone; the end is exclusive. */
  span(start: Date, end: Date | null): string;
  /** The same of times that are given as if they were UTC: those of another zone, or of none. */
  writtenSpan(start: Date, end: Date | null): string;
  /** Of whole days, given as midnight in UTC; the end is exclusive. */
  daySpan(start: Date, end: Date | null): string;
  count(value: number): string;
  size(bytes: number): string;
  /** A part of 1, in percent. */
  share(part: number): string;
  /** A number of seconds, in the largest unit that fits. */
  duration(seconds: number): string;
  /** A duration in ms: in the largest unit that fits, as short as possible. */
  took(ms: number): string;
  names(values: readonly string[]): string;
}

const KB = 1000;
const DAY_MS = 86_400_000;

/** The library refuses an end before the start. */
const rangeOf = (format: Intl.DateTimeFormat, start: Date, end: Date | null): string =>
  end === null || end <= start ? format.format(start) : format.formatRange(start, end);

const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const;

const TOOK_UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
  ['millisecond', 1],
] as const;

/** `locale` is the browser's own, so that British readers get British dates. */
export function createFormats(locale: string): Formats {
  const time = new Intl.DateTimeFormat(locale, { timeStyle: 'short' });
  const day = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short' });
  const date = new Intl.DateTimeFormat(locale, { day: '2-digit', month: '2-digit', year: '2-digit' });
  const full = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' });
  const moment = { dateStyle: 'full', timeStyle: 'short' } as const;
  const number = new Intl.NumberFormat(locale);
  const sizes = (['byte', 'kilobyte', 'megabyte'] as const).map(
    (unit) =>
      new Intl.NumberFormat(locale, {
        style: 'unit',
        unit,
        // Only bytes get a full unit name: “9 bytes”, “9 kB”.
        unitDisplay: unit === 'byte' ? 'long' : 'short',
        maximumFractionDigits: unit === 'megabyte' ? 1 : 0,
      }),
  );
  const percent = new Intl.NumberFormat(locale, { style: 'percent' });
  const list = new Intl.ListFormat(locale, { type: 'conjunction', style: 'narrow' });
  return {
    brief(moment) {
      const at = new Date(moment);
      const now = new Date();
      if (at.toDateString() === now.toDateString()) return time.format(at);
      return (at.getFullYear() === now.getFullYear() ? day : date).format(at);
    },
    time: (moment) => time.format(new Date(moment)),
    day: (moment) => day.format(new Date(moment)),
    full: (moment) => full.format(new Date(moment)),
    // Made when they are asked for: few emails have an invitation, and each costs the start of the page.
    span: (start, end) => rangeOf(new Intl.DateTimeFormat(locale, moment), start, end),
    writtenSpan: (start, end) =>
      rangeOf(new Intl.DateTimeFormat(locale, { ...moment, timeZone: 'UTC' }), start, end),
    daySpan: (start, end) =>
      rangeOf(
        new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeZone: 'UTC' }),
        start,
        end === null ? null : new Date(end.getTime() - DAY_MS),
      ),
    count: (value) => number.format(value),
    size(bytes) {
      const step = bytes < KB ? 0 : bytes < KB * KB ? 1 : 2;
      return (sizes[step] ?? number).format(bytes / KB ** step);
    },
    share: (part) => percent.format(part),
    duration(seconds) {
      const [unit, size] = UNITS.find(([, each]) => seconds >= each) ?? UNITS[3];
      const value = Math.floor(seconds / size);
      return new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }).format(value);
    },
    took(ms) {
      const [unit, size] = TOOK_UNITS.find(([, each]) => ms >= each) ?? TOOK_UNITS[4];
      const value = ms / size;
      return new Intl.NumberFormat(locale, {
        style: 'unit',
        unit,
        unitDisplay: 'short',
        maximumFractionDigits: unit === 'millisecond' || value >= 10 ? 0 : 1,
      }).format(value);
    },
    names: (values) => list.format(values),
  };
}
