/**
 * The new text of a reply: without quotes and signature. The only standard is RFC 3676 §4.3 (`-- `) and §4.5 (`>`); the
 * rest follows the practice of mail programs (reply-markers.ts). In doubt, text is kept: too much is a nuisance, too
 * little a loss. Time grows with the length only; texts above MAX_REPLY_CHARS are kept whole.
 *
 * Own code: of 38 samples like those of reply-text.test.ts, email-reply-parser 2.3 reads 28 correctly and planer 1.2, which
 * drops everything after 1000 lines, 19.
 */
import { htmlToText } from './html-to-text.ts';
import { MAX_HTML_CHARS, MAX_REPLY_CHARS } from '../limits.ts';
import { cutQuotedHtml } from './quoted-html.ts';
import { readsAsAttribution } from './reply-attribution.ts';
import {
  ATTRIBUTION_START,
  BLOCK_FROM,
  BLOCK_REST,
  DIRECTION_MARKS,
  EMAIL,
  FORWARDED,
  INLINE_ATTRIBUTION,
  MAX_MARKER_CHARS,
  ORIGINAL_MESSAGE,
  PROGRAM_SIGNATURE,
  RULE,
  WROTE,
} from './reply-markers.ts';

/** Lines over which an attribution may be wrapped. */
const MAX_ATTRIBUTION_LINES = 4;

/** Lines that the header block above a quote may take, empty ones counted. */
const MAX_BLOCK_LINES = 10;

/** `--` without its space counts as the start of a signature when no more lines than this follow. */
const MAX_SIGNATURE_LINES = 12;

/**
 * The new text, trimmed, with `\n` line ends. `text` is the message's text, `html` its HTML, if any: it shows quotes that
 * only the HTML marks. When nothing would be left, for example of a forwarded mail without a word, all of `text` is
 * returned. A forwarded mail is also kept below its sender's words. `isForward`: the subject marks a forward.
 */
export function newText(text: string, html: string | null = null, isForward = false): string {
  const lines = text.split('\n');
  if (text.length > MAX_REPLY_CHARS || isForward) return trimBlank(lines);
  const { kept, isForwarding } = withoutQuotes(lines);
  if (!isForwarding && kept.length === lines.length && html !== null && html.length <= MAX_HTML_CHARS) {
    const cut = cutQuotedHtml(html);
    const rendered = cut === null ? '' : trimQuoted(withoutQuotes(htmlToText(cut).split('\n')).kept);
    if (rendered !== '') return rendered;
  }
  const result = kept.length === lines.length ? trimBlank(kept) : trimQuoted(kept);
  return result === '' ? trimBlank(lines) : result;
}

interface Unquoted {
  readonly kept: readonly string[];
  /** The kept text includes the part after the marker of a forward. */
  readonly isForwarding: boolean;
}

function withoutQuotes(given: readonly string[]): Unquoted {
  const lines = [...given];
  const kept: string[] = [];
  for (let at = 0; at < lines.length;) {
    const line = lines[at] ?? '';
    if (line.length > MAX_MARKER_CHARS || line.trim() === '') {
      kept.push(line);
      at++;
      continue;
    }
    if (FORWARDED.test(line)) return { kept: [...kept, ...lines.slice(at)], isForwarding: true };
    if (startsOriginal(lines, at)) break;
    const inline = attributionWithin(lines, at);
    if (inline > 0) {
      kept.push(line.slice(0, inline).trimEnd());
      lines[at] = line.slice(inline);
    }
    const attributionLines = countAttribution(lines, at);
    if (attributionLines > 0) {
      const next = nextFilled(lines, at + attributionLines);
      // Without `>` below it, the end of the quote is unknown.
      if (!isQuoted(lines[next] ?? '')) break;
      dropRules(kept);
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
  return { kept, isForwarding: false };
}

/** Drops rules and empty lines at the end: they belong to the quote below them. */
function dropRules(kept: string[]): void {
  while (kept.length > 0 && ((kept.at(-1) ?? '').trim() === '' || RULE.test(marker(kept.at(-1))))) kept.pop();
  kept.push('');
}

/** The index on a line at which an attribution begins after text and hyphens; 0 when there is none. */
function attributionWithin(lines: readonly string[], at: number): number {
  const line = lines[at] ?? '';
  if (!line.includes('--') || (countAttribution(lines, at) > 0 && /^\s*-/.test(line))) return 0;
  for (const { index, 0: hyphens } of line.matchAll(INLINE_ATTRIBUTION)) {
    if (line.slice(0, index).trim() === '') continue;
    const rest = [line.slice(index), ...lines.slice(at + 1, at + MAX_ATTRIBUTION_LINES)];
    const isStart = ATTRIBUTION_START.test(line.slice(index + hyphens.length));
    if (isStart && countAttribution(rest, 0) > 0) return index;
  }
  return 0;
}

/** True if everything from here on is quoted. */
function startsOriginal(lines: readonly string[], at: number): boolean {
  const line = lines[at] ?? '';
  if (ORIGINAL_MESSAGE.test(line)) return true;
  return startsHeaderBlock(lines, RULE.test(line) ? nextFilled(lines, at + 1) : at);
}

/** From, and at least two of date, To and Subject, in the lines below it; GMX writes the date before From. */
function startsHeaderBlock(lines: readonly string[], at: number): boolean {
  const first = marker(lines[at]);
  const [date] = BLOCK_REST;
  if (!BLOCK_FROM.test(first) && date?.test(first) !== true) return false;
  const block = lines.slice(at, at + MAX_BLOCK_LINES).map(marker);
  return (
    block.some((line) => BLOCK_FROM.test(line)) &&
    BLOCK_REST.filter((pattern) => block.some((line) => pattern.test(line))).length >= 2
  );
}

/** The number of lines of the attribution at `at`, `On … wrote:`; 0 when there is none. */
function countAttribution(lines: readonly string[], at: number): number {
  let joined = '';
  for (let count = 1; count <= MAX_ATTRIBUTION_LINES; count++) {
    const line = marker(lines[at + count - 1])
      .replace(DIRECTION_MARKS, '')
      .trim();
    if (line === '' || isQuoted(line)) return 0;
    joined = joined === '' ? line : `${joined} ${line}`;
    if (joined.length > MAX_MARKER_CHARS) return 0;
    // Zoho: `---- On … wrote ----`. Input: at most 500 characters, MAX_MARKER_CHARS.
    const bare = joined.replace(/^-{2,}\s*/, '').replace(/\s*-{2,}$/, '');
    const isStart = ATTRIBUTION_START.test(bare);
    const isQuoteBelow = (): boolean => isQuoted(lines[nextFilled(lines, at + count)] ?? '');
    const isEnd = /[:：]$/.test(bare);
    // A name and a verb suffice when a quote is next.
    if (isEnd && count === 1 && WROTE.test(bare) && isQuoted(lines[at + 1] ?? '')) return 1;
    if (!isStart && !EMAIL.test(bare)) return 0;
    if (isEnd) return readsAsAttribution(bare, isStart) || (isStart && isQuoteBelow()) ? count : 0;
    const isRuled = joined.startsWith('--') && joined.endsWith('--');
    if (isRuled && readsAsAttribution(`${bare}:`, isStart)) return count;
    // Some programs write no colon; then only a quote below is proof.
    if (isStart && WROTE.test(line) && isQuoteBelow()) return count;
  }
  return 0;
}

function marker(line: string | undefined): string {
  return line === undefined || line.length > MAX_MARKER_CHARS ? '' : line;
}

function isQuoted(line: string): boolean {
  return line.startsWith('>') || /^ {1,2}>/.test(line);
}

/** A single line `>50 %` is not a quote: a quote has a space, another `>` or nothing after the `>`, or a second line. */
function isQuote(lines: readonly string[], at: number): boolean {
  return /^ *>(?:[ >\t]|$)/.test(lines[at] ?? '') || isQuoted(lines[at + 1] ?? '');
}

/** The index after the quoted lines; empty lines between them belong to them. */
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
    // The rest of such a long signature does not matter; see isSignatureStart.
    if (lines[at] !== '-- ' && end - at > MAX_SIGNATURE_LINES) return end;
  }
  return lines.length;
}

/** True if only a quote, a signature or nothing follows. */
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

/** Like trimBlank, also without rules at the end, which were above a quote. */
function trimQuoted(lines: readonly string[]): string {
  const kept = [...lines];
  dropRules(kept);
  return trimBlank(kept);
}

/** Joins the lines; no empty lines at either end, nor more than one in a row where a quote was removed. */
function trimBlank(lines: readonly string[]): string {
  const start = nextFilled(lines, 0);
  return lines
    .slice(start)
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trimEnd();
}
