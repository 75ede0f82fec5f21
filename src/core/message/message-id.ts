/**
 * Message-ID, RFC 5322 §3.6.4: parse, format and make one.
 */

declare const brand: unique symbol;

/** A Message-ID without its angle brackets; they are added at the HTTP and the header edge. */
export type MessageId = string & { readonly [brand]: 'MessageId' };
