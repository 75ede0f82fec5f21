/**
 * Receives a message of the Sent mailbox: a copy of an email of ours under a Message-ID of the relay, an email that
 * another program sent, or one that was recorded as received before.
 */
import { sentCopyKey } from '../../core/message/identity.ts';
import type { BlobStore, ByteRange } from '../../platform/files/file-ports.ts';
import { record, wasReceived, type Arrival, type ReadFiles, type RecordPorts } from './arrival.ts';
import type { InboundStore } from './inbound-ports.ts';
import type { KnownEmail } from '../emails/find-recorded.ts';
import { adoptRewrittenCopy, isFromAccount, type MatchSentCopyPorts } from './match-sent-copy.ts';
import {
  answerKnown,
  receiveCopy,
  receiveVariant,
  toDeleted,
  toDuplicate,
  toReceived,
} from './receive-known.ts';
import { replaceContent, type ReplaceContentPorts } from './replace-content.ts';
import type { ReceiveResult } from './use-cases.ts';
import { isAsSent } from './variants.ts';

export interface SentCopyPorts extends MatchSentCopyPorts, RecordPorts {
  readonly store: InboundStore & ReplaceContentPorts['store'];
  readonly blobs: BlobStore;
  readonly openFile: (path: string, range?: ByteRange) => AsyncIterable<Buffer>;
}

/** @param known the email that was received under its identity; null for none */
export async function receiveSentCopy(
  ports: SentCopyPorts,
  arrival: Arrival,
  files: ReadFiles,
  known: KnownEmail | null,
): Promise<ReceiveResult> {
  const sent = await findSent(ports, arrival, files);
  if (sent !== null) return sent;
  const deleted = known === null ? await findDeletedSend(ports, arrival, files) : null;
  if (deleted !== null) return toDeleted(deleted);
  const result = known === null ? await record(ports, arrival, files) : { ...known, kind: 'known' as const };
  if (result.isDeleted) return toDeleted(result);
  const isKnown = result.kind === 'known';
  if (isKnown && !wasReceived(result)) return await receiveCopy(ports, arrival, result);
  const answer = isKnown ? await becomeSent(ports, arrival, files, result) : toReceived(result);
  return (await findSentMeanwhile(ports, arrival, files)) ?? answer;
}

/**
 * Finds our own email that came back under a Message-ID of the relay: adopted, its content is the same except for the
 * relay's changes.
 */
async function findSent(
  ports: SentCopyPorts,
  arrival: Arrival,
  { copy }: ReadFiles,
): Promise<ReceiveResult | null> {
  const { accountId, identity, message } = arrival;
  const sent = await adoptRewrittenCopy(ports, accountId, identity, copy);
  if (sent === null) return null;
  if (!(await isAsSent(ports, sent.id, message))) await receiveVariant(ports, arrival, sent);
  return await answerKnown(ports, sent);
}

/** Finds a deleted email that was sent from here and came back under a Message-ID of the relay; null for none. */
async function findDeletedSend(
  { store }: SentCopyPorts,
  { accountId, identity, content, restores }: Arrival,
  { copy }: ReadFiles,
): Promise<KnownEmail | null> {
  if (restores) return null;
  const known = await store.findKnown({
    accountId,
    identity,
    key: sentCopyKey(copy),
    sharedKey: null,
    content,
  });
  return known?.isDeleted === true ? known : null;
}

/** The email itself may be recorded at the same moment as its copy, when neither sees the other. */
async function findSentMeanwhile(
  ports: SentCopyPorts,
  arrival: Arrival,
  files: ReadFiles,
): Promise<ReceiveResult | null> {
  if (!isFromAccount(ports, arrival.accountId, files.copy.from)) return null;
  await ports.store.awaitSends(arrival.accountId);
  return await findSent(ports, arrival, files);
}

/**
 * The email received under the identity of a Sent copy is the sent email: it is the same, or its content is replaced by the
 * copy's.
 */
async function becomeSent(
  ports: SentCopyPorts,
  arrival: Arrival,
  { inputs }: ReadFiles,
  email: KnownEmail,
): Promise<ReceiveResult> {
  const { id, reading, identity, key, sharedKey, content, message, raw, source } = arrival;
  if (await isAsSent(ports, email.id, message)) {
    await ports.store.turnIntoSent(email.id, reading);
    return await receiveCopy(ports, arrival, { ...email, direction: 'outbound' });
  }
  const isReplaced = await replaceContent(ports, email, {
    variantId: id,
    reading: { ...reading, identity, identityKey: key, sharedKey, ...content },
    inputs,
    raw,
    receivedBy: source,
  });
  return isReplaced ? toDuplicate(email) : await receiveVariant(ports, arrival, email);
}
