/** Where a quote begins in lines of text: an attribution that may be wrapped, `On … wrote:`, or a header block. */
import { startsHeaderBlock } from './header-block.ts';
import { readAttribution } from './reply-attribution.ts';
import { DIRECTION_MARKS, MAX_MARKER_CHARS } from './reply-markers.ts';

/** Lines over which an attribution may be wrapped. */
export const MAX_ATTRIBUTION_LINES = 4;

/** The first line of an attribution: it has a date, an address, or no more than a name and a verb. */
const MAY_ATTRIBUTE = /[\d@]|^(?:-{2,}\s*)?\p{Lu}[^.]{1,100}(?:[:：]|--)$/u;

/**
 * The number of lines of the attribution at `at`; 0 when there is none. Lines that end in an attribution of their own are
 * text and an attribution.
 */
export function countAttribution(lines: readonly string[], at: number, isReply: boolean): number {
  if (isPolymail(lines, at)) return POLYMAIL.length;
  const count = countFrom(lines, at, isReply, false);
  for (let from = 1; from < count; from++) {
    if (countFrom(lines, at + from, isReply, true) === count - from) return 0;
  }
  return count;
}

/** @param isDated an attribution without a date is none */
export function countFrom(lines: readonly string[], at: number, isReply: boolean, isDated: boolean): number {
  let joined = '';
  for (let count = 1; count <= MAX_ATTRIBUTION_LINES; count++) {
    const line = marker(lines[at + count - 1])
      .replace(DIRECTION_MARKS, '')
      .trim();
    // `<eva@example.org⏎> wrote:`
    if (line === '' || (isQuoted(line) && !/<[^<>]*$/.test(joined))) return 0;
    joined = joined === '' ? line : `${joined} ${line}`;
    if (joined.length > MAX_MARKER_CHARS || (count === 1 && !MAY_ATTRIBUTE.test(line))) return 0;
    const isQuoteBelow = isQuoted(lines[nextFilled(lines, at + count)] ?? '');
    if (!isQuoteBelow && !/[:：-]$/.test(joined)) continue;
    const attribution = readAttribution(joined);
    const isEnd = /[:：]$/.test(joined);
    if (attribution === null && isEnd) return 0;
    if (attribution === null || (isDated && !attribution.hasDate) || !(isReply || attribution.hasAddress))
      continue;
    if (attribution.isComplete || isQuoteBelow) return count;
  }
  return 0;
}

/** Polymail's attribution: its lines stand apart, and its address is a link. */
const POLYMAIL = [
  /^On \p{L}{3}, .{0,40}\d{1,2}:\d{2}.{0,100}$/u,
  /^$/,
  /^<$/,
  /^mailto:[^<>]{1,200}<[^<>@\s]{1,200}@[^<>@\s]{1,200}>$/,
  /^> wrote:$/,
];
const isPolymail = (lines: readonly string[], at: number): boolean =>
  POLYMAIL.every((pattern, index) => pattern.test(marker(lines[at + index]).trim()));

/** True if a quote with a head begins at `at`. */
export function startsQuote(lines: readonly string[], at: number, isReply: boolean): boolean {
  return countAttribution(lines, at, isReply) > 0 || startsHeaderBlock(lines, at, isReply);
}

/** True if a line above introduces what follows, as data: `Es geht um diese Mail:`. */
export function isIntroduced(lines: readonly (string | null)[], at: number): boolean {
  let above = at - 1;
  while (above >= 0 && lines[above] !== null && (lines[above] ?? '').trim() === '') above--;
  return /[:：]\s*$/.test(marker(lines[above]));
}

/** The line; empty where it is too long for a mark, or none. */
export function marker(line: string | null | undefined): string {
  return line === null || line === undefined || line.length > MAX_MARKER_CHARS ? '' : line;
}

export function isQuoted(line: string): boolean {
  return line.startsWith('>') || /^ {1,2}>/.test(line);
}

/** Index of the next line that is not blank, where null is none; the number of lines when there is none. */
export function nextFilled(lines: readonly (string | null)[], from: number): number {
  let at = from;
  while (at < lines.length && lines[at] !== null && (lines[at] ?? ' ').trim() === '') at++;
  return at;
}
