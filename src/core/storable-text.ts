/** Characters that PostgreSQL's texts and messages can't contain: NUL, and half of a surrogate pair. */

export const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed();

/** Removes NUL; half of a surrogate pair becomes U+FFFD. */
export const toStorable = (text: string): string => text.replaceAll('\0', '').toWellFormed();

/** Both become U+FFFD: for text that is quoted to people, so that they see that something was there. */
export const markUnstorable = (text: string): string => text.replaceAll('\0', '\ufffd').toWellFormed();
