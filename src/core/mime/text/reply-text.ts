/**
 * The new text of a reply: without quotes and signature. The only standard is RFC 3676 §4.3 (`-- `) and §4.5 (`>`); the
 * rest follows the practice of mail programs (reply-markers.ts, attribution-lines.ts, header-block.ts, signature-lines.ts,
 * program-signature.ts). In doubt, text is kept: too much is a nuisance, too little a loss. So a quote is what a mail
 * program's form proves, by its labels and its values, and a signature has nothing but names, numbers and addresses. Time grows
 * with the length only; texts above MAX_REPLY_CHARS are kept whole.
 *
 * Own code: of 38 samples like those of reply-text.test.ts, email-reply-parser 2.3 reads 28 correctly and planer 1.2, which
 * drops everything after 1000 lines, 19.
 */
import { trimEnd } from '../../trim-ends.ts';
import { htmlToText } from './html-to-text.ts';
import { MAX_HTML_CHARS, MAX_REPLY_CHARS } from '../limits.ts';
import {
  countAttribution,
  countFrom,
  isIntroduced,
  isQuoted,
  marker,
  MAX_ATTRIBUTION_LINES,
  nextFilled,
  startsQuote,
} from './attribution-lines.ts';
import { ANSWER_BELOW, isMarkedAnswer } from './answers-within.ts';
import { startsHeaderBlock } from './header-block.ts';
import { PROGRAM_SIGNATURE } from './program-signature.ts';
import { cutQuotedHtml } from './quoted-html.ts';
import {
  EMAIL,
  FORWARDED,
  INLINE_ATTRIBUTION,
  MAX_MARKER_CHARS,
  ORIGINAL_MESSAGE,
  RULE,
} from './reply-markers.ts';
import { isListFooter, isSignature } from './signature-lines.ts';

export interface ReplyContext {
  /** The header says that the message answers another one: In-Reply-To, References, or a prefix of the subject. */
  readonly isReply: boolean;
  /** The subject marks a forward. */
  readonly isForward: boolean;
  /** The names and parts of the address of the message's author; null: unknown. */
  readonly sender: string | null;
}

/** Places within a line that are tried as the beginning of an attribution. */
const MAX_INLINE_STARTS = 8;

/** Lines below a mark `Original Message` in which an address proves the mark of a mail that answers nothing. */
const MAX_MARKED_LINES = 12;

/** Signatures below each other: of a person, and of a list. */
const MAX_SIGNATURES = 3;

/** `-- `, whose space many programs lose; or the line above the footer of a list. */
const SEPARATOR = /^(?:--[ \u00a0]?|_{2,60})$/;

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
  const { isReply, sender } = context;
  const unquoted = withoutQuotes(lines, isReply);
  const { kept, isForwarding, openFrom } = unquoted;
  if (isForwarding) return toText(kept, sender, true);
  const result = toText(kept, sender);
  const isUnsure = isReply && (!kept.includes(QUOTE) || openFrom !== null);
  if (isUnsure && html !== null && html.length <= MAX_HTML_CHARS) {
    const cut = cutQuotedHtml(html, sender);
    const rest = cut === null ? [] : withoutQuotes(htmlToText(cut).split('\n'), isReply).kept;
    const rendered = toText([...rest, QUOTE], sender);
    // Where the text shows no end of a quote, its HTML may.
    const isBetter = openFrom === null || lettersOf(rendered).length > lettersOf(result).length;
    if (rendered !== '' && isBetter) return ANSWER_BELOW.test(rendered) ? whole : rendered;
  }
  return result === '' || hidesAnswers(unquoted, lines, html !== null, sender) ? whole : result;
}

const lettersOf = (text: string): string => text.replace(/\P{L}+/gu, '');

/**
 * True if answers may stand within a quote: one in which a person's program marks no lines (Outlook), or one that is made of HTML, whose
 * marks stand before answers, too.
 */
function hidesAnswers(
  { kept, openFrom }: Unquoted,
  lines: readonly string[],
  isHtml: boolean,
  sender: string | null,
): boolean {
  const last = kept.indexOf(QUOTE);
  if (last === -1 || last < kept.length - 1 || (openFrom === null && !isHtml)) return false;
  if (ANSWER_BELOW.test(kept.join('\n'))) return true;
  return openFrom !== null && lines.slice(openFrom).some((line) => isMarkedAnswer(marker(line), sender));
}

interface Unquoted {
  readonly kept: readonly Line[];
  /** The kept text includes the part after the marker of a forward. */
  readonly isForwarding: boolean;
  /** The line from which on everything is quoted, whatever it is; null: there is none. */
  readonly openFrom: number | null;
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
    if (FORWARDED.test(line)) {
      return { kept: [...kept, ...lines.slice(at)], isForwarding: true, openFrom: null };
    }
    if (startsOriginal(lines, at, isReply)) {
      return { kept: [...kept, QUOTE], isForwarding: false, openFrom: at };
    }
    const inline = attributionWithin(lines, at, isReply);
    if (inline > 0) {
      kept.push(trimEnd(line.slice(0, inline), (one) => /[\s-]/.test(one)));
      lines[at] = line.slice(inline);
    }
    const attributionLines = countAttribution(lines, at, isReply);
    const next = nextFilled(lines, at + attributionLines);
    if (attributionLines > 0 && (isQuoted(lines[next] ?? '') || !isIntroduced(kept, kept.length))) {
      kept.push(QUOTE);
      // Without `>` below it, the end of the quote is unknown.
      if (!isQuoted(lines[next] ?? '')) return { kept, isForwarding: false, openFrom: next };
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
  return { kept, isForwarding: false, openFrom: null };
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
  const isRuled = RULE.test(line);
  // A person's own block, in a mail that answers nothing, or as data: `Es geht um diese Mail:`.
  if ((!isReply && !isRuled) || isIntroduced(lines, at)) return false;
  return startsHeaderBlock(lines, isRuled ? nextFilled(lines, at + 1) : at, isReply);
}

/** A line above that ends in a colon introduces a list, of which each line begins with `>`. */
function isList(lines: readonly string[], at: number): boolean {
  return /[:：]\s*$/.test(marker(lines[at - 1]));
}

/**
 * True if `>` without an attribution above marks a quote, by one within it (Apple Mail puts it there). Without any, it may be a
 * person's own words in an element for quotes.
 */
function provesQuote(block: readonly string[], isReply: boolean): boolean {
  const inner = block.map((line) => marker(line).replace(/^ {0,2}> ?/, ''));
  return startsQuote(inner, nextFilled(inner, 0), isReply);
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

/** What is kept, without signatures and the rules above quotes. */
function toText(kept: readonly Line[], sender: string | null, isForwarding = false): string {
  if (isForwarding) return trimEnds(kept.map((line) => line ?? ''));
  const lines = withoutSignatures(kept, sender);
  return kept.length === lines.length && !kept.includes(QUOTE) ? trimEnds(lines) : joinAroundQuotes(lines);
}

/** Without the signatures at the end of the text and above each quote. */
function withoutSignatures(kept: readonly Line[], sender: string | null): readonly Line[] {
  const lines: Line[] = [];
  let from = 0;
  while (from < kept.length) {
    const quote = kept.indexOf(QUOTE, from);
    const end = quote === -1 ? kept.length : quote;
    for (const line of withoutSignature(kept.slice(from, end) as readonly string[], sender)) lines.push(line);
    if (quote !== -1) lines.push(QUOTE);
    from = end + 1;
  }
  return lines;
}

/** Signatures of a person and footers of lists (RFC 3676 §4.3), then lines such as `Sent from my iPhone`. */
function withoutSignature(given: readonly string[], sender: string | null): readonly string[] {
  let end = given.length;
  for (let tries = 0; tries < MAX_SIGNATURES; tries++) {
    end = endOfProgramSignatures(given, end);
    const at = given.slice(0, end).findLastIndex((line) => SEPARATOR.test(line));
    const below = given.slice(at + 1, end);
    const separator = given[at] ?? '';
    const isCut =
      at !== -1 &&
      (separator.startsWith('_')
        ? isListFooter(below)
        : !isIntroduced(given, at) && isSignature(below, separator !== '--', sender));
    if (!isCut) break;
    end = at;
  }
  return given.slice(0, end);
}

function endOfProgramSignatures(lines: readonly string[], from: number): number {
  let end = from;
  for (let at = from - 1; at >= 0; at--) {
    const line = marker(lines[at]);
    if (PROGRAM_SIGNATURE.test(line)) end = at;
    else if ((lines[at] ?? '').trim() !== '') break;
  }
  return end;
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
