/**
 * Names of people and customers as they are shown in lists, where a name that a stranger wrote must not look like something
 * else: in one line, without control characters, and without the signs that change the direction of a text
 * (Unicode Standard Annex #9), which let a name say another thing than it seems to.
 */

/** Characters of a name that is shown. Ours: long names of companies have some hundred. */
export const MAX_SHOWN_NAME_CHARS = 200;

/** Of a received name, in UTF-16 units: what is behind them is never looked at. */
const MAX_READ_CHARS = 2000;

/** White space of one line or several, and separators of lines and paragraphs. */
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
