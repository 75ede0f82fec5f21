/**
 * Renders HTML to text, for the `text_body` of HTML-only mail, with the library `html-to-text`, which is used only in this
 * file; it reads no files and no network. Its tree takes time in the square of the nesting (100,000 nested tags: 20 s and
 * more), so HTML with very many tags or very deep nesting is flattened by flatten-html.ts instead.
 */
import { compile } from 'html-to-text';
import { flattenHtml } from './flatten-html.ts';
import { HTML_FORMATTERS, type Rendering } from './html-formatters.ts';
import { MAX_HTML_CHARS, MAX_HTML_DEPTH, MAX_HTML_MARK_CHARS, MAX_HTML_TAGS } from '../limits.ts';

/** The library's mark for omissions; from the private use area, so that no text contains it by accident. */
const LEFT_OUT = '\ue5ca';

const render = compile({
  wordwrap: false,
  // The whole document. Seen in practice: footers and disclaimers that servers append after </body> or </html>.
  baseElements: { selectors: [] },
  formatters: HTML_FORMATTERS,
  selectors: [
    // RFC 3986 appendix C: angle brackets delimit a URI in text.
    { selector: 'a', format: 'boundedLink' },
    { selector: 'blockquote', format: 'boundedQuote' },
    { selector: 'hr', format: 'boundedRule' },
    { selector: 'ol', format: 'numbers' },
    { selector: 'ul', format: 'bullets' },
    ...['title', 'template', 'xml'].map((selector) => ({ selector, format: 'skip' })),
    { selector: 'img', format: 'altText' },
    { selector: 'td', format: 'cell' },
    { selector: 'th', format: 'cell' },
    { selector: 'tr', format: 'block', options: { leadingLineBreaks: 1, trailingLineBreaks: 1 } },
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false } })),
  ],
  // The library would report a cut input on stderr; renderHtml cuts before.
  limits: { ellipsis: LEFT_OUT, maxDepth: MAX_HTML_DEPTH, maxInputLength: Number.MAX_SAFE_INTEGER },
});

export interface RenderedHtml {
  readonly text: string;
  /** The end, or marks of quotes and lists, were left out, since the text would be too long. */
  readonly isCut: boolean;
}

/** Like renderHtml, but returns only the text. */
export function htmlToText(html: string): string {
  return renderHtml(html).text;
}

/**
 * Renders HTML to text with `\n` line ends: links as `text <address>`, images as their alternative text, no more than
 * one empty line in a row, no NUL, no lone surrogates, trimmed. Bad HTML is read as well as possible; never throws.
 *
 * The text is no longer than about four times the HTML, nor than 3 million characters. HTML beyond 2 million is cut, marked
 * by `[…]` in the text; marks before the lines of quotes and lists are left out once they take too much.
 */
export function renderHtml(html: string): RenderedHtml {
  const isCut = html.length > MAX_HTML_CHARS;
  const { text, isSimplified } = renderBounded(isCut ? html.slice(0, MAX_HTML_CHARS) : html);
  return { text: isCut ? `${text}\n\n[…]` : text, isCut: isCut || isSimplified };
}

function renderBounded(html: string): { readonly text: string; readonly isSimplified: boolean } {
  const rendering: Rendering = {
    // Real mail needs a tenth of this.
    marksLeft: Math.min(3 * html.length + 1000, MAX_HTML_MARK_CHARS),
    isSimplified: false,
    isInLink: false,
  };
  if (countTags(html) <= MAX_HTML_TAGS) {
    const text = render(html, rendering);
    if (!text.includes(LEFT_OUT)) return { text: tidy(text), isSimplified: rendering.isSimplified };
  }
  return { text: tidy(flattenHtml(html)), isSimplified: false };
}

/** At least the number of tags, however the HTML tries to hide them; stops counting above the limit. */
function countTags(html: string): number {
  let count = 0;
  for (let at = html.indexOf('<'); at !== -1 && count <= MAX_HTML_TAGS; at = html.indexOf('<', at + 1))
    count++;
  return count;
}

function tidy(text: string): string {
  const lines = text
    .toWellFormed()
    .replaceAll('\0', '')
    .split(/\r\n?|\n/);
  return lines
    .map((line) => line.trimEnd())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .replace(/^\n+/, '')
    .trimEnd();
}
