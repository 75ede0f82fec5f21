/** The bounds of a listener, each with its unit and reason. */

/**
 * Connections that were accepted but not greeted yet come on top, for a tenth of a second each. The library refuses connections beyond this
 * multiple of the bound.
 */
export const UNGREETED_FACTOR = 4;

/** Recipients of one message. RFC 5321 §4.5.3.1.8: at least 100. */
export const MAX_RECIPIENTS = 100;

/** Silence after which a connection is closed, in milliseconds. RFC 5321 §4.5.3.2.7: at least 5 minutes. */
export const SOCKET_TIMEOUT_MS = 300_000;

/** Permanent errors, such as unknown recipients, without a delivered message: Postfix's smtpd_hard_error_limit. */
export const MAX_ERRORS = 20;

/** Commands without a delivered message: enough for several messages with all their recipients, and for connection checks. */
export const MAX_COMMANDS = 1000;

/** Time without a delivered message, in milliseconds: a client that sends a byte now and then is not silent. */
export const MAX_WITHOUT_MESSAGE_MS = 600_000;

/** Time from DATA to the reply, in milliseconds: 50 MiB at 256 kbit/s take 27 minutes. */
export const MAX_MESSAGE_MS = 1_800_000;

/** How often the times are checked, in milliseconds. */
export const CHECK_MS = 5000;

/** Window in which refused clients of one address are counted for the log, in milliseconds, and the number of addresses counted. */
export const REFUSAL_WINDOW_MS = 3_600_000;
export const MAX_COUNTED_ADDRESSES = 1000;

/** Octets of one line of a submitted message, without CRLF. RFC 5321 §4.5.3.1.6. */
export const MAX_LINE_OCTETS = 998;

/** How long a TLS handshake may take that begins a connection, in milliseconds. */
export const HANDSHAKE_TIMEOUT_MS = 30_000;
