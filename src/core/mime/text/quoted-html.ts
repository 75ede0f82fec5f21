/**
 * Cuts the quote out of a reply's HTML, by the elements in which mail programs put it. Reads tags only, without a tree,
 * in time that grows with the length only. The result is to be rendered to text, not to be shown.
 */

/** A tag is read this far. Real ones with long styles have some hundred characters. */
const MAX_TAG_CHARS = 2000;

/** Elements that contain a quote. Input: at most 2000 characters, MAX_TAG_CHARS. */
const QUOTE =
  /\b(?:class|id|name|type)\s*=\s*["']?(?:[^"'>]{0,100}\s)?(?:gmail_quote|gmail_quote_container|gmail_extra|yahoo_quoted|moz-cite-prefix|protonmail_quote|tutanota_quote|zmail_extra|cite|OLK_SRC_BODY_SECTION|messageReplySection|reply-intro|gmail_signature|gmail_signature_prefix)\b/i;

/** Elements after which everything is quoted: Outlook's borders and markers. */
const REST =
  /\b(?:id\s*=\s*["']?(?:x_)*(?:divRplyFwdMsg|appendonsend|mail-editor-reference-message-container|ms-outlook-mobile-body-separator-line)|style\s*=\s*["'][^"'>]{0,100}border:\s?none;\s?border-top:\s?solid #(?:E1E1E1|B5C4DF) 1\.0pt)/i;

const TAG = /^<(\/?)(div|blockquote|table|span|section)\b/i;

/** The HTML without its quotes; null when none is marked. */
export function cutQuotedHtml(html: string): string | null {
  const kept: string[] = [];
  let keptFrom = 0;
  /** Name of the element being cut, and the number of open elements of that name within it. */
  let cutting = '';
  let depth = 0;
  for (let at = html.indexOf('<'); at !== -1; at = html.indexOf('<', at)) {
    const [, slash = '', given = ''] = TAG.exec(html.slice(at, at + 20)) ?? [];
    if (given === '') {
      at++;
      continue;
    }
    const end = html.indexOf('>', at);
    if (end === -1) break;
    const name = given.toLowerCase();
    if (cutting === '') {
      const tag = html.slice(at, Math.min(end, at + MAX_TAG_CHARS));
      if (slash === '' && REST.test(tag)) {
        kept.push(html.slice(keptFrom, at));
        return kept.join('');
      }
      if (slash === '' && QUOTE.test(tag)) {
        kept.push(html.slice(keptFrom, at));
        cutting = name;
        depth = 1;
      }
    } else if (name === cutting) {
      depth += slash === '' ? 1 : -1;
      if (depth === 0) {
        cutting = '';
        keptFrom = end + 1;
      }
    }
    at = end + 1;
  }
  if (kept.length === 0) return null;
  if (cutting === '') kept.push(html.slice(keptFrom));
  return kept.join('');
}
