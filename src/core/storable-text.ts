/** What a text of PostgreSQL, and of a message, can't hold: NUL, and half of a surrogate pair. */

export const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed();

/** Without NUL; a half of a surrogate pair becomes U+FFFD. */
export const toStorable = (text: string): string => text.replaceAll('\0', '').toWellFormed();

/** Both become U+FFFD: for text that is quoted to people, who are to see that something stood there. */
export const markUnstorable = (text: string): string => text.replaceAll('\0', '\ufffd').toWellFormed();
