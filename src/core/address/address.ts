/**
 * The address of one mailbox, RFC 5322 §3.4, internationalised by RFC 6532 and RFC 5890.
 * Parsing of lists is in address-list.ts.
 */

/** One mailbox: `name <localPart@domain>`. */
export interface Address {
  /** Display name, decoded; empty when there is none. */
  readonly name: string;
  /** Unquoted local part, case kept; may be non-ASCII (RFC 6531). */
  readonly localPart: string;
  /** Lower-case ASCII: a domain in A-label form (RFC 5890) or an address literal such as `[192.0.2.1]`. */
  readonly domain: string;
}
