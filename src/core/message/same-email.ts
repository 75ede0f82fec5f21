/**
 * Decides whether two messages with one Message-ID, Date, From and subject are one email. On its way an email gets marks: the
 * footer of a list, the banner of a scanner, another encoding. A shop, a form or a printer whose Message-ID and clock never
 * change sends other emails. When in doubt they are two: then a person sees both.
 */
import type { ParsedMessage } from '../mime/parse/parsed-message.ts';
import { htmlToText } from '../mime/text/html-to-text.ts';
import { hasSameAnswers, keyedContentOf, mailboxes, spaced, type KeyedContent } from './identity.ts';
import { MIN_SAME_TEXT_CHARS } from './limits.ts';
import { targetsOf } from './link-targets.ts';

/** What is compared of a message. */
export interface EmailContents extends KeyedContent {
  readonly text: string;
  readonly html: string | null;
  /** See `ParsedMessage`. */
  readonly fileDigests: readonly string[];
}

export function toContents(message: ParsedMessage): EmailContents {
  const { text, html, fileDigests } = message;
  return { ...keyedContentOf(message), text, html, fileDigests };
}

/**
 * True when a message is a sent email as it was written: servers on its way added no more than fields of their own. Its identity has been
 * compared. Bcc does not count: a server may show it in the sender's own copy.
 */
export function isUnchangedCopy(copy: ParsedMessage, sent: ParsedMessage): boolean {
  return (
    copy.contentDigest === sent.contentDigest &&
    isSame(mailboxes(copy.to), mailboxes(sent.to)) &&
    isSame(mailboxes(copy.cc), mailboxes(sent.cc)) &&
    isSame(mailboxes(copy.replyTo), mailboxes(sent.replyTo)) &&
    isSame(copy.inReplyTo, sent.inReplyTo) &&
    isSame(copy.references, sent.references)
  );
}

/** True when one of them is the other with marks that were added on its way. */
export function isSameEmail(a: EmailContents, b: EmailContents): boolean {
  if (!hasSameAnswers(a, b)) return false;
  const byList = a.answers === null || b.answers === null;
  if (a.contentDigest === b.contentDigest) return true;
  if (!isPart(a.fileDigests, b.fileDigests) && !isPart(b.fileDigests, a.fileDigests)) return false;
  const isSeen = a.text !== b.text || a.html !== b.html || !isSame(a.fileDigests, b.fileDigests);
  return isSeen && isMarked(a.text, b.text, byList) && isSameHtml(a.html, b.html, byList);
}

function isSameHtml(a: string | null, b: string | null, byList: boolean): boolean {
  // A relay that makes plain text of HTML leaves the text.
  if (a === null || b === null || a === b) return true;
  const [fromA, fromB] = [targetsOf(a), targetsOf(b)];
  return (isPart(fromA, fromB) || isPart(fromB, fromA)) && isMarked(htmlToText(a), htmlToText(b), byList);
}

/** True when the texts are the same, or one of them is within the other. */
function isMarked(a: string, b: string, byList: boolean): boolean {
  const [one, other] = [spaced(a), spaced(b)];
  if (isWithin(one, other) || isWithin(other, one)) return true;
  if (!byList) return false;
  // Two lists: each adds its footer.
  const [bare, otherBare] = [spaced(withoutFooter(a)), spaced(withoutFooter(b))];
  return isWithin(bare, otherBare) || isWithin(otherBare, bare);
}

function isWithin(inner: string, outer: string): boolean {
  if (inner === outer) return true;
  return inner.length >= MIN_SAME_TEXT_CHARS && ` ${outer} `.includes(` ${inner} `);
}

/** `-- `, or the line of Mailman. */
const FOOTER_LINE = /^[-_=*]{2,}\s*$/;

/** The text before its last separating line. */
function withoutFooter(text: string): string {
  const lines = text.split('\n');
  const at = lines.findLastIndex((line) => FOOTER_LINE.test(line));
  return at === -1 ? text : lines.slice(0, at).join('\n');
}

/** The same values, in any order. */
const isSame = (a: readonly string[], b: readonly string[]): boolean => a.length === b.length && isPart(a, b);

/** Each value of the first list is in the second, as often. */
function isPart(part: readonly string[], whole: readonly string[]): boolean {
  const counts = new Map<string, number>();
  for (const value of whole) counts.set(value, (counts.get(value) ?? 0) + 1);
  return part.every((value) => {
    const left = counts.get(value) ?? 0;
    counts.set(value, left - 1);
    return left > 0;
  });
}
