/**
 * The names that people give to keys, webhooks, templates, labels, files and the like: one line of text, without controls and without the signs
 * that turn the direction of text (Unicode UAX #9 §2), so that a name is shown as what it is in lists, logs and questions.
 */

/** What such a name never contains, as the inside of a class of characters. */
export const NEVER_IN_NAMES =
  '\\p{Cc}\\p{Cs}\\u2028\\u2029\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069';

/** For JSON schemas, which read it with the flag `u`. */
export const ONE_LINE_PATTERN = `^[^${NEVER_IN_NAMES}]*$`;

/** As ONE_LINE_PATTERN, and not blank. */
export const FILENAME_PATTERN = `^(?=.*\\S)[^${NEVER_IN_NAMES}]*$`;

/** As ONE_LINE_PATTERN, without white space at the ends, which no reader sees. */
export const TRIMMED_LINE_PATTERN = `^[^${NEVER_IN_NAMES}\\s]([^${NEVER_IN_NAMES}]*[^${NEVER_IN_NAMES}\\s])?$`;

const ONE_LINE = new RegExp(ONE_LINE_PATTERN, 'u');

export const isOneLine = (text: string): boolean => ONE_LINE.test(text);

const NEVER = new RegExp(`[${NEVER_IN_NAMES}]+`, 'gu');

/** What a stranger wrote, as such a line. */
export const toOneLine = (text: string): string => text.replace(NEVER, ' ').trim();
