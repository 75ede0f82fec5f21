/**
 * The bounds of addresses and of the lists that callers give.
 */

/** Local part as written, quotes included, in octets of UTF-8. RFC 5321 §4.5.3.1.1. */
export const MAX_LOCAL_PART_OCTETS = 64;

/** Domain in A-label form, in octets. RFC 5321 §4.5.3.1.2. */
export const MAX_DOMAIN_OCTETS = 255;

/** One label of a domain, in octets. RFC 1035 §2.3.4. */
export const MAX_LABEL_OCTETS = 63;

/** `local@domain`, in octets: the path of RFC 5321 §4.5.3.1.3 (256) without its angle brackets. */
export const MAX_ADDR_SPEC_OCTETS = 254;

/** One list as given, in UTF-16 units. Ours: over a thousand recipients with names, and a bound on the work. */
export const MAX_ADDRESS_LIST_CHARS = 131_072;

/** Depth of nested comments. Ours: no person nests more by hand. */
export const MAX_COMMENT_DEPTH = 16;

/** Display name, decoded, in UTF-16 units. Ours: mail servers cut headers that grow beyond about 100 kB. */
export const MAX_DISPLAY_NAME_CHARS = 500;
