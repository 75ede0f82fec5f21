/** Every bound of the IMAP client. A server may be broken or hostile: its responses are limited in size, number and time. */
import { MAX_RULE_HEADER_BYTES } from '../../core/mailbox/rule-header.ts';

/**
 * One line of a response, in bytes. The longest honest one is the answer to a UID SEARCH: about three million UIDs.
 */
export const MAX_LINE_BYTES = 32 * 1024 * 1024;

/** One literal, in bytes. We never request more than a chunk, but header fields can't be requested in part. */
export const MAX_LITERAL_BYTES = 16 * 1024 * 1024;

/** One response with all its literals, in bytes. */
export const MAX_RESPONSE_BYTES = MAX_LINE_BYTES + MAX_LITERAL_BYTES;

/** Tokens of one response. Even a list of ten thousand mailboxes is not one response, so it needs far fewer. */
export const MAX_RESPONSE_TOKENS = 100_000;

/** Time limit of one command, however busily the server answers, in ms. */
export const MAX_COMMAND_MS = 900_000;

/**
 * Everything that a server sends during one command, in bytes: its answer, and anything unasked. A batch of small messages has 8 MiB, the
 * answer to a UID SEARCH at most 32 MiB.
 */
export const MAX_COMMAND_BYTES = 64 * 1024 * 1024;

/** The same for opening a mailbox: QRESYNC reports each change of flags since the last time, which is not kept. */
export const MAX_OPEN_BYTES = 512 * 1024 * 1024;

/** The same for the login, and for the list of mailboxes, which is kept in memory as a whole: some ten thousand mailboxes. */
export const MAX_LIST_BYTES = 4 * 1024 * 1024;

/** How often a command under way is checked, in ms. */
export const WATCH_MS = 250;

/** Of messages up to this size, several are fetched in one command. */
export const SMALL_MESSAGE_BYTES = 256 * 1024;

/** Small messages of one command, by number and by total bytes; they wait in memory until they are asked for. */
export const MAX_BATCH_MESSAGES = 32;
export const MAX_BATCH_BYTES = 4 * 1024 * 1024;

/** Larger messages are read in pieces of this size; two or three pieces are in memory. */
export const CHUNK_BYTES = 1024 * 1024;

/** Sizes and offsets of messages are 32-bit numbers (RFC 3501 §9 "number"); a message beyond them counts as endless. */
export const MAX_MESSAGE_BYTES = 2 ** 32 - 1;

/** UIDs in one command for sizes or header fields. */
export const MAX_UIDS_PER_COMMAND = 200;

/** Sizes from summaries that are remembered until the messages are fetched. */
export const MAX_SIZES = 10_000;

/** Header fields that are kept of one message, in bytes; the rest is cut. */
export const MAX_SUMMARY_HEADER_BYTES = MAX_RULE_HEADER_BYTES;

/** UIDs that one resynchronisation may report as gone; beyond that the list of UIDs has to be compared. */
export const MAX_VANISHED = 1_000_000;

/** How often a server without IDLE is polled for changes, in ms. */
export const POLL_MS = 60_000;

/** A server that ends IDLE by itself sooner than this, in ms, is polled instead. */
export const MIN_IDLE_MS = 1000;

/** How long a logout may take before the line is cut, in ms. */
export const LOGOUT_MS = 3000;

/** Storing a message may take as long as this speed requires, on top of the time that any command has. */
export const MIN_UPLOAD_BYTES_PER_SECOND = 16 * 1024;
