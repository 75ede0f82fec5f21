/** Handles a message whose identity is recorded: its content is the same, or it is kept as a variant of the record. */
import type { Clock } from '../base/basics.ts';
import type { Arrival } from './arrival.ts';
import type { KnownEmail } from './inbound-ports.ts';
import type { ReceiveResult } from './use-cases.ts';
import { COPY_CAME_BACK, keepVariant, saysTheSame, type CompareCopiesPorts } from './variants.ts';

export interface ReceiveKnownPorts extends CompareCopiesPorts {
  readonly clock: Clock;
}

export async function receiveKnown(
  ports: ReceiveKnownPorts,
  arrival: Arrival,
  known: KnownEmail,
): Promise<ReceiveResult> {
  if (known.isDeleted) return toDeleted(known);
  if (await saysTheSame(ports, known, arrival.message.contentDigest)) return await answerKnown(ports, known);
  return await receiveVariant(ports, arrival, known);
}

export async function receiveVariant(
  ports: ReceiveKnownPorts,
  { id, raw, location, message, source, isSentCopy, reading }: Arrival,
  known: KnownEmail,
): Promise<ReceiveResult> {
  await keepVariant(ports, raw, location, {
    id,
    emailId: known.id,
    contentDigest: message.contentDigest,
    receivedAt: ports.clock(),
    source,
    isSentCopy,
    textBody: reading.textBody,
  });
  return toDuplicate(known);
}

/** The message has the content of its record; for an email of ours, that proves that it went out. */
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
