/**
 * The Date field of received mail: RFC 5322 §3.3, with the obsolete forms of §4.3 and those of broken software.
 *
 * Seen in practice, and accepted: no or a wrong day of the week, no space after it, full month names, those of other languages, a dot after the
 * day, hyphens, a zone as a name or missing, encoded words, numbers with dots, ISO 8601, and the form of C's asctime. What can't be read for certain,
 * such as a zone that is missing, unknown or impossible, is reported.
 */
import { decodeHeaderText } from '../mime/text/header-text.ts';

/**
 * The first letters of each month, without accents, in English, German, French, Spanish, Italian, Portuguese, Dutch, Polish, Turkish and
 * Russian. Left out: words of which languages mean two months (`lip`, `lis`).
 */
const MONTHS = [
  ['jan', 'gen', 'ene', 'sty', 'oca', 'янв'],
  ['feb', 'fev', 'lut', 'sub', 'фев'],
  ['mar', 'mrz', 'mae', 'mrt', 'maa', 'мар'],
  ['apr', 'avr', 'abr', 'kwi', 'nis', 'апр'],
  ['may', 'mai', 'mag', 'mei', 'maj', 'маи', 'мая'],
  ['jun', 'juin', 'giu', 'cze', 'haz', 'июн'],
  ['jul', 'juil', 'lug', 'tem', 'июл'],
  ['aug', 'aou', 'ago', 'sie', 'agu', 'авг'],
  ['sep', 'set', 'wrz', 'eyl', 'сен'],
  ['oct', 'okt', 'ott', 'out', 'paz', 'eki', 'окт'],
  ['nov', 'kas', 'ноя'],
  ['dec', 'dez', 'dic', 'gru', 'ara', 'дек'],
] as const;

const TIME = '(\\d{1,2})[:.](\\d{1,2})(?:[:.](\\d{1,2})(?:[.,]\\d{1,9})?)?(?: ?([ap]m)\\b)?';
// Input: at most 200 characters, MAX_DATE_CHARS.
const RFC_5322 = new RegExp(
  `^(?:\\p{L}{2,12}(?:\\.?,? |\\.?,))?(\\d{1,2})\\.?[ -](\\p{L}{3,10})\\.?[ -](\\d{2,4}),? ${TIME}(.*)$`,
  'iu',
);
// Input: at most 200 characters, MAX_DATE_CHARS.
const ASCTIME = new RegExp(`^[a-z]{2,12},? ([a-z]{3,9}) (\\d{1,2}),? ${TIME}(.*?) (\\d{4})$`, 'i');
// Dots stand between day, month and year, in this order, wherever they are written. Input: at most 200 characters, MAX_DATE_CHARS.
const DOTTED = new RegExp(`^(\\d{1,2})\\. ?(\\d{1,2})\\. ?(\\d{4}),? ${TIME}(.*)$`, 'i');
// Input: at most 200 characters, MAX_DATE_CHARS.
const ISO_8601 = new RegExp(`^(\\d{4})-(\\d{2})-(\\d{2})[t ]${TIME}(.*)$`, 'i');

/**
 * In hours. Of names that mean several zones only those of RFC 5322 §4.3 are read. Letters of the military are not: RFC 5322 §4.3
 * calls them unusable, since RFC 822 had their signs wrong.
 */
const ZONES: Readonly<Record<string, number>> = {
  // RFC 5322 §3.3, §4.3 and RFC 3339.
  ut: 0,
  utc: 0,
  gmt: 0,
  z: 0,
  est: -5,
  edt: -4,
  cst: -6,
  cdt: -5,
  mst: -7,
  mdt: -6,
  pst: -8,
  pdt: -7,
  // Seen in practice.
  wet: 0,
  west: 1,
  bst: 1,
  cet: 1,
  cest: 2,
  met: 1,
  mest: 2,
  mez: 1,
  mesz: 2,
  eet: 2,
  eest: 3,
  msk: 3,
  jst: 9,
  kst: 9,
  hkt: 8,
  sgt: 8,
  sast: 2,
  akst: -9,
  akdt: -8,
  hst: -10,
  aest: 10,
  aedt: 11,
  awst: 8,
  nzst: 12,
  nzdt: 13,
};

/** No zone is further from UTC, in minutes: Kiritimati has 14 hours. */
const MAX_OFFSET_MINUTES = 14 * 60;

/** A longer value is not a date. */
const MAX_DATE_CHARS = 200;

export interface MessageDate {
  readonly date: Date;
  /** A part of it is missing, unknown or impossible: the zone is read as UTC, a second above 60 as 60. */
  readonly isUncertain: boolean;
}

/** The date of readMessageDate, uncertain or not. */
export const parseMessageDate = (text: string): Date | null => readMessageDate(text)?.date ?? null;

/** Reads a date; null when the text is not a date, or one before 1900 or after 9999. */
export function readMessageDate(text: string): MessageDate | null {
  if (text.length > MAX_DATE_CHARS) return null;
  const clean = withoutComments(decodeHeaderText(text)).normalize().replace(/\s+/g, ' ').trim();
  const rfc = RFC_5322.exec(clean);
  if (rfc !== null) {
    const [, day = '', month = '', year = '', hour = '', minute = '', second, half, zone = ''] = rfc;
    return toDate(toYear(year), toMonth(month), Number(day), [hour, minute, second, half], zone);
  }
  const iso = ISO_8601.exec(clean);
  if (iso !== null) {
    const [, year = '', month = '', day = '', hour = '', minute = '', second, half, zone = ''] = iso;
    return toDate(Number(year), Number(month) - 1, Number(day), [hour, minute, second, half], zone);
  }
  const dotted = DOTTED.exec(clean);
  if (dotted !== null) {
    const [, day = '', month = '', year = '', hour = '', minute = '', second, half, zone = ''] = dotted;
    return toDate(Number(year), Number(month) - 1, Number(day), [hour, minute, second, half], zone);
  }
  const asctime = ASCTIME.exec(clean);
  if (asctime === null) return null;
  const [, month = '', day = '', hour = '', minute = '', second, half, zone = '', year = ''] = asctime;
  return toDate(Number(year), toMonth(month), Number(day), [hour, minute, second, half], zone);
}

type Time = readonly [hour: string, minute: string, second: string | undefined, half: string | undefined];

function toDate(year: number, month: number, day: number, time: Time, zone: string): MessageDate | null {
  const [hourText, minuteText, secondText, half] = time;
  let hour = Number(hourText);
  if (half !== undefined) hour = (hour % 12) + (half.toLowerCase() === 'pm' ? 12 : 0);
  const minute = Number(minuteText);
  const second = Number(secondText ?? 0);
  // Date.UTC takes years below 100 for those of the last century.
  if (year < 1900 || year > 9999 || month < 0 || month > 11 || day < 1) return null;
  if (hour > 24 || minute > 59 || (hour === 24 && minute + second > 0)) return null;
  // RFC 5322 §3.3 allows leap seconds.
  const utc = Date.UTC(year, month, day, hour, minute, Math.min(second, 60));
  if (new Date(Date.UTC(year, month, day)).getUTCDate() !== day) return null;
  const offset = toOffsetMinutes(zone);
  const date = new Date(utc - (offset ?? 0) * 60_000);
  if (date.getUTCFullYear() < 1900 || date.getUTCFullYear() > 9999) return null;
  return { date, isUncertain: offset === null || second > 60 };
}

// RFC 5322 §4.3: two digits below 50 are in this century, other years of fewer than four digits in the last one.
function toYear(text: string): number {
  const year = Number(text);
  if (text.length === 2) return year + (year < 50 ? 2000 : 1900);
  return text.length === 3 ? year + 1900 : year;
}

/** -1 for a word that is no month. */
function toMonth(name: string): number {
  const plain = name.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
  return MONTHS.findIndex((starts) => starts.some((start) => plain.startsWith(start)));
}

/** null: missing, unknown or impossible. `-0000` is UTC (RFC 5322 §3.3). */
function toOffsetMinutes(zone: string): number | null {
  // Seen in practice: `-600`, `+1`, and white space after the sign.
  const [, sign, digits = ''] = /(?:^|[^\d])([+-]) ?(\d{1,9}(?::\d{2})?)(?!\d)/.exec(zone) ?? [];
  if (sign !== undefined) {
    const [, hours, minutes = '0'] = /^(\d{1,2}?):?(\d{2})?$/.exec(digits) ?? [];
    const offset = Number(hours) * 60 + Number(minutes);
    if (hours === undefined || Number(minutes) > 59 || offset > MAX_OFFSET_MINUTES) return null;
    return sign === '-' ? 0 - offset : offset;
  }
  const name = /[a-z]+/i.exec(zone)?.[0].toLowerCase() ?? '';
  const hours = Object.hasOwn(ZONES, name) ? ZONES[name] : undefined;
  return hours === undefined ? null : hours * 60;
}

/** RFC 5322 §3.2.2: comments may contain comments. The text after one that never ends is left out. */
function withoutComments(text: string): string {
  let rest = '';
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (depth > 0 && character === '\\') at++;
    else if (character === '(') depth++;
    else if (character === ')' && depth > 0) {
      depth--;
      rest += ' ';
    } else if (character === ')') break;
    else if (depth === 0) rest += character;
  }
  return rest;
}
