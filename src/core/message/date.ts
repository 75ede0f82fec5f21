/**
 * The Date field of received mail: RFC 5322 §3.3, with the obsolete forms of §4.3 and those of broken software.
 *
 * Seen in practice, and accepted: no or a wrong day of the week, no space after it, full month names, those of other languages, a dot after the
 * day, hyphens, a zone as a name or missing (read as UTC), encoded words, ISO 8601, and the form of C's asctime.
 */
import { decodeHeaderText } from '../mime/text/header-text.ts';

/** The first letters of each month, without accents, in English, German, French, Spanish, Italian, Portuguese and Dutch. */
const MONTHS = [
  ['jan', 'gen', 'ene'],
  ['feb', 'fev'],
  ['mar', 'mrz', 'mae', 'mrt', 'maa'],
  ['apr', 'avr', 'abr'],
  ['may', 'mai', 'mag', 'mei'],
  ['jun', 'juin', 'giu'],
  ['jul', 'juil', 'lug'],
  ['aug', 'aou', 'ago'],
  ['sep', 'set'],
  ['oct', 'okt', 'ott', 'out'],
  ['nov'],
  ['dec', 'dez', 'dic'],
] as const;

const TIME = '(\\d{1,2})[:.](\\d{1,2})(?:[:.](\\d{1,2})(?:[.,]\\d{1,9})?)?(?: ?([ap]m)\\b)?';
// Input: at most 200 characters, MAX_DATE_CHARS.
const RFC_5322 = new RegExp(
  `^(?:\\p{L}{2,12}(?:\\.?,? |\\.?,))?(\\d{1,2})\\.?[ -](\\p{L}{3,10})\\.?[ -](\\d{2,4}),? ${TIME}(.*)$`,
  'iu',
);
// Input: at most 200 characters, MAX_DATE_CHARS.
const ASCTIME = new RegExp(`^[a-z]{2,12},? ([a-z]{3,9}) (\\d{1,2}),? ${TIME}(.*?) (\\d{4})$`, 'i');
// Input: at most 200 characters, MAX_DATE_CHARS.
const ISO_8601 = new RegExp(`^(\\d{4})-(\\d{2})-(\\d{2})[t ]${TIME}(.*)$`, 'i');

/** RFC 5322 §4.3, in hours. Military letters and unknown names are UTC, as the RFC demands. */
const ZONES: Readonly<Record<string, number>> = {
  est: -5,
  edt: -4,
  cst: -6,
  cdt: -5,
  mst: -7,
  mdt: -6,
  pst: -8,
  pdt: -7,
  // Seen in practice.
  bst: 1,
  cet: 1,
  cest: 2,
  mez: 1,
  mesz: 2,
  eet: 2,
  eest: 3,
  msk: 3,
  jst: 9,
};

/** A longer value is not a date. */
const MAX_DATE_CHARS = 200;

/** Reads a date; null when the text is not a date, or one before 1900 or after 9999. */
export function parseMessageDate(text: string): Date | null {
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
  const asctime = ASCTIME.exec(clean);
  if (asctime === null) return null;
  const [, month = '', day = '', hour = '', minute = '', second, half, zone = '', year = ''] = asctime;
  return toDate(Number(year), toMonth(month), Number(day), [hour, minute, second, half], zone);
}

type Time = readonly [hour: string, minute: string, second: string | undefined, half: string | undefined];

function toDate(year: number, month: number, day: number, time: Time, zone: string): Date | null {
  const [hourText, minuteText, secondText, half] = time;
  let hour = Number(hourText);
  if (half !== undefined) hour = (hour % 12) + (half.toLowerCase() === 'pm' ? 12 : 0);
  const minute = Number(minuteText);
  // RFC 5322 §3.3 allows leap seconds.
  const second = Math.min(Number(secondText ?? 0), 60);
  if (month < 0 || month > 11 || day < 1 || hour > 24 || minute > 59) return null;
  const utc = Date.UTC(year, month, day, hour, minute, second);
  if (new Date(Date.UTC(year, month, day)).getUTCDate() !== day) return null;
  const date = new Date(utc - toOffsetMinutes(zone) * 60_000);
  return date.getUTCFullYear() >= 1900 && date.getUTCFullYear() <= 9999 ? date : null;
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

function toOffsetMinutes(zone: string): number {
  // Seen in practice: `-600`, `+1`, and white space after the sign.
  const [, sign, hours, minutes = '0'] = /(?:^|[^\d])([+-]) ?(\d{1,2}):?(\d{2})?\b/.exec(zone) ?? [];
  if (sign !== undefined) {
    const offset = Number(hours) * 60 + Number(minutes);
    // An offset of a day or more is not a zone.
    if (offset >= 24 * 60) return 0;
    return sign === '-' ? -offset : offset;
  }
  const name = /[a-z]+/i.exec(zone)?.[0].toLowerCase() ?? '';
  return (Object.hasOwn(ZONES, name) ? (ZONES[name] ?? 0) : 0) * 60;
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
