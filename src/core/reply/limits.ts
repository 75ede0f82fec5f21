/** The bounds of replies and forwards. */

/** Quoted text, in UTF-16 units: many times more than people read of it, but a long thread does not grow with each answer. */
export const MAX_QUOTE_CHARS = 100_000;

/** HTML that is quoted as HTML, in UTF-16 units. Longer HTML can't be cut in the middle, so its text is quoted. */
export const MAX_QUOTE_HTML_CHARS = 400_000;

/** HTML that is forwarded as it was, in UTF-16 units. */
export const MAX_FORWARD_HTML_CHARS = 2_000_000;

/** Lines quoted deeper than this are left out: each answer would carry the whole conversation for ever. */
export const MAX_QUOTE_DEPTH = 10;

/** Recipients that the header block of a forward names. */
export const MAX_SHOWN_RECIPIENTS = 50;
