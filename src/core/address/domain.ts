/**
 * The part of an address after the `@`: RFC 5321 §4.1.2 and §4.1.3, internationalised by RFC 5890.
 */
import { domainToASCII } from 'node:url';
import { MAX_DOMAIN_OCTETS, MAX_LABEL_OCTETS } from './limits.ts';

/** Letters, digits and hyphens, lower-case. Seen in practice: underscores in names of internal hosts. */
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?$/;
const OCTET = '(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])';
const IPV4 = new RegExp(`^${OCTET}(?:\\.${OCTET}){3}$`);

/**
 * Normalises a domain name to lower-case A-labels. One label, such as `localhost`, is enough.
 * null when it can't be a mail domain.
 */
export function toAsciiDomain(text: string): string | null {
  const ascii = isAscii(text) ? text.toLowerCase() : internationalToAscii(text);
  if (ascii.length === 0 || ascii.length > MAX_DOMAIN_OCTETS) return null;
  const labels = ascii.split('.');
  if (!labels.every((label) => label.length <= MAX_LABEL_OCTETS && LABEL.test(label))) return null;
  // RFC 1123 §2.1: the last label of a host name is never a number; `a@192.0.2.1` lacks its brackets.
  return /^[0-9]+$/.test(labels.at(-1) ?? '') ? null : ascii;
}

/**
 * Normalises an address literal (RFC 5321 §4.1.3), given without its square brackets; the result has them.
 * null when it is neither an IPv4 nor an IPv6 address.
 */
export function toAddressLiteral(text: string): string | null {
  if (IPV4.test(text)) return `[${text}]`;
  const match = /^ipv6:([0-9a-f:.]{2,45})$/i.exec(text);
  const address = match?.[1];
  if (address === undefined || !URL.canParse(`http://[${address}]`)) return null;
  return `[IPv6:${new URL(`http://[${address}]`).hostname.slice(1, -1)}]`;
}

function internationalToAscii(text: string): string {
  // domainToASCII reads a URL host: without this check `ü.de/x` and `ü.de:25` would lose their tails unnoticed.
  if (text.length > MAX_DOMAIN_OCTETS || /[^a-z0-9._\-\u0080-\u{10ffff}]/iu.test(text)) return '';
  return domainToASCII(text);
}

function isAscii(text: string): boolean {
  return !/[^\u0000-\u007f]/.test(text);
}
