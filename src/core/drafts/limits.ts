/** The bounds of drafts. */

/** The message of a draft as JSON, in UTF-16 units: as much as a send may have without its files. */
export const MAX_DRAFT_CHARS = 10 * 1024 * 1024;

/** The author of a draft, as the caller names people, in UTF-16 units. */
export const MAX_AUTHOR_CHARS = 200;

/** Recipients and subject in a list, in UTF-16 units each. */
export const MAX_SHOWN_CHARS = 500;
