/**
 * The other way to leave a list, by mail (RFC 2369 §3.2): `mailto:news@example.com?subject=unsubscribe%20TOKEN`. The token
 * is the link's, so nothing can be guessed. It is in the subject, not in a sub-address: a local part has at most 64 octets
 * (RFC 5321 §4.5.3.1.1), and not every mail server accepts sub-addresses.
 */
import type { Address } from '../address/address.ts';
import { MAX_TOKEN_CHARS } from './token.ts';

/** RFC 5322 §2.1.1, less the rest of the line. */
const MAX_MAILTO_CHARS = 950;

/** null for an address that would make the line too long. @param address of the account, which reads the mail */
export function formatUnsubscribeMailto({ localPart, domain }: Address, token: string): string | null {
  // RFC 6068 §2; characters that encodeURIComponent leaves as they are are allowed.
  const mailto = `mailto:${encodeURIComponent(localPart)}@${domain}?subject=unsubscribe%20${token}`;
  return mailto.length <= MAX_MAILTO_CHARS ? mailto : null;
}

/** Input: at most MAX_TOKEN_CHARS characters and the word before them. */
const SUBJECT = /^unsubscribe ([\w-]+)$/i;
const LONGEST_REQUEST = 'unsubscribe '.length + MAX_TOKEN_CHARS;
/** White space around and between the words. */
const MAX_SLACK_CHARS = 100;

/** The token in the subject of such a mail; null for any other. `openToken` decides whether it is one of ours. */
export function readUnsubscribeSubject(subject: string): string | null {
  if (subject.length > LONGEST_REQUEST + MAX_SLACK_CHARS) return null;
  // Seen in practice: long subjects are folded, which leaves white space at either end.
  const words = subject.trim().split(/\s+/);
  return SUBJECT.exec(words.join(' '))?.[1] ?? null;
}
