/** Bounds of the use cases, each with its unit and reason. */

/** A message whose parts are together larger than this, in bytes, is composed into a file instead of memory. */
export const COMPOSE_IN_MEMORY_MAX_BYTES = 256 * 1024;

/** A raw message up to this size, in bytes, is kept in the database: one commit is cheaper than a separate file. */
export const RAW_INLINE_MAX_BYTES = 64 * 1024;

/** Characters of a subject: far beyond any real one, and far below the header sizes that mail servers cut (Postfix: 100 kB). */
export const MAX_SENT_SUBJECT_CHARS = 2000;

/**
 * Characters that are kept of the reason why a mail server did not do something, mostly in its words: one line as a rule.
 */
export const MAX_KEPT_REASON_CHARS = 1000;

/** Characters of the display name in From: mail programs show far fewer. */
export const MAX_FROM_NAME_CHARS = 200;

/** Characters of a text that is made from HTML and sent beside it: a long newsletter has a tenth. */
export const MAX_TEXT_ALTERNATIVE_CHARS = 500_000;

/** Bytes of all files of one send, including files that it refers to: what large mail providers accept. */
export const MAX_SENT_FILE_BYTES = 25 * 1024 * 1024;

/** How long an upload is kept, in ms: a person may take a day to write. */
export const UPLOAD_LIFE_MS = 24 * 3_600_000;

/** Bytes of all uploads together, so that a caller that forgets its uploads can't fill the storage. */
export const MAX_UPLOADED_BYTES = 10 * 1024 * 1024 * 1024;

/** Addresses in Reply-To: real mail has one or two. */
export const MAX_REPLY_TO = 20;

/**
 * Attachments of a large received message that are decoded in memory, in bytes as encoded, together: most are small
 * pictures, and a separate spool file costs more.
 */
export const ATTACHMENTS_IN_MEMORY_MAX_BYTES = 1024 * 1024;

/** A message handed over by a mail server is held in memory up to this size, in bytes; larger ones go into the spool. */
export const DELIVERY_IN_MEMORY_MAX_BYTES = 256 * 1024;

/** Accounts that are managed by the API: each may have connections in every process, and all are read at each change. */
export const MAX_ACCOUNTS = 1000;
