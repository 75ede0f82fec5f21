/**
 * The new text of a reply: without what it quotes, and without the signature. There is no standard but RFC 3676 §4.3
 * (`-- `) and §4.5 (`>`); the rest is what mail programs do (reply-markers.ts). When unsure, text is kept: too much is
 * a nuisance, too little a loss. Time grows with the length only; texts above MAX_REPLY_CHARS are kept whole.
 *
 * Own code: of the 38 samples of reply-text.test.ts, email-reply-parser 2.3 reads 28 as wanted and planer 1.2, which
 * drops what comes after 1000 lines, 19.
 */
import { htmlToText } from './html-to-text.ts';
import { MAX_HTML_CHARS, MAX_REPLY_CHARS } from './limits.ts';
import { cutQuotedHtml } from './quoted-html.ts';
import {
  ATTRIBUTION_START,
  BLOCK_FROM,
  BLOCK_REST,
  DATED,
  EMAIL,
  FORWARDED,
  MAX_MARKER_CHARS,
  ORIGINAL_MESSAGE,
  PROGRAM_SIGNATURE,
  RULE,
  TIME_OR_YEAR,
  WROTE,
} from './reply-markers.ts';

/** Lines over which an attribution may be wrapped. */
const MAX_ATTRIBUTION_LINES = 4;

/** Lines that the header block above a quote may take, empty ones counted. */
const MAX_BLOCK_LINES = 10;

/** `--` without its space is taken for a signature's start when no more lines follow than this. */
const MAX_SIGNATURE_LINES = 12;

/**
 * The new text, trimmed, with `\n` line ends. `text` is the message's text, `html` its HTML, if it has one: quotes that
 * only the HTML marks are found there. When nothing would be left, for example of a forwarded mail without a word, all
 * of `text` is given.
 */
export function newText(text: string, html: string | null = null): string {
  const lines = text.split('\n');
  if (text.length > MAX_REPLY_CHARS) return trimBlank(lines);
  const kept = withoutQuotes(lines);
  if (kept.length === lines.length && html !== null && html.length <= MAX_HTML_CHARS) {
    const cut = cutQuotedHtml(html);
    const rendered = cut === null ? '' : withoutQuotes(htmlToText(cut).split('\n')).join('\n').trim();
    if (rendered !== '') return rendered;
  }
  const result = trimBlank(kept);
  return result === '' ? trimBlank(lines) : result;
}

function withoutQuotes(lines: readonly string[]): readonly string[] {
  const kept: string[] = [];
  for (let at = 0; at < lines.length;) {
    const line = lines[at] ?? '';
    if (line.length > MAX_MARKER_CHARS || line.trim() === '') {
      kept.push(line);
      at++;
      continue;
    }
    if (FORWARDED.test(line)) return [...kept, ...lines.slice(at)];
    if (startsOriginal(lines, at)) break;
    const attributionLines = countAttribution(lines, at);
    if (attributionLines > 0) {
      const next = nextFilled(lines, at + attributionLines);
      // Without `>` below it nothing says where the quote ends.
      if (!isQuoted(lines[next] ?? '')) break;
      at = endOfQuote(lines, next);
    } else if (isQuoted(line) && isQuote(lines, at)) {
      at = endOfQuote(lines, at);
    } else if (isSignatureStart(lines, at)) {
      at = endOfSignature(lines, at);
    } else if (PROGRAM_SIGNATURE.test(line) && endsText(lines, at + 1)) {
      at++;
    } else {
      kept.push(line);
      at++;
    }
  }
  return kept;
}

/** Whether all that follows is quoted. */
function startsOriginal(lines: readonly string[], at: number): boolean {
  const line = lines[at] ?? '';
  if (ORIGINAL_MESSAGE.test(line)) return true;
  return startsHeaderBlock(lines, RULE.test(line) ? nextFilled(lines, at + 1) : at);
}

/** From, and at least two of date, To and Subject, in the lines below it. */
function startsHeaderBlock(lines: readonly string[], at: number): boolean {
  if (!BLOCK_FROM.test(marker(lines[at]))) return false;
  const block = lines.slice(at + 1, at + MAX_BLOCK_LINES).map(marker);
  return BLOCK_REST.filter((pattern) => block.some((line) => pattern.test(line))).length >= 2;
}

/** How many lines the attribution at `at` takes, `On … wrote:`; 0 when there is none. */
function countAttribution(lines: readonly string[], at: number): number {
  let joined = '';
  for (let count = 1; count <= MAX_ATTRIBUTION_LINES; count++) {
    const line = marker(lines[at + count - 1]).trim();
    if (line === '' || isQuoted(line)) return 0;
    joined = joined === '' ? line : `${joined} ${line}`;
    if (joined.length > MAX_MARKER_CHARS) return 0;
    const isStart = ATTRIBUTION_START.test(joined);
    if (!isStart && !EMAIL.test(joined)) return 0;
    const isQuoteBelow = (): boolean => isQuoted(lines[nextFilled(lines, at + count)] ?? '');
    if (/[:：]$/.test(joined))
      return isAttribution(joined, isStart) || (isStart && isQuoteBelow()) ? count : 0;
    // Some write no colon; then only a quote below tells.
    if (isStart && WROTE.test(line) && isQuoteBelow()) return count;
  }
  return 0;
}

/** A person may write "On 3 May we wrote:" too; then no address, time or year stands in it. */
function isAttribution(joined: string, isStart: boolean): boolean {
  if (DATED.test(joined) && EMAIL.test(joined)) return true;
  return WROTE.test(joined) && (EMAIL.test(joined) || (isStart && TIME_OR_YEAR.test(joined)));
}

function marker(line: string | undefined): string {
  return line === undefined || line.length > MAX_MARKER_CHARS ? '' : line;
}

function isQuoted(line: string): boolean {
  return line.startsWith('>') || /^ {1,2}>/.test(line);
}

/** One line `>50 %` is no quote: that has a space, another `>`, nothing behind it, or a second line. */
function isQuote(lines: readonly string[], at: number): boolean {
  return /^ *>(?:[ >\t]|$)/.test(lines[at] ?? '') || isQuoted(lines[at + 1] ?? '');
}

/** Behind the quoted lines; empty lines between them belong to them. */
function endOfQuote(lines: readonly string[], from: number): number {
  let end = from;
  while (isQuoted(lines[end] ?? '')) {
    end++;
    const next = nextFilled(lines, end);
    if (isQuoted(lines[next] ?? '')) end = next;
  }
  return end;
}

// RFC 3676 §4.3; programs that strip white space leave two hyphens.
function isSignatureStart(lines: readonly string[], at: number): boolean {
  if (lines[at] === '-- ') return true;
  if (!/^--\s*$/.test(lines[at] ?? '') || !/[^\s-]/.test(lines[at + 1] ?? '')) return false;
  return endOfSignature(lines, at) - at <= MAX_SIGNATURE_LINES;
}

/** A signature ends where a quote begins, or with the text. */
function endOfSignature(lines: readonly string[], at: number): number {
  for (let end = at + 1; end < lines.length; end++) {
    const line = marker(lines[end]);
    if (isQuoted(line) || FORWARDED.test(line) || ORIGINAL_MESSAGE.test(line) || RULE.test(line)) return end;
    if (startsHeaderBlock(lines, end) || countAttribution(lines, end) > 0) return end;
    // What follows a signature that long is looked at no more; see isSignatureStart.
    if (lines[at] !== '-- ' && end - at > MAX_SIGNATURE_LINES) return end;
  }
  return lines.length;
}

/** Whether only a quote, a signature or nothing follows. */
function endsText(lines: readonly string[], from: number): boolean {
  const next = nextFilled(lines, from);
  const line = marker(lines[next]);
  return (
    next >= lines.length ||
    isQuoted(line) ||
    /^--\s*$/.test(line) ||
    FORWARDED.test(line) ||
    startsOriginal(lines, next) ||
    countAttribution(lines, next) > 0
  );
}

/** Index of the next line that is not blank; the number of lines when there is none. */
function nextFilled(lines: readonly string[], from: number): number {
  let at = from;
  while (at < lines.length && (lines[at] ?? '').trim() === '') at++;
  return at;
}

/** Joined; no empty lines at either end, nor more than one in a row where a quote was taken out. */
function trimBlank(lines: readonly string[]): string {
  const start = nextFilled(lines, 0);
  return lines
    .slice(start)
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trimEnd();
}
