/** The bounds of what an account may declare about its sent mail. */

/** Addresses besides From; a company with more uses a pattern. */
export const MAX_SENDER_ADDRESSES = 100;

/** A display name, in UTF-16 units, as in a send. */
export const MAX_SENDER_NAME_CHARS = 200;

/** A signature or a footer, in UTF-16 units: long ones in use have a tenth. */
export const MAX_CLOSING_CHARS = 20_000;
