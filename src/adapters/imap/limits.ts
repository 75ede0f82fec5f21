/** Every bound of the IMAP client. A server may be broken or hostile: what it sends is limited in size, number and time. */

/**
 * One line of a response, in bytes. The longest honest one is the answer to a UID SEARCH: about three million UIDs.
 */
export const MAX_LINE_BYTES = 32 * 1024 * 1024;

/** One literal, in bytes. We never ask for more than a chunk, but header fields can't be asked for in part. */
export const MAX_LITERAL_BYTES = 16 * 1024 * 1024;

/** One response with all its literals, in bytes. */
export const MAX_RESPONSE_BYTES = MAX_LINE_BYTES + MAX_LITERAL_BYTES;

/** Tokens of one response; a list of ten thousand mailboxes needs none of them in one. */
export const MAX_RESPONSE_TOKENS = 100_000;

/** One command, however busily the server answers, in ms. */
export const MAX_COMMAND_MS = 900_000;

/**
 * Everything that a server says during one command, in bytes: its answer, and what it sends unasked. A batch of small
 * messages has 8 MiB, the answer to a UID SEARCH at most 32 MiB.
 */
export const MAX_COMMAND_BYTES = 64 * 1024 * 1024;

/** The same for opening a mailbox: QRESYNC tells each change of flags since the last time, which is not kept. */
export const MAX_OPEN_BYTES = 512 * 1024 * 1024;

/** The same for the login, and for the list of mailboxes, which is kept whole: some ten thousand mailboxes. */
export const MAX_LIST_BYTES = 4 * 1024 * 1024;

/** How often a command under way is checked, in ms. */
export const WATCH_MS = 250;

/** Messages up to this size are fetched several in one command. */
export const SMALL_MESSAGE_BYTES = 256 * 1024;

/** Small messages of one command, in number and in bytes together; they wait in memory until they are asked for. */
export const MAX_BATCH_MESSAGES = 32;
export const MAX_BATCH_BYTES = 4 * 1024 * 1024;

/** Larger messages are read in pieces of this size; two or three of them are in memory. */
export const CHUNK_BYTES = 1024 * 1024;

/** Sizes and offsets of messages are 32-bit numbers (RFC 3501 §9 "number"); a message beyond them counts as endless. */
export const MAX_MESSAGE_BYTES = 2 ** 32 - 1;

/** UIDs in one command for sizes or header fields. */
export const MAX_UIDS_PER_COMMAND = 200;

/** Sizes from summaries that are remembered until their messages are fetched. */
export const MAX_SIZES = 10_000;

/** Header fields of one message that are kept, in bytes; more is cut. */
export const MAX_SUMMARY_HEADER_BYTES = 64 * 1024;

/** UIDs that one resynchronisation may report as gone; beyond it the list of UIDs has to be compared. */
export const MAX_VANISHED = 1_000_000;

/** How often a server without IDLE is asked for changes, in ms. */
export const POLL_MS = 60_000;

/** A server that ends IDLE sooner than this on its own, in ms, is asked from time to time instead. */
export const MIN_IDLE_MS = 1000;

/** How long a logout may take before the line is cut, in ms. */
export const LOGOUT_MS = 3000;

/** A message that is stored may take as long as this speed needs, beyond the time that any command has. */
export const MIN_UPLOAD_BYTES_PER_SECOND = 16 * 1024;
