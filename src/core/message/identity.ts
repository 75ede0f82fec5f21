/**
 * Decides which received messages may be the same email ("One email, one record" of the design): those with the same
 * Message-ID, Date, From and subject, whatever folder or path they come by; same-email.ts compares their contents. A message
 * without a Message-ID gets one made from its content. Without a Date, the content is a part of the identity.
 */
import { addrSpec, type Address } from '../address/address.ts';
import { digestOf } from '../mime/parse/content-digest.ts';
import { fieldValue, fieldValues, type HeaderField } from '../mime/parse/header-fields.ts';
import type { ParsedMessage } from '../mime/parse/parsed-message.ts';
import { MADE_UP_DOMAIN, toMessageId, type MessageId } from './message-id.ts';

/** The values that identify a message. */
export interface MessageIdentity {
  /** Made up if the message has none. */
  readonly messageId: MessageId;
  /** From its header, not the time of receipt; null when it has none. Milliseconds do not count. */
  readonly date: Date | null;
  /** Display names and order do not count. */
  readonly from: readonly Address[];
  /** Decoded; runs of white space count as one, since folding changes them. */
  readonly subject: string;
  /** Of a message without a Date: a digest of everything that it says, since senders reuse Message-IDs. null: it has a Date. */
  readonly undated: string | null;
}

/** SHA-256 in lower-case hex, equal for two messages of one account exactly when they are the same. */
export function identityKey(message: MessageIdentity): string {
  return digestOf([
    message.messageId,
    secondsOf(message.date),
    ...mailboxes(message.from),
    spaced(message.subject),
    ...(message.undated === null ? [] : [message.undated]),
  ]);
}

/** What keys hold of a message besides its identity, and what the copies of one email have in common. */
export interface KeyedContent {
  /** See `ParsedMessage`. */
  readonly contentDigest: string;
  /**
   * A digest of Reply-To and In-Reply-To: a form that writes for many customers differs in them alone. null: a mailing list, which sets
   * them, was on its way.
   */
  readonly answers: string | null;
}

export const keyedContentOf = (message: ParsedMessage): KeyedContent => ({
  contentDigest: message.contentDigest,
  answers: isOfList(message.fields)
    ? null
    : digestOf([...mailboxes(message.replyTo), 'in-reply-to', ...message.inReplyTo.toSorted()]),
});

const LIST_FIELDS = ['list-id', 'list-post', 'mailing-list'];

const isOfList = (fields: readonly HeaderField[]): boolean =>
  LIST_FIELDS.some((name) => fieldValue(fields, name) !== null);

/** Whether messages with one content may be one email. */
export const hasSameAnswers = (one: KeyedContent, other: KeyedContent): boolean =>
  one.answers === null || other.answers === null || one.answers === other.answers;

/**
 * The keys of an email when another email has the key of its identity, the preferred one first. The first is also that of copies by lists.
 */
export function contentKeys(key: string, { contentDigest, answers }: KeyedContent): readonly string[] {
  const ofContent = ['content', contentDigest];
  return (answers === null ? [ofContent] : [ofContent, [...ofContent, answers]]).map((values) =>
    digestOf([key, ...values]),
  );
}

/** The keys by which the deletion of that content is remembered. */
export const deletionKeys = (key: string, content: KeyedContent): readonly string[] =>
  ofDeletion(key, content, content.answers === null ? ['list'] : ['any', content.answers]);

/** The keys by which the deletion of the same email is found: by `hasSameAnswers`, copies by lists are those of any other. */
export const keysOfDeletion = (key: string, content: KeyedContent): readonly string[] =>
  ofDeletion(key, content, ['list', content.answers ?? 'any']);

const ofDeletion = (key: string, { contentDigest }: KeyedContent, answers: readonly string[]) =>
  answers.map((one) => digestOf([key, 'deletion', contentDigest, one]));

/** The key of a message that can't be kept with the emails that have its other keys. @param sha256 of its bytes */
export function bytesKey(key: string, sha256: string): string {
  return digestOf([key, 'bytes', sha256]);
}

/**
 * A stable Message-ID for a message that has none, made from the header fields that no path changes and from its content.
 * Two copies get the same one, by IMAP, LMTP or import, with CRLF or LF, in any transfer encoding.
 */
export function madeUpMessageId(message: ParsedMessage): MessageId {
  const id = toMessageId(`${digestOfAll(message)}@${MADE_UP_DOMAIN}`);
  if (id === null) throw new TypeError('a digest is always a Message-ID');
  return id;
}

/** Fields that senders write and that no path changes, besides those that are read. A form may differ in one of them alone. */
const WRITTEN_FIELDS = [
  'in-reply-to',
  'references',
  'thread-index',
  'x-original-from',
  'x-original-sender',
  'resent-from',
  'resent-to',
  'resent-date',
  'resent-message-id',
  'comments',
  'keywords',
];

/**
 * A digest of everything that a message says. Without a Date, the time at which the first server took the message (the lowest
 * Received) distinguishes repeats of the same notice.
 */
function digestOfAll(message: ParsedMessage): string {
  const { fields, sender } = message;
  const firstHop = message.date === null ? fieldValues(fields, 'received').at(-1) : undefined;
  return digestOf([
    secondsOf(message.date),
    spaced(firstHop ?? ''),
    ...mailboxes(message.from),
    'sender',
    ...mailboxes(sender === null ? [] : [sender]),
    'reply-to',
    ...mailboxes(message.replyTo),
    'to',
    ...mailboxes(message.to),
    'cc',
    ...mailboxes(message.cc),
    'bcc',
    ...mailboxes(message.bcc),
    ...WRITTEN_FIELDS.flatMap((name) => [name, ...fieldValues(fields, name).map(spaced)]),
    'subject',
    spaced(message.subject),
    message.contentDigest,
  ]);
}

/** Identity of a parsed message, its Message-ID made up if need be. */
export function identityOf(message: ParsedMessage): MessageIdentity {
  return {
    messageId: message.messageId ?? madeUpMessageId(message),
    date: message.date,
    from: message.from,
    subject: message.subject,
    undated: message.date === null ? digestOfAll(message) : null,
  };
}

/** The identifying values of an email that was sent from here. */
export interface SentIdentity {
  readonly date: Date;
  /** `local@domain`. */
  readonly from: string;
  readonly subject: string;
}

/**
 * True if a received message with a sent email's Message-ID, ours or the relay's, is that email come back, for example
 * through the Sent folder.
 */
export function isCopyOfSent(message: MessageIdentity, sent: SentIdentity): boolean {
  return (
    secondsOf(message.date) === secondsOf(sent.date) &&
    mailboxes(message.from).join() === sent.from.toLowerCase() &&
    spaced(message.subject) === spaced(sent.subject)
  );
}

/** The `identityKey` of its copies under that Message-ID. */
export function sentIdentityKey(messageId: MessageId, { date, from, subject }: SentIdentity): string {
  return digestOf([messageId, secondsOf(date), from.toLowerCase(), spaced(subject)]);
}

/**
 * A key, in the form of an `identityKey`, of the values of a sent email that stay the same in a copy with another
 * Message-ID from the relay. For a deleted email, whose content can no longer be compared. Addresses are `local@domain`.
 */
export function sentCopyKey({
  date,
  from,
  to,
  cc,
  subject,
}: Omit<SentIdentity, 'from' | 'date'> & {
  readonly date: Date | null;
  readonly from: readonly string[];
  readonly to: readonly string[];
  readonly cc: readonly string[];
}): string {
  const sorted = (addresses: readonly string[]) => addresses.map((address) => address.toLowerCase()).sort();
  const people = [...sorted(from), 'to', ...sorted(to), 'cc', ...sorted(cc)];
  return digestOf(['copy of a sent email', secondsOf(date), ...people, spaced(subject)]);
}

/** Whole seconds since 1970; empty for none. */
export function secondsOf(date: Date | null): string {
  return date === null ? '' : String(Math.floor(date.getTime() / 1000));
}

const isNameAlone = ({ localPart, domain }: Address): boolean => localPart === '' && domain === '';

/** Lower-case and sorted; a name without an address stands for itself. */
export function mailboxes(addresses: readonly Address[]): readonly string[] {
  return addresses
    .map((address) => (isNameAlone(address) ? address.name : addrSpec(address)).toLowerCase())
    .sort();
}

/** Text with runs of white space as one space, and none at the ends. */
export function spaced(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
