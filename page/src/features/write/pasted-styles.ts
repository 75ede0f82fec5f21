/** HTML from other programs, before the editor reads it. */

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

/** The last value of a property in a style; empty: it has none. Word has properties of its own that end like those of CSS. */
export function styleValue(style: string, property: string): string {
  const values = style.split(';').flatMap((one) => {
    const at = one.indexOf(':');
    return one.slice(0, at).trim().toLowerCase() === property
      ? [
          one
            .slice(at + 1)
            .trim()
            .toLowerCase(),
        ]
      : [];
  });
  return values.at(-1) ?? '';
}

/** A paragraph that Word shows as an entry of a list, by its style; null: it is none. */
export function wordEntryOf(style: string): { readonly list: string; readonly level: number } | null {
  const [, list, level] = /^(l\d+)\s+level(\d)/.exec(styleValue(style, 'mso-list')) ?? [];
  return list === undefined ? null : { list, level: Number(level) };
}

/** The number of an entry by what stands before it, such as `3.`, `(b)` or `iv)`; null for a bullet. */
export function numberOf(marker: string): number | null {
  const [, sign = ''] = /^\(?(\d{1,4}|[a-z]{1,5})[.)]/i.exec(marker.trim()) ?? [];
  if (sign === '') return null;
  // Letters and Roman numerals begin lists that the recipient sees with numbers.
  return /^\d/.test(sign) ? Number(sign) : 1;
}
