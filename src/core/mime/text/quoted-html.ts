/**
 * Cuts the quote out of a reply's HTML, by the elements in which mail programs put it. Reads tags only, without a tree,
 * in time that grows with the length only. The result is to be rendered to text, not to be shown.
 */

import { EMAIL } from './reply-markers.ts';

/** A tag is read this far. Real ones with long styles have some hundred characters. */
const MAX_TAG_CHARS = 2000;

/** Elements that contain a quote. Input: at most 2000 characters, MAX_TAG_CHARS. */
const QUOTE =
  /\b(?:class|id|name|type)\s*=\s*["']?(?:[^"'>]{0,100}\s)?(?:gmail_quote|gmail_quote_container|gmail_extra|yahoo_quoted|moz-cite-prefix|protonmail_quote|tutanota_quote|zmail_extra|OLK_SRC_BODY_SECTION|messageReplySection|reply-intro|gmail_signature|gmail_signature_prefix)\b|\btype\s*=\s*["']?cite\b/i;

/** Gmail's element around a quote has answers in it, too: below a `blockquote`, and between several. */
const WITH_ANSWERS = /\bgmail_(?:quote|quote_container|extra)\b/;

/** Elements after which everything is quoted: Outlook's borders and markers. */
const REST =
  /\b(?:id\s*=\s*["']?(?:x_)*(?:divRplyFwdMsg|appendonsend|mail-editor-reference-message-container|ms-outlook-mobile-body-separator-line)|style\s*=\s*["'][^"'>]{0,100}border:\s?none;\s?border-top:\s?solid #(?:E1E1E1|B5C4DF) 1\.0pt)/i;

const TAG = /^<(\/?)(div|blockquote|table|span|section)\b/i;

/**
 * The HTML without its quotes; null when none is marked. Of a mail that answers nothing only quotes with an address in them are
 * left out.
 */
export function cutQuotedHtml(html: string, isReply: boolean): string | null {
  const kept: string[] = [];
  let keptFrom = 0;
  let isCut = false;
  /** What is being cut: where it begins, the name of its element, and the number of open elements of that name within it. */
  let quote: Quote | null = null;
  const cut = (from: number, to: number): void => {
    if (!isReply && !EMAIL.test(html.slice(from, to))) return;
    kept.push(html.slice(keptFrom, from));
    keptFrom = to;
    isCut = true;
  };
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
        cut(at, html.length);
        break;
      }
      if (slash === '' && QUOTE.test(tag)) {
        const hasAnswers = name !== 'blockquote' && WITH_ANSWERS.test(tag);
        quote = { from: at, name, depth: 1, blockquotes: hasAnswers ? 0 : Number.NaN };
      }
    } else {
      const step: number = slash === '' ? 1 : -1;
      if (name === quote.name) quote.depth += step;
      if (name === 'blockquote') quote.blockquotes += step;
      if (quote.depth === 0 || (name === 'blockquote' && quote.blockquotes === 0)) {
        cut(quote.from, end + 1);
        quote = null;
      }
    }
    at = end + 1;
  }
  if (quote !== null) cut(quote.from, html.length);
  if (!isCut) return null;
  kept.push(html.slice(keptFrom));
  return kept.join('');
}

interface Quote {
  readonly from: number;
  readonly name: string;
  depth: number;
  /** Open ones within; not a number where answers below them are not expected. */
  blockquotes: number;
}
