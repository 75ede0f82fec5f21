/**
 * Cuts the quote out of a reply's HTML, by the elements in which mail programs put it. Such an element alone proves nothing: people
 * put words of their own into a quote, and lines above a text. So a quote has a head, within its element or right above: an
 * attribution, a header block, or an element that only programs write. Reads tags only, without a tree, in time that grows
 * with the length only. The result is to be rendered to text, not to be shown.
 */

import { countAttribution, MAX_ATTRIBUTION_LINES, nextFilled } from './attribution-lines.ts';
import { flattenHtml } from './flatten-html.ts';
import { startsHeaderBlock } from './header-block.ts';
import { MAX_MARKER_CHARS, ORIGINAL_MESSAGE, RULE } from './reply-markers.ts';
import { isSignature } from './signature-lines.ts';

/** A tag is read this far. Real ones with long styles have some hundred characters. */
const MAX_TAG_CHARS = 2000;

/** The head of a quote is looked for in so many characters of its element, and of what is above. */
const MAX_HEAD_CHARS = 8000;

/** Elements without a head that are looked at; further ones are kept. Bounds the work: elements within each are read again. */
const MAX_LOOKS = 20;

/** Lines of a header block, empty ones not counted. */
const MAX_HEAD_LINES = 10;

/** Elements that contain a quote. Input: at most 2000 characters, MAX_TAG_CHARS. */
const QUOTE =
  /\b(?:class|id|name|type)\s*=\s*["']?(?:[^"'>]{0,100}\s)?(?:gmail_quote|gmail_quote_container|gmail_extra|yahoo_quoted|moz-cite-prefix|protonmail_quote|tutanota_quote|zmail_extra|OLK_SRC_BODY_SECTION|messageReplySection|reply-intro)\b|\btype\s*=\s*["']?cite\b/i;

/** Elements in which programs put the signature of a person. */
const SIGNATURE = /\bclass\s*=\s*["']?(?:[^"'>]{0,100}\s)?(?:gmail_signature|gmail_signature_prefix)\b/i;

/** Attributions in any language, and quotes that name the message that they quote. */
const HEAD_TAG =
  /\bclass\s*=\s*["']?(?:[^"'>]{0,100}\s)?(?:moz-cite-prefix|reply-intro)\b|\bcite\s*=\s*["']?(?:mid|cid):/i;

/** Gmail's attribution, in any language. */
const GMAIL_HEAD = /<div\b[^<>]{0,200}\bclass\s*=\s*["']?gmail_attr\b/i;

/** Elements after which everything is quoted: Outlook's borders and markers. */
const REST =
  /\b(?:id\s*=\s*["']?(?:x_)*(?:divRplyFwdMsg|appendonsend|mail-editor-reference-message-container|ms-outlook-mobile-body-separator-line)|style\s*=\s*["'][^"'>]{0,100}border:\s?none;\s?border-top:\s?solid #(?:E1E1E1|B5C4DF) 1\.0pt)/i;

/** What only Outlook writes: the labels of its header block may be in any language. */
const OUTLOOK = /\bid\s*=/i;

/** The end of an attribution in any language, in an element that only programs write. */
const MOMENT = /(?<!\d)(?:19|20)\d{2}(?!\d)|(?<!\d)\d{1,2}[:.h]\d{2}(?!\d)|@/u;

const TAG = /^<(\/?)(div|blockquote|table|span|section)\b/i;

/** `Von: …`, in any language. Input: at most 500 characters, MAX_MARKER_CHARS. */
const LABELLED = /^\s*\p{L}[\p{L}\p{M} ()-]{0,24}\s?[:：]\s*\S/u;

/**
 * The HTML of a reply without its quotes; null when none is marked.
 *
 * @param sender see isSignature
 */
export function cutQuotedHtml(html: string, sender: string | null): string | null {
  const kept: string[] = [];
  let keptFrom = 0;
  let isCut = false;
  /** A quote with a head was above: further ones need none. */
  let isQuoting = false;
  let looks = 0;
  /** What may be cut: where it begins, the name of its element, and the number of open elements of that name within it. */
  let quote: Quote | null = null;
  const cut = (from: number, to: number): void => {
    kept.push(html.slice(keptFrom, from));
    keptFrom = to;
    isCut = true;
  };
  const isProven = (from: number, to: number, tag: string): boolean => {
    if (isQuoting) return true;
    if (looks > MAX_LOOKS) return false;
    isQuoting = hasHead(html, from, to, tag);
    if (!isQuoting) looks++;
    return isQuoting;
  };
  const isCutAt = (from: number, to: number, tag: string): boolean =>
    SIGNATURE.test(tag)
      ? to - from <= MAX_HEAD_CHARS && isSignature(linesOf(html.slice(from, to)), true, sender)
      : isProven(from, to, tag);
  for (let at = html.indexOf('<'); at !== -1; at = html.indexOf('<', at)) {
    const [, slash = '', given = ''] = TAG.exec(html.slice(at, at + 20)) ?? [];
    if (given === '') {
      at++;
      continue;
    }
    const end = html.indexOf('>', at);
    if (end === -1) break;
    const name = given.toLowerCase();
    if (quote === null) {
      const tag = html.slice(at, Math.min(end, at + MAX_TAG_CHARS));
      if (slash === '' && REST.test(tag)) {
        if (isProven(at, html.length, tag)) {
          cut(at, html.length);
          break;
        }
      } else if (slash === '' && (QUOTE.test(tag) || SIGNATURE.test(tag))) {
        quote = { from: at, name, tag, depth: 1, blockquotes: name === 'blockquote' ? Number.NaN : 0 };
      }
    } else {
      const step: number = slash === '' ? 1 : -1;
      if (name === quote.name) quote.depth += step;
      if (name === 'blockquote') quote.blockquotes += step;
      // Answers stand below a `blockquote` within the element that programs put around it, and between several.
      const isEnd = quote.depth === 0 || (name === 'blockquote' && quote.blockquotes === 0);
      if (isEnd) {
        const { from, tag } = quote;
        quote = null;
        if (isCutAt(from, end + 1, tag)) {
          cut(from, end + 1);
        } else if (looks <= MAX_LOOKS) {
          // What is within may have a head of its own.
          at = html.indexOf('>', from) + 1;
          continue;
        }
      }
    }
    at = end + 1;
  }
  if (quote !== null && isCutAt(quote.from, html.length, quote.tag)) cut(quote.from, html.length);
  if (!isCut) return null;
  kept.push(html.slice(keptFrom));
  return kept.join('');
}

interface Quote {
  readonly from: number;
  readonly name: string;
  readonly tag: string;
  depth: number;
  /** Open ones within; not a number in a `blockquote`, which ends with its own tag. */
  blockquotes: number;
}

/** True if the element begins with the head of a quote, or stands below an attribution. */
function hasHead(html: string, from: number, to: number, tag: string): boolean {
  if (HEAD_TAG.test(tag)) return true;
  const region = html.slice(from, Math.min(to, from + MAX_HEAD_CHARS));
  const gmail = region.search(GMAIL_HEAD);
  if (gmail !== -1 && linesOf(region.slice(0, gmail)).every((line) => line === '')) return true;
  const lines = linesOf(region);
  const first = nextFilled(lines, 0);
  const start = RULE.test(lines[first] ?? '') ? nextFilled(lines, first + 1) : first;
  const head = lines.slice(start).filter((line) => line !== '');
  const above = linesOf(html.slice(Math.max(0, from - MAX_HEAD_CHARS), from)).filter((line) => line !== '');
  if (
    ORIGINAL_MESSAGE.test(lines[start] ?? '') ||
    startsHeaderBlock(lines, start, true) ||
    isAttributed((count) => head.slice(0, count)) ||
    isAttributed((count) => above.slice(-count))
  ) {
    return true;
  }
  if (OUTLOOK.test(tag)) return isLabelled(head.slice(0, MAX_HEAD_LINES));
  const isProgram = !/^<blockquote/i.test(tag) && QUOTE.test(tag);
  return isProgram && /^.{1,300}[:：]$/u.test(head[0] ?? '') && MOMENT.test(head[0] ?? '');
}

/** True if one to four lines are an attribution. */
function isAttributed(linesOfCount: (count: number) => readonly string[]): boolean {
  for (let count = 1; count <= MAX_ATTRIBUTION_LINES; count++) {
    const lines = linesOfCount(count);
    if (lines.length === count && countAttribution([...lines, '>'], 0, true) === count) return true;
  }
  return false;
}

/** True for a header block in any language. */
function isLabelled(lines: readonly string[]): boolean {
  const labelled = lines.filter((line) => line.length <= MAX_MARKER_CHARS && LABELLED.test(line));
  return labelled.length >= 3 && labelled.some((line) => MOMENT.test(line));
}

/** The lines of the text, without white space around them; those too long for a mark are shortened. */
function linesOf(html: string): readonly string[] {
  return flattenHtml(html)
    .split('\n')
    .map((line) => line.slice(0, MAX_MARKER_CHARS + 1).trim());
}
