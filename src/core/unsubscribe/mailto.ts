/**
 * The other way to leave a list, by mail (RFC 2369 §3.2): `mailto:news@example.com?subject=unsubscribe%20TOKEN`. The token is the one of
 * the link, so nothing can be guessed. It stands in the subject, not in a sub-address: a local part has 64 octets (RFC 5321 §4.5.3.1.1),
 * and not every mail server takes sub-addresses.
 */
import type { Address } from '../address/address.ts';
import { MAX_TOKEN_CHARS } from './token.ts';

/** RFC 5322 §2.1.1, without what stands around it on the line. */
const MAX_MAILTO_CHARS = 950;

/** null for an address so long that the line would be. @param address of the account, which reads the mail */
export function formatUnsubscribeMailto({ localPart, domain }: Address, token: string): string | null {
  // RFC 6068 §2; what encodeURIComponent leaves as it is may stand there.
  const mailto = `mailto:${encodeURIComponent(localPart)}@${domain}?subject=unsubscribe%20${token}`;
  return mailto.length <= MAX_MAILTO_CHARS ? mailto : null;
}

/** Input: at most MAX_TOKEN_CHARS characters and the word before them. */
const SUBJECT = /^unsubscribe ([\w-]+)$/i;
const LONGEST_REQUEST = 'unsubscribe '.length + MAX_TOKEN_CHARS;
/** Of white space around and between the words. */
const MAX_SLACK_CHARS = 100;

/** The token in the subject of such a mail; null for any other. Whether it is one of ours is for `openToken` to say. */
export function readUnsubscribeSubject(subject: string): string | null {
  if (subject.length > LONGEST_REQUEST + MAX_SLACK_CHARS) return null;
  // Seen in practice: long subjects are folded, which leaves white space at either end.
  const words = subject.trim().split(/\s+/);
  return SUBJECT.exec(words.join(' '))?.[1] ?? null;
}
