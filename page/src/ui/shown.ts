/**
 * Strangers' text, made safe to show. Characters that reverse its direction are removed: with them a file called "…gnp.exe" reads as
 * "…exe.png". Letters keep the direction of their script, and the marks U+200E and U+200F, which override nothing, stay.
 */

/** Embeddings and overrides U+202A to U+202E, isolates U+2066 to U+2069 (Unicode Standard Annex #9, section 2). */
const DIRECTION_CONTROLS = /[\u202A-\u202E\u2066-\u2069]/g;

export const shown = (text: string): string => text.replace(DIRECTION_CONTROLS, '');
