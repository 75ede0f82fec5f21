/** HTML from other programs, before a browser parses it. */

/** A tag, unless a value in it contains a `<` or `>` of its own. */
const TAG = /<[a-z][^<>]*>/gi;
const REFUSED = /\s(?:style|on[a-z]+)(?=\s*=)/gi;
const STYLE_ELEMENT = /<(\/?)style\b/gi;

/**
 * The Content-Security-Policy refuses styles and handlers even in a document that is never shown, and logs a complaint for each. Styles
 * stay readable for rich-schema.ts, as `data-style`; style elements become an element without effect and content.
 */
export const withoutStyles = (html: string): string =>
  html
    .replace(STYLE_ELEMENT, '<$1title')
    .replace(TAG, (tag) =>
      tag.replace(REFUSED, (name) => (/^\sstyle$/i.test(name) ? ' data-style' : ' data-refused')),
    );

/** A rule for text that another program formatted with a style, as Google Docs and Word do. */
export const byStyle = (style: RegExp) => ({
  tag: 'span[data-style]',
  getAttrs: (element: HTMLElement) => (style.test(element.dataset['style'] ?? '') ? {} : (false as const)),
  // One element may have several such styles.
  consuming: false,
});

/** Google Docs wraps everything that is copied in a `b` that is not bold. */
export const isReallyBold = (element: HTMLElement) =>
  /font-weight:\s*(?:normal|400)/i.test(element.dataset['style'] ?? '') ? (false as const) : {};
