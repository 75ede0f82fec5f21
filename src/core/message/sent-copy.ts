/**
 * Finds the sent email that a message of the Sent mailbox is a copy of when the relay replaced our Message-ID. Then the
 * content decides: everything that a relay does not change must be the same, so that two emails are never mistaken for
 * one. When a relay also changes the subject or adds to the text, the message becomes an email of its own.
 */
import type { EmailState } from '../delivery/states.ts';
import { htmlToText } from '../mime/text/html-to-text.ts';
import type { CopyContent, EmailContent } from './copy-content.ts';
import { secondsOf, spaced } from './identity.ts';
import { targetsOf } from './link-targets.ts';
import type { MessageId } from './message-id.ts';
import { parseMessageIdList } from './references.ts';

export interface SentContent extends EmailContent {
  readonly messageId: MessageId;
}

export interface SentCandidate extends SentContent {
  readonly id: string;
  readonly state: EmailState;
  /** The relay's Message-ID for the email is known, so a copy with another one is not of this email. */
  readonly hasRelayMessageId: boolean;
}

/** True if a copy with another Message-ID is a copy of this sent email. */
export function isRewrittenCopy(copy: CopyContent, sent: SentContent): boolean {
  const isAlike =
    copy.date !== null &&
    secondsOf(copy.date) === secondsOf(sent.date) &&
    sameAddresses(copy.from, sent.from) &&
    spaced(copy.subject) === spaced(sent.subject);
  if (!isAlike) return false;
  return (
    sameAddresses(copy.to, sent.to) &&
    sameAddresses(copy.cc, sent.cc) &&
    (copy.bcc.length === 0 || sameAddresses(copy.bcc, sent.bcc)) &&
    same(copy.inReplyTo, asRead(sent.inReplyTo)) &&
    same(copy.attachmentDigests, sent.attachmentDigests) &&
    hasSameBody(copy, sent)
  );
}

/**
 * The sent email of which this is a copy; null when there is none, or when several different ones are possible.
 *
 * Of several identical ones, such as a send that was repeated within the same second, each copy takes one, first those
 * that certainly went out, so that as many emails are settled as there are copies.
 */
export function chooseSent(copy: CopyContent, candidates: readonly SentCandidate[]): SentCandidate | null {
  const possible = candidates.filter((sent) => !sent.hasRelayMessageId && isRewrittenCopy(copy, sent));
  const named = possible.find(({ messageId }) => copy.originalIds.includes(messageId));
  if (named !== undefined) return named;
  const [first, ...others] = possible.toSorted(
    (a, b) => certainty(a.state) - certainty(b.state) || (a.id < b.id ? -1 : 1),
  );
  if (first === undefined) return null;
  // A newsletter to hidden recipients: the copy does not show which one it is for.
  return others.every(({ bcc }) => sameAddresses(bcc, first.bcc)) ? first : null;
}

/** Unusual ids are read differently from how they were written. */
const asRead = (ids: readonly string[]) => ids.flatMap((id) => parseMessageIdList(`<${id}>`));

const certainty = (state: EmailState): number => (state === 'sent' ? 0 : state === 'unknown' ? 2 : 1);

/**
 * True if the HTML and the text are the same, ignoring white space. Servers that convert mail rewrite its HTML and its
 * plain text, the text from the HTML: of the HTML the readable text and the link targets have to be the same, and the text
 * may be that of the HTML.
 */
function hasSameBody(copy: EmailContent, sent: EmailContent): boolean {
  if ((copy.html === null) !== (sent.html === null)) return false;
  if (copy.html !== null && sent.html !== null && htmlContent(copy.html) !== htmlContent(sent.html))
    return false;
  if (spaced(copy.text) === spaced(sent.text)) return true;
  return sent.html !== null && wordsOf(copy.text) === wordsOf(htmlToText(sent.html));
}

const htmlContent = (html: string): string => [spaced(htmlToText(html)), ...targetsOf(html)].join('\n');

/** The letters and digits of the words, without the link targets that converters write after them. */
const wordsOf = (text: string): string =>
  text.replace(/[<[](?:https?|mailto|tel|cid):[^\s<>[\]]*[>\]]/gi, '').replace(/[^\p{L}\p{N}]+/gu, '');

function sameAddresses(a: readonly string[], b: readonly string[]): boolean {
  return same(
    a.map((address) => address.toLowerCase()),
    b.map((address) => address.toLowerCase()),
  );
}

/** The same values, in any order. */
function same(a: readonly string[], b: readonly string[]): boolean {
  const sorted = b.toSorted();
  return a.length === b.length && a.toSorted().every((value, index) => value === sorted[index]);
}
