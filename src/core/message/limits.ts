/**
 * The bounds of Message-IDs and of lists of them.
 */

/**
 * One Message-ID without its angle brackets, in octets of UTF-8. RFC 5322 §2.1.1 allows 998 for a line; alone on a
 * folded line of References it is preceded by a space and stands between brackets.
 */
export const MAX_MESSAGE_ID_OCTETS = 995;

/**
 * Message-IDs that count of one References header: the first, which names the conversation, and the newest, which are the
 * nearest (as JWZ's algorithm has clients cut them). Ours: real ones are cut at some dozens; one email that names
 * hundreds is an attempt to join what does not belong together.
 */
export const MAX_PARSED_REFERENCES = 100;

/** Message-IDs that we write into References. Ours: enough to find the thread in every client's memory. */
export const MAX_REFERENCES = 100;

/** References as we write it, folds included, in octets. Ours: many mail servers refuse or cut longer headers. */
export const MAX_REFERENCES_OCTETS = 8000;

/** Random bytes of a Message-ID of ours, at least. 128 bits can't be guessed. */
export const MIN_MESSAGE_ID_RANDOM_BYTES = 16;

/**
 * Of a word of letters alone in References or In-Reply-To, in characters: a shorter one names no message. Seen in practice:
 * `<yes>` and `<y>`, answers to a question of git send-email, in hundreds of messages that have nothing in common.
 */
export const MIN_WORD_ID_CHARS = 16;
