/** The bounds of a listener, each with its unit and reason. */

/** Connections at the same moment. Ours: Postfix opens 20 to one destination; each may hold a small message in memory. */
export const MAX_CLIENTS = 100;

/** Recipients of one message. RFC 5321 §4.5.3.1.8: at least 100. */
export const MAX_RECIPIENTS = 100;

/** Silence after which a connection is closed, in milliseconds. RFC 5321 §4.5.3.2.7: at least 5 minutes. */
export const SOCKET_TIMEOUT_MS = 300_000;
