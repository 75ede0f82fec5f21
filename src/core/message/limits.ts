/**
 * The bounds of Message-IDs and of lists of them, and of a caller's notes on an email.
 */

/**
 * One Message-ID without its angle brackets, in octets of UTF-8. RFC 5322 §2.1.1 allows 998 for a line; alone on a
 * folded line of References it follows a space and is enclosed in brackets.
 */
export const MAX_MESSAGE_ID_OCTETS = 995;

/**
 * Message-IDs of one References header that count: the first, which names the conversation, and the newest, which are the
 * nearest (clients cut them like this by JWZ's algorithm). Ours: real ones are cut at some dozens; an email that names
 * hundreds is an attempt to join unrelated emails.
 */
export const MAX_PARSED_REFERENCES = 100;

/** Message-IDs that we write into References. Ours: enough to find the thread in every client's memory. */
export const MAX_REFERENCES = 100;

/** References as we write it, folds included, in octets. Ours: many mail servers refuse or cut longer headers. */
export const MAX_REFERENCES_OCTETS = 8000;

/** Random bytes of a Message-ID of ours, at least. 128 bits can't be guessed. */
export const MIN_MESSAGE_ID_RANDOM_BYTES = 16;

/**
 * A word of only letters in References or In-Reply-To, in characters: a shorter one names no message. Seen in practice:
 * `<yes>` and `<y>`, answers to a question of git send-email, in hundreds of unrelated messages.
 */
export const MIN_WORD_ID_CHARS = 16;

/**
 * A text within a longer one, in characters, that makes two messages one email with a mark. Ours: shorter ones, such as a
 * greeting, are in many texts.
 */
export const MIN_SAME_TEXT_CHARS = 20;

/** Header fields that a caller adds to an email. Ours: mail servers bound all of them together (Postfix: 100 kB). */
export const MAX_CUSTOM_HEADERS = 30;

/** The name of one, in characters. Ours. */
export const MAX_CUSTOM_HEADER_NAME_CHARS = 64;

/** The value of one, in characters: with its name it fits into a line of RFC 5322 §2.1.1, however it is folded. */
export const MAX_CUSTOM_HEADER_CHARS = 900;

/** Names and values of all together, in characters. Ours. */
export const MAX_CUSTOM_HEADERS_CHARS = 8000;

/** Tags of an email. Ours; each is a row of an index. */
export const MAX_TAGS = 20;

/** A tag, in characters. Ours. */
export const MAX_TAG_CHARS = 64;

/** Metadata of an email as JSON, in bytes. Ours: it is repeated in every event of the email. */
export const MAX_METADATA_BYTES = 4096;
