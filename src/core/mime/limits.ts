/**
 * The bounds of composing, with unit and origin.
 */

/** One encoded word, in characters. RFC 2047 §2. */
export const ENCODED_WORD_CHARS = 75;
