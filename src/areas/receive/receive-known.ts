/**
 * Handles a message whose identity is recorded. Nothing is dropped: bytes that are not recorded become a variant of the record, or
 * the message is another email.
 */
import { addrSpec } from '../../core/address/address.ts';
import type { Account, Clock } from '../../platform/base/basics.ts';
import { wasReceived, type Arrival } from './arrival.ts';
import type { KnownEmail } from '../emails/find-recorded.ts';
import { isFromAccount } from './match-sent-copy.ts';
import type { ReceiveResult } from './use-cases.ts';
import { COPY_CAME_BACK, compareStored, isAsSent, keepVariant, type CompareCopiesPorts } from './variants.ts';

export interface ReceiveKnownPorts extends CompareCopiesPorts {
  readonly clock: Clock;
  readonly accounts: ReadonlyMap<string, Account>;
}

/**
 * null: the message is another email, or the record has no room for one more variant. A message from the account's own address may be a
 * copy of an email of ours that is not recorded yet, so it stays with the others of its identity until that one decides.
 */
export async function receiveKnown(
  ports: ReceiveKnownPorts,
  arrival: Arrival,
  known: KnownEmail,
): Promise<ReceiveResult | null> {
  if (known.isDeleted) return toDeleted(known);
  const { accountId, identity } = arrival;
  if (!wasReceived(known) || isFromAccount(ports, accountId, identity.from.map(addrSpec)))
    return await receiveCopy(ports, arrival, known);
  const likeness = await compareStored(ports, known.id, arrival);
  if (likeness === 'bytes') return toDuplicate(known);
  if (likeness === 'other') return null;
  return (await addVariant(ports, arrival, known)) === 'refused' ? null : toDuplicate(known);
}

/** Handles a message with the identity of an email that was sent from the account: a copy of it, or what claims to be one. */
export async function receiveCopy(
  ports: ReceiveKnownPorts,
  arrival: Arrival,
  known: KnownEmail,
): Promise<ReceiveResult> {
  if (known.isDeleted) return toDeleted(known);
  if (isOurs(known)) {
    // It is what was sent, whose bytes are recorded.
    if (await isAsSent(ports, known.id, arrival.message)) return await answerKnown(ports, known);
  } else if ((await compareStored(ports, known.id, arrival)) === 'bytes') return toDuplicate(known);
  return await receiveVariant(ports, arrival, known);
}

/** This service composed it. */
const isOurs = ({ direction, contentDigest }: KnownEmail): boolean =>
  direction === 'outbound' && contentDigest === null;

/** Keeps the message as a variant; one too many is only counted. */
export async function receiveVariant(
  ports: ReceiveKnownPorts,
  arrival: Arrival,
  known: KnownEmail,
): Promise<ReceiveResult> {
  if ((await addVariant(ports, arrival, known)) === 'refused') {
    await ports.variants.countRefused(known.id, ports.clock());
    ports.logger.warn({ emailId: known.id }, 'an email has too many variants; one more is only counted');
  }
  return toDuplicate(known);
}

function addVariant(
  ports: ReceiveKnownPorts,
  { id, raw, location, content, source, isSentCopy, reading }: Arrival,
  known: KnownEmail,
): Promise<'kept' | 'known' | 'refused'> {
  return keepVariant(ports, raw, location, {
    id,
    emailId: known.id,
    ...content,
    receivedAt: ports.clock(),
    source,
    isSentCopy,
    textBody: reading.textBody,
  });
}

/** The message is the one that is recorded; for an email of ours, that proves that it went out. */
export async function answerKnown(ports: ReceiveKnownPorts, known: KnownEmail): Promise<ReceiveResult> {
  if (known.isDeleted) return toDeleted(known);
  if (known.state === 'unknown') await ports.settleUnknown(known.id, COPY_CAME_BACK);
  return toDuplicate(known);
}

export const toDuplicate = ({ id, messageId, threadId }: KnownEmail): ReceiveResult => ({
  kind: 'duplicate',
  id,
  messageId,
  threadId,
});

export const toDeleted = ({ id, messageId, threadId }: KnownEmail): ReceiveResult => ({
  kind: 'deleted',
  id,
  messageId,
  threadId,
});

export const toReceived = ({ id, messageId, threadId }: KnownEmail): ReceiveResult => ({
  kind: 'received',
  id,
  messageId,
  threadId,
});
