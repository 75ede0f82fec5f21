/**
 * Receives one email: parse its bytes, check whether it is known, store its files, record it.
 *
 * Every step may be repeated, and many may run at the same moment: the database takes an email once, by its identity,
 * and a second request gets the record of the first. Nothing is acknowledged before the record is committed.
 */
import { addrSpec } from '../../core/address/address.ts';
import { ServiceError } from '../../core/errors.ts';
import { readBaseSubject, subjectKeyOf } from '../../core/message/base-subject.ts';
import { identityKey, identityOf, type MessageIdentity } from '../../core/message/identity.ts';
import { withoutAddresses } from '../../core/message/references.ts';
import { toCopyContent, type CopyContent } from '../../core/message/sent-copy.ts';
import { inboundLinks } from '../../core/thread/place-inbound.ts';
import type { ReceiveRequest, ReceiveResult } from './use-cases.ts';
import { applyReport, type ApplyReportsPorts } from './apply-reports.ts';
import type { InboundRecord, InboundStore, KnownEmail } from './inbound-ports.ts';
import { deleteFiles } from '../files/delete-files.ts';
import { adoptRewrittenCopy, isFromAccount, refuseUnrecordedSend } from './match-sent-copy.ts';
import type { Account, Clock, IdSource } from '../base/basics.ts';
import type { BlobStore, ByteRange, SpoolFolder } from '../files/file-ports.ts';
import type { Journal } from '../send/journal-ports.ts';
import { prepareAttachments } from '../emails/prepare-attachments.ts';
import { readReceived } from '../reading/read-received.ts';
import type { ReceivedMessage } from '../reading/reading-ports.ts';
import { readReceivedAttachments } from './receive-attachments.ts';
import { replaceContent } from './replace-content.ts';
import type { ContentReplacements } from './replacement-ports.ts';
import { placeOfRaw } from '../files/raw-place.ts';
import { COPY_CAME_BACK, keepVariant, saysTheSame, type CompareCopiesPorts } from './variants.ts';

export interface ReceiveMessagePorts extends ApplyReportsPorts, CompareCopiesPorts {
  readonly store: InboundStore & ContentReplacements;
  readonly blobs: BlobStore;
  /** null when another process has it. */
  readonly journal: Pick<Journal, 'keys' | 'read'> | null;
  readonly accounts: ReadonlyMap<string, Account>;
  readonly defaultAccountId: string;
  readonly openFile: (path: string, range?: ByteRange) => AsyncIterable<Buffer>;
  readonly clock: Clock;
  readonly ids: IdSource;
}

/** See `ReceiveUseCases.receiveMessage`. */
export async function receiveMessage(
  ports: ReceiveMessagePorts,
  request: ReceiveRequest,
  folder: SpoolFolder,
): Promise<ReceiveResult> {
  try {
    return await receive(ports, request, folder);
  } finally {
    await folder.remove();
  }
}

async function receive(
  ports: ReceiveMessagePorts,
  request: ReceiveRequest,
  folder: SpoolFolder,
): Promise<ReceiveResult> {
  const { raw, accountId: named, mailFrom, receivedAt = ports.clock() } = request;
  const { isSentCopy = false, isRead = false, source = null } = request;
  const accountId = named ?? ports.defaultAccountId;
  const id = ports.ids.uuid();
  if (!ports.accounts.has(accountId)) {
    throw new ServiceError('unknown_account', { values: { value: accountId } });
  }
  const received = await readReceived(ports, raw, mailFrom === undefined ? {} : { mailFrom });
  const identity = identityOf(received.message);
  const key = identityKey(identity);
  const { contentDigest } = received.message;
  const reading = toReading(received, identity, receivedAt, ports.accounts.get(accountId));

  const place = placeOfRaw(raw, accountId, id);
  const hasFiles = received.message.attachments.length > 0 || place.rawPath !== null;
  const isOurs = isSentCopy || isFromAccount(ports, accountId, identity.from.map(addrSpec));
  /** It is recorded under its identity, and may say something else. */
  const answerIdentified = async (known: KnownEmail): Promise<ReceiveResult> => {
    if (await saysTheSame(ports, known, contentDigest)) return await answerKnown(ports, known);
    return await answerVariant(known);
  };
  const answerVariant = async (known: KnownEmail): Promise<ReceiveResult> => {
    await keepVariant(ports, raw, place, {
      id,
      emailId: known.id,
      contentDigest,
      receivedAt: ports.clock(),
      source,
      isSentCopy,
      textBody: reading.textBody,
    });
    return toDuplicate(known);
  };
  // Asked before files are stored, or it is compared with what was sent; for all others, recording tells soon enough.
  const known = hasFiles || isOurs ? await ports.store.findKnown(accountId, identity, key) : null;
  if (known !== null && !(isSentCopy && wasReceived(known))) return await answerIdentified(known);

  const inputs = await readReceivedAttachments(ports, raw, received.message.attachments, folder);
  const attachments = await prepareAttachments(ports, accountId, id, inputs);
  const copy = toCopyContent(
    received.message,
    attachments.map(({ stored }) => stored.sha256),
  );
  await refuseUnrecordedSend(ports, accountId, identity, copy, isSentCopy);
  /** An email of ours, come back under a Message-ID of the relay: adopted, it says the same but for what a relay changes. */
  const findSent = async (): Promise<ReceiveResult | null> => {
    if (!isSentCopy) {
      const original = await findOriginal(ports, accountId, identity, copy, contentDigest);
      return original === null ? null : await answerKnown(ports, original);
    }
    const sent = await adoptRewrittenCopy(ports, accountId, identity, copy);
    if (sent === null) return null;
    if (!(await saysTheSame(ports, sent, contentDigest))) await answerVariant(sent);
    return await answerKnown(ports, sent);
  };
  // The email itself may be recorded at the same moment as its copy, when neither sees the other.
  const findSentMeanwhile = async () => {
    if (!isSentCopy || !isFromAccount(ports, accountId, copy.from)) return null;
    await ports.store.awaitSends(accountId);
    return await findSent();
  };
  /** What was received under the identity of a Sent copy is the email that was sent, if it says the same. */
  const turn = async (email: KnownEmail): Promise<ReceiveResult> => {
    if (await saysTheSame(ports, email, contentDigest)) {
      await ports.store.turnIntoSent(email.id, reading);
      return await answerKnown(ports, email);
    }
    const isReplaced = await replaceContent(ports, email, {
      variantId: id,
      reading: { ...reading, identity, identityKey: key, contentDigest },
      inputs,
      raw,
      receivedBy: source,
    });
    return isReplaced ? toDuplicate(email) : await answerVariant(email);
  };
  const sent = await findSent();
  if (sent !== null) return sent;
  if (known !== null) {
    const turned = await turn(known);
    return (await findSentMeanwhile()) ?? turned;
  }
  const files = attachments.map(({ stored }) => stored.storagePath);
  if (place.rawPath !== null) await ports.blobs.put(place.rawPath, raw, 'message/rfc822');
  for (const { stored, content } of attachments) {
    await ports.blobs.put(stored.storagePath, content, stored.contentType);
  }
  const result = await ports.store.recordInbound({
    id,
    accountId,
    isSentCopy,
    isRead,
    newThreadId: ports.ids.uuid(),
    ...reading,
    identity,
    identityKey: key,
    contentDigest,
    receivedBy: source,
    bySubject: bySubjectOf(ports.accounts.get(accountId), identity.subject),
    attachments: attachments.map(({ stored }) => stored),
    ...place,
  });
  if (result.kind === 'known') {
    // Another request recorded it meanwhile. The files have this email's id in their path, so no other record needs them.
    await deleteFiles(ports, place.rawPath === null ? files : [...files, place.rawPath]);
    if (!isSentCopy || !wasReceived(result)) return await answerIdentified(result);
    const turned = await turn(result);
    return (await findSentMeanwhile()) ?? turned;
  }
  const sentMeanwhile = await findSentMeanwhile();
  if (sentMeanwhile !== null) return sentMeanwhile;
  if (!isSentCopy && received.bounce !== null) await applyNewReport(ports, id);
  return { kind: 'received', id, messageId: result.messageId, threadId: result.threadId };
}

const wasReceived = ({ direction }: KnownEmail): boolean => direction === 'inbound';

/** The sent email that this message is, according to a relay that replaced the Message-ID. */
async function findOriginal(
  ports: ReceiveMessagePorts,
  accountId: string,
  identity: MessageIdentity,
  copy: CopyContent,
  contentDigest: string,
): Promise<KnownEmail | null> {
  // Only mail from the account's own address can have been sent from here; many relays claim it of every mail.
  if (!isFromAccount(ports, accountId, copy.from)) return null;
  for (const messageId of copy.originalIds) {
    const original = { ...identity, messageId };
    const known = await ports.store.findKnown(accountId, original, identityKey(original));
    // Any message can claim to be a copy: it is one when its content is what was sent.
    if (known !== null && (await saysTheSame(ports, known, contentDigest))) return known;
  }
  return null;
}

async function answerKnown(ports: ReceiveMessagePorts, known: KnownEmail): Promise<ReceiveResult> {
  if (known.state === 'unknown') await ports.settleUnknown(known.id, COPY_CAME_BACK);
  return toDuplicate(known);
}

const toDuplicate = ({ id, messageId, threadId }: KnownEmail): ReceiveResult => ({
  kind: 'duplicate',
  id,
  messageId,
  threadId,
});

async function applyNewReport(ports: ReceiveMessagePorts, id: string): Promise<void> {
  try {
    await applyReport(ports, id);
  } catch (err) {
    // The report is recorded, and applied later: its sender must not be told otherwise.
    ports.logger.warn({ err, emailId: id }, 'a delivery report could not be applied yet');
  }
}

function bySubjectOf(account: Account | undefined, subject: string): InboundRecord['bySubject'] {
  const windowDays = account?.joinBySubjectDays ?? null;
  const key = windowDays === null ? null : subjectKeyOf(subject);
  if (windowDays === null || key === null) return null;
  return { key, isReply: readBaseSubject(subject).isReply, windowDays };
}

type ReadFields =
  | 'links'
  | 'writtenMessageId'
  | 'otherMessageId'
  | 'inReplyTo'
  | 'references'
  | 'from'
  | 'sender'
  | 'replyTo'
  | 'to'
  | 'cc'
  | 'bcc'
  | 'subject'
  | 'textBody'
  | 'htmlBody'
  | 'replyText'
  | 'date'
  | 'defects'
  | 'automatic'
  | 'report';

/** What the message says to the account, as it is recorded; `receivedAt` stands for a missing Date. */
export function toReading(
  { message, replyText, automatic, bounce }: ReceivedMessage,
  { messageId }: MessageIdentity,
  receivedAt: Date,
  account: Pick<Account, 'from'> | undefined,
): Pick<InboundRecord, ReadFields> {
  // The message need not be addressed to the account to name its address.
  const own = account === undefined ? [] : [addrSpec(account.from)];
  const inReplyTo = withoutAddresses(message.inReplyTo, own);
  const references = withoutAddresses(message.references, own);
  const { writtenMessageId, otherMessageId } = message;
  return {
    links: inboundLinks(messageId, { inReplyTo, references, otherMessageId }, bounce),
    writtenMessageId,
    otherMessageId,
    inReplyTo,
    references,
    from: message.from[0] ?? null,
    sender: message.sender,
    replyTo: message.replyTo,
    to: message.to,
    cc: message.cc,
    bcc: message.bcc,
    subject: message.subject,
    textBody: message.text,
    htmlBody: message.html,
    replyText: replyText ?? message.text,
    date: message.date ?? receivedAt,
    defects: message.defects,
    automatic,
    report: bounce === null ? null : { ...bounce, reportedAt: message.date ?? receivedAt },
  };
}
