/**
 * Names of people and customers as lists show them. A name that a stranger wrote must not look like something else: it is
 * one line, without control characters, and without the characters that change the direction of a text (Unicode Standard
 * Annex #9), which make a name read differently from its contents.
 */

/** Characters of a name that is shown. Ours: long names of companies have some hundred. */
export const MAX_SHOWN_NAME_CHARS = 200;

/** Characters of a received name that are read, in UTF-16 units; the rest is ignored. */
const MAX_READ_CHARS = 2000;

/** White space, line breaks, and separators of lines and paragraphs. */
const SPACES = /[\p{Z}\t-\r\u0085]+/gu;
const REPEATED_SPACES = / {2,}/g;

/** Controls, surrogates, private use, and format characters (direction, zero width); the joiners of emoji and scripts stay. */
const UNSHOWN = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}]/gu;

/** More marks on one letter than any script has; they would cover the lines above. Input: at most MAX_READ_CHARS characters. */
const STACKED_MARKS = /(\p{M}{4})\p{M}+/gu;

const SAYS_SOMETHING = /[\p{L}\p{N}\p{S}]/u;

/** Empty when nothing is left to show. */
export function toShownName(text: string): string {
  const shown = text
    .slice(0, MAX_READ_CHARS)
    .replace(SPACES, ' ')
    .replace(UNSHOWN, '')
    .replace(REPEATED_SPACES, ' ')
    .normalize('NFC')
    .replace(STACKED_MARKS, '$1')
    .trim();
  const cut = [...shown].slice(0, MAX_SHOWN_NAME_CHARS).join('').trim();
  return SAYS_SOMETHING.test(cut) ? cut : '';
}
