/**
 * The address of one mailbox, RFC 5322 §3.4, internationalised by RFC 6532 and RFC 5890: its written forms and when
 * two are the same mailbox. Parsing of lists is in address-list.ts; encoding for headers is in core/mime.
 */

/** One mailbox: `name <localPart@domain>`. */
export interface Address {
  /** Display name, decoded; empty when there is none. */
  readonly name: string;
  /** Unquoted local part, case kept; may be non-ASCII (RFC 6531). */
  readonly localPart: string;
  /**
   * Lower-case ASCII: a domain in A-label form (RFC 5890) or an address literal such as `[192.0.2.1]`. The tag of
   * an IPv6 literal keeps the spelling of RFC 5321 §4.1.3: `[IPv6:2001:db8::1]`.
   */
  readonly domain: string;
}

/**
 * RFC 5322 §3.2.3 `atext`, with the UTF-8 that RFC 6532 §3.2 adds. Non-ASCII white space is left out, so that text with
 * it is quoted: the list parser treats it as a separator, because copied text contains it in practice.
 */
const ATEXT = "(?:[\\w!#$%&'*+\\-/=?^`{|}~]|(?!\\s)[\\u0080-\\u{10ffff}])";

const DOT_ATOM = new RegExp(`^${ATEXT}+(?:\\.${ATEXT}+)*$`, 'u');

/** RFC 5322 §3.2.5 `phrase` of atoms with one space between them. */
const PLAIN_PHRASE = new RegExp(`^${ATEXT}+(?: ${ATEXT}+)*$`, 'u');

/** C0 and C1 controls and DEL. */
const CONTROLS = /[\u0000-\u001f\u007f-\u009f]/g;

/** `local@domain`, the local part quoted when it is not a dot-atom (RFC 5321 §4.1.2). No angle brackets. */
export function addrSpec(address: Address): string {
  return `${formatLocalPart(address.localPart)}@${address.domain}`;
}

/** The local part as it is written in an address: quoted where RFC 5321 §4.1.2 demands it. */
export function formatLocalPart(localPart: string): string {
  return isDotAtom(localPart) ? localPart : quote(localPart);
}

/** RFC 5322 §3.2.3 `dot-atom-text`: no space, no special, no dot at an end or beside another. */
export function isDotAtom(text: string): boolean {
  return DOT_ATOM.test(text);
}

/**
 * The address as a person reads and writes it: `Name <local@domain>`, or `local@domain` without a name. Not encoded
 * (RFC 2047), so not fit for a header with a non-ASCII name. parseAddressList reads it back unchanged. Control
 * characters, which no parsed address contains, become spaces.
 */
export function formatAddress(address: Address): string {
  if (address.name === '') return addrSpec(address);
  // `=?` would be read back as an encoded word, which only an atom can be (RFC 2047 §5).
  const plain = isPlainPhrase(address.name) && !address.name.includes('=?');
  return `${plain ? address.name : quote(address.name)} <${addrSpec(address)}>`;
}

/** Like formatAddress, for an address that is already formatted. */
export function formatMailbox({
  name,
  address,
}: {
  readonly name: string;
  readonly address: string;
}): string {
  return name === '' ? address : `${quote(name)} <${address}>`;
}

/** True if a display name needs no quotes in a header: atoms with single spaces between them. */
export function isPlainPhrase(name: string): boolean {
  return PLAIN_PHRASE.test(name);
}

/** RFC 5322 §3.2.4 quoted-string. */
export function quote(text: string): string {
  return `"${text.replace(CONTROLS, ' ').replace(/["\\]/g, '\\$&')}"`;
}

/**
 * True if two addresses reach the same mailbox. The display name does not matter. The local part is compared without
 * case: RFC 5321 §2.4 leaves its case to the receiving host, and no host in use distinguishes `Max@` from `max@`.
 */
export function sameMailbox(a: Address, b: Address): boolean {
  return mailboxKey(a) === mailboxKey(b);
}

/** Every mailbox once, first occurrence kept, order kept. */
export function dedupeAddresses(addresses: readonly Address[]): readonly Address[] {
  const seen = new Set<string>();
  return addresses.filter((address) => {
    const key = mailboxKey(address);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

/** Equal for two addresses exactly when sameMailbox holds: `local@domain` in lower case. Not for sending. */
function mailboxKey(address: Address): string {
  return addrSpec(address).toLowerCase();
}
