/**
 * Emoji as keyboards write them may hold a joiner, a variation selector or tags (flags of regions). Unicode lists them all, so they leave
 * no room for data.
 */

/** Length of the text in which emoji are looked for, in code points. */
export const MAX_RUN_CHARS = 200;

/**
 * The next emoji (group 1), else any character. The flag `v` is newer than the language level of the compiler.
 * Input: at most 400 characters, two for each code point of MAX_RUN_CHARS.
 */
export const EMOJI = new RegExp(String.raw`(\p{RGI_Emoji})|.`, 'gsv');
