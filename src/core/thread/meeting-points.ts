/**
 * Where emails meet that name a Message-ID which no email is known by. Strangers may name it: the form of a shop sends one In-Reply-To with
 * the mail of all its customers. So it ties an email only to mail of the same correspondents: each email is tied to points, one for its
 * counterparty, and one for its counterparty with each other person. Two emails meet when one person wrote both, and when their writers
 * each have the other among their recipients.
 *
 * A Message-ID is known once a send of ours has it, or a received email whose Message-ID is telling: then all who name it are tied to that
 * email, whoever they are. Other received emails are tied to the points of their own Message-ID, like those that name it.
 */
import { createHash } from 'node:crypto';
import { addrSpec, type Address } from '../address/address.ts';
import { isTelling } from '../message/message-id.ts';
import { isOwnFor } from '../message/suggested-counterparty.ts';

export interface Correspondents {
  /** `local@domain` of the person who it is about, where From names one of us; see suggestCounterparty. null: it is From, or a recipient. */
  readonly suggested: string | null;
  /** Who wrote it: its Reply-To, then its From. */
  readonly from: readonly Address[];
  /** The first ones are the nearest. */
  readonly recipients: readonly Address[];
  /** Of an email without any person. */
  readonly messageId: string;
}

/** Each is a point for each Message-ID that the email names. */
const MAX_OTHERS = 8;
/** 96 bits in Base64. */
const KEY_CHARS = 16;

/**
 * The keys of an email's points, none of them readable. Never empty: an email without any person meets no other.
 *
 * @param own the account's address; its colleagues, too, count as ours
 */
export function meetingKeysOf(
  { suggested, from, recipients, messageId }: Correspondents,
  own: Address,
): readonly string[] {
  const isOurs = isOwnFor(own);
  const people = [...from, ...recipients].filter(({ domain }) => domain !== '');
  const others = people.filter((address) => !isOurs(address)).map(addrSpec);
  const named = suggested === null ? others : [suggested, ...others];
  // Among us alone, who wrote it.
  const known = named.length > 0 ? named : people.slice(0, 1).map(addrSpec);
  const [counterparty, ...rest] = [...new Set(known.map((address) => address.toLowerCase()))];
  if (counterparty === undefined) return [keyOf(['', messageId])];
  const pairs = rest.slice(0, MAX_OTHERS).map((other) => [counterparty, other].sort());
  return [[counterparty], ...pairs].map(keyOf);
}

const keyOf = (people: readonly string[]): string =>
  createHash('sha256').update(people.join(' ')).digest('base64url').slice(0, KEY_CHARS);

/** No Message-ID has a space. */
const SEPARATOR = ' ';

export const pointOf = (messageId: string, key: string): string => messageId + SEPARATOR + key;

/** The Message-ID of a point; a Message-ID itself is returned as it is. */
export const idOfPoint = (name: string): string => name.split(SEPARATOR, 1)[0] ?? name;

/**
 * The key of an email that is sent from here. One alone, so that where a caller puts it into a thread, what it answers leads there or does
 * not; its recipients' answers name its own Message-ID.
 */
export function meetingKeyOfSend({
  from,
  to,
  cc,
  bcc,
}: {
  readonly from: Address;
  readonly to: readonly Address[];
  readonly cc: readonly Address[];
  readonly bcc: readonly Address[];
}): string {
  const recipients = [...to, ...cc, ...bcc];
  const [key = ''] = meetingKeysOf({ suggested: null, from: [], recipients, messageId: '' }, from);
  return key;
}

/** The Message-IDs of an email that it makes known. */
export const madeKnownBy = <Id extends string>({
  messageIds,
  isSend,
}: {
  readonly messageIds: readonly Id[];
  readonly isSend: boolean;
}): readonly Id[] => (isSend ? messageIds : messageIds.filter(isTelling));

/** True if an email of the first keys that names a Message-ID meets those of the second ones, though it is not known. */
export const meets = (keys: readonly string[], others: readonly string[]): boolean =>
  keys.some((key) => others.includes(key));

/** What an email is tied to by a Message-ID that it bears or names. @param isKnown a send, or a telling email, has or had it */
export const nodesOf = (
  messageId: string,
  keys: readonly string[],
  isKnown: (messageId: string) => boolean,
): readonly string[] => (isKnown(messageId) ? [messageId] : keys.map((key) => pointOf(messageId, key)));
