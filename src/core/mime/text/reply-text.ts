/**
 * The new text of a reply: without quotes and signature. The only standard is RFC 3676 §4.3 (`-- `) and §4.5 (`>`); the
 * rest follows the practice of mail programs (reply-markers.ts, reply-attribution.ts, header-block.ts,
 * program-signature.ts). In doubt, text is kept: too much is a nuisance, too little a loss. So a quote is what a mail
 * program's form proves, by its labels and its values. Time grows with the length only; texts above MAX_REPLY_CHARS are kept
 * whole.
 *
 * Own code: of 38 samples like those of reply-text.test.ts, email-reply-parser 2.3 reads 28 correctly and planer 1.2, which
 * drops everything after 1000 lines, 19.
 */
import { trimEnd } from '../../trim-ends.ts';
import { htmlToText } from './html-to-text.ts';
import { MAX_HTML_CHARS, MAX_REPLY_CHARS } from '../limits.ts';
import { startsHeaderBlock } from './header-block.ts';
import { PROGRAM_SIGNATURE } from './program-signature.ts';
import { cutQuotedHtml } from './quoted-html.ts';
import { readAttribution } from './reply-attribution.ts';
import {
  DIRECTION_MARKS,
  EMAIL,
  FORWARDED,
  INLINE_ATTRIBUTION,
  MAX_MARKER_CHARS,
  ORIGINAL_MESSAGE,
  RULE,
} from './reply-markers.ts';

export interface ReplyContext {
  /** The header says that the message answers another one: In-Reply-To, References, or a prefix of the subject. */
  readonly isReply: boolean;
  /** The subject marks a forward. */
  readonly isForward: boolean;
}

/** Lines over which an attribution may be wrapped. */
const MAX_ATTRIBUTION_LINES = 4;

/** Places within a line that are tried as the beginning of an attribution. */
const MAX_INLINE_STARTS = 8;

/** Lines below a mark `Original Message` in which an address proves the mark of a mail that answers nothing. */
const MAX_MARKED_LINES = 12;

/** Lines of a signature, empty ones not counted; a longer one is text. */
const MAX_SIGNATURE_LINES = 40;

/** The first line of an attribution: it has a date, an address, or no more than a name and a verb. */
const MAY_ATTRIBUTE = /[\d@]|^(?:-{2,}\s*)?\p{Lu}[^.]{1,100}(?:[:：]|--)$/u;

/** A quote that was left out. */
const QUOTE = null;
type Line = string | typeof QUOTE;

/**
 * The new text, trimmed, with `\n` line ends. `text` is the message's text, `html` its HTML, if any: it shows quotes that
 * only the HTML marks. When nothing would be left, for example of a forwarded mail without a word, all of `text` is
 * returned. A forwarded mail is also kept below its sender's words. A mail that answers nothing has no quote unless a mail
 * program's form with an address marks it.
 */
export function newText(text: string, html: string | null, context: ReplyContext): string {
  const lines = text.split('\n');
  const whole = trimEnds(lines);
  if (text.length > MAX_REPLY_CHARS || context.isForward) return whole;
  const { kept, isForwarding } = withoutQuotes(lines, context.isReply);
  if (!isForwarding && !kept.includes(QUOTE) && html !== null && html.length <= MAX_HTML_CHARS) {
    const cut = cutQuotedHtml(html, context.isReply);
    const rendered =
      cut === null
        ? ''
        : toText([...withoutQuotes(htmlToText(cut).split('\n'), context.isReply).kept, QUOTE]);
    if (rendered !== '') return rendered;
  }
  const result = isForwarding ? toText(kept, isForwarding) : toText(kept);
  return result === '' ? whole : result;
}

interface Unquoted {
  readonly kept: readonly Line[];
  /** The kept text includes the part after the marker of a forward. */
  readonly isForwarding: boolean;
}

function withoutQuotes(given: readonly string[], isReply: boolean): Unquoted {
  const lines = [...given];
  const kept: Line[] = [];
  /** An attribution was above: `>` marks quotes from here on, and not lists. */
  let isQuoting = false;
  for (let at = 0; at < lines.length;) {
    const line = lines[at] ?? '';
    if (line.length > MAX_MARKER_CHARS || line.trim() === '') {
      kept.push(line);
      at++;
      continue;
    }
    if (FORWARDED.test(line)) return { kept: [...kept, ...lines.slice(at)], isForwarding: true };
    if (startsOriginal(lines, at, isReply)) return { kept: [...kept, QUOTE], isForwarding: false };
    const inline = attributionWithin(lines, at, isReply);
    if (inline > 0) {
      kept.push(trimEnd(line.slice(0, inline), (one) => /[\s-]/.test(one)));
      lines[at] = line.slice(inline);
    }
    const attributionLines = countAttribution(lines, at, isReply);
    if (attributionLines > 0) {
      const next = nextFilled(lines, at + attributionLines);
      kept.push(QUOTE);
      // Without `>` below it, the end of the quote is unknown.
      if (!isQuoted(lines[next] ?? '')) return { kept, isForwarding: false };
      isQuoting = true;
      at = endOfQuote(lines, next);
    } else if (isQuoted(line)) {
      const end = endOfQuote(lines, at);
      const block = lines.slice(at, end);
      const isQuote: boolean = isQuoting ? !isList(lines, at) : provesQuote(block, isReply);
      isQuoting ||= isQuote;
      if (isQuote) kept.push(QUOTE);
      else for (const quoted of block) kept.push(quoted);
      at = end;
    } else {
      kept.push(line);
      at++;
    }
  }
  return { kept, isForwarding: false };
}

/**
 * The index on a line at which an attribution begins after text; 0 when there is none. Of several beginnings the last one
 * counts: `… am 12. Mai. Am 04.05.2026 um 10:00 schrieb …`.
 */
function attributionWithin(lines: readonly string[], at: number, isReply: boolean): number {
  const line = lines[at] ?? '';
  if (isQuoted(line)) return 0;
  const starts = [...line.matchAll(INLINE_ATTRIBUTION)].map(({ index }) => index);
  for (const start of starts.slice(-MAX_INLINE_STARTS).reverse()) {
    const before = line.slice(0, start);
    // `Am Montag, den 2. März`, `---- On …`
    if (/,\s$/.test(before) || /^[\s-]*$/.test(before)) continue;
    const bare = before.trimEnd().replace(/(?<!-)-{2,}$/, '');
    const hyphens = bare === before.trimEnd() ? 0 : before.length - bare.length;
    const rest = [line.slice(start - hyphens), ...lines.slice(at + 1, at + MAX_ATTRIBUTION_LINES + 1)];
    if (countFrom(rest, 0, isReply, true) > 0) return start - hyphens;
  }
  return 0;
}

/** True if everything from here on is quoted. */
function startsOriginal(lines: readonly string[], at: number, isReply: boolean): boolean {
  const line = lines[at] ?? '';
  if (ORIGINAL_MESSAGE.test(line)) {
    return isReply || lines.slice(at + 1, at + MAX_MARKED_LINES).some((below) => EMAIL.test(marker(below)));
  }
  return startsHeaderBlock(lines, RULE.test(line) ? nextFilled(lines, at + 1) : at, isReply);
}

/**
 * The number of lines of the attribution at `at`, `On … wrote:`; 0 when there is none. Lines that end in an attribution of
 * their own are text and an attribution.
 */
function countAttribution(lines: readonly string[], at: number, isReply: boolean): number {
  const count = countFrom(lines, at, isReply, false);
  for (let from = 1; from < count; from++) {
    if (countFrom(lines, at + from, isReply, true) === count - from) return 0;
  }
  return count;
}

function countFrom(lines: readonly string[], at: number, isReply: boolean, isDated: boolean): number {
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

function marker(line: string | undefined): string {
  return line === undefined || line.length > MAX_MARKER_CHARS ? '' : line;
}

function isQuoted(line: string): boolean {
  return line.startsWith('>') || /^ {1,2}>/.test(line);
}

/** A line above that ends in a colon introduces a list, of which each line begins with `>`. */
function isList(lines: readonly string[], at: number): boolean {
  return /[:：]\s*$/.test(marker(lines[at - 1]));
}

/**
 * True if `>` without an attribution above marks a quote: one within it (Apple Mail puts it there), a quote of a quote, or an
 * empty line, which no list has.
 */
function provesQuote(block: readonly string[], isReply: boolean): boolean {
  const inner = block.map((line) => marker(line).replace(/^ {0,2}> ?/, ''));
  const start = nextFilled(inner, 0);
  if (countAttribution(inner, start, isReply) > 0 || startsHeaderBlock(inner, start, isReply)) return true;
  if (!isReply || block.length < 2) return false;
  return inner.some((line, at) => line.startsWith('>') || (line.trim() === '' && at > 0));
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

/** Index of the next line that is not blank; the number of lines when there is none. */
function nextFilled(lines: readonly Line[], from: number): number {
  let at = from;
  while (at < lines.length && (lines[at] ?? ' ').trim() === '' && lines[at] !== QUOTE) at++;
  return at;
}

/** What is kept, without signatures and the rules above quotes. */
function toText(kept: readonly Line[], isForwarding = false): string {
  if (isForwarding) return trimEnds(kept.map((line) => line ?? ''));
  const lines = withoutSignatures(kept);
  return kept.length === lines.length && !kept.includes(QUOTE) ? trimEnds(lines) : joinAroundQuotes(lines);
}

/**
 * Without the lines from `-- ` on, up to a quote or the end (RFC 3676 §4.3), and without lines such as `Sent from my iPhone` at
 * the end of a text. Several `-- ` separate parts of a text.
 */
function withoutSignatures(kept: readonly Line[]): readonly Line[] {
  const starts = kept.flatMap((line, index) => (line === '-- ' ? [index] : []));
  const [start] = starts;
  let lines = kept;
  if (start !== undefined && starts.length === 1) {
    const quote = kept.indexOf(QUOTE, start);
    const end = quote === -1 ? kept.length : quote;
    const signature = kept.slice(start + 1, end).filter((line) => line !== QUOTE && line.trim() !== '');
    if (signature.length <= MAX_SIGNATURE_LINES) lines = [...kept.slice(0, start), ...kept.slice(end)];
  }
  return lines.filter((line, index) => {
    if (line === QUOTE || line.length > MAX_MARKER_CHARS || !PROGRAM_SIGNATURE.test(line)) return true;
    const next = lines[nextFilled(lines, index + 1)];
    return next !== undefined && next !== QUOTE && next !== '-- ';
  });
}

/** The lines, with one empty line in place of each quote, and without a rule above it that the text has only once. */
function joinAroundQuotes(lines: readonly Line[]): string {
  const result: string[] = [];
  for (const [index, line] of lines.entries()) {
    if (line !== QUOTE) {
      result.push(line);
      continue;
    }
    dropBlank(result);
    const rule = result.at(-1) ?? '';
    if (RULE.test(marker(rule)) && lines.indexOf(rule) === lines.lastIndexOf(rule)) {
      result.pop();
      dropBlank(result);
    }
    if (index < lines.length - 1) result.push('');
  }
  return trimEnds(result).replace(/\n{3,}/g, '\n\n');
}

function dropBlank(lines: string[]): void {
  while (lines.length > 0 && (lines.at(-1) ?? '').trim() === '') lines.pop();
}

/** Joins the lines, without empty ones at either end. */
function trimEnds(lines: readonly Line[]): string {
  return lines.slice(nextFilled(lines, 0)).join('\n').trimEnd();
}
