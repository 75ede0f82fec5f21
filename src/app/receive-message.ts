/**
 * Receives one email: understand its bytes, see whether it is known, store its files, record it.
 *
 * Every step may be repeated, and many may run at the same moment: the database takes an email once, by its identity,
 * and whoever comes second gets the first one's record. Nothing is acknowledged before the record is committed.
 */
import { addrSpec } from '../core/address/address.ts';
import { ServiceError } from '../core/errors.ts';
import { readBaseSubject, subjectKeyOf } from '../core/message/base-subject.ts';
import { identityKey, identityOf, type MessageIdentity } from '../core/message/identity.ts';
import { withoutAddresses } from '../core/message/references.ts';
import { toCopyContent, type CopyContent } from '../core/message/sent-copy.ts';
import { inboundLinks } from '../core/thread/place-inbound.ts';
import type { ReceiveRequest, ReceiveResult } from './application.ts';
import { applyReport, type ApplyReportsPorts } from './apply-reports.ts';
import type { InboundRecord, InboundStore, KnownEmail } from './inbound-ports.ts';
import { deleteFiles } from './delete-files.ts';
import { RAW_INLINE_MAX_BYTES } from './limits.ts';
import { adoptRewrittenCopy, isFromAccount, refuseUnrecordedSend } from './match-sent-copy.ts';
import type {
  Account,
  BlobStore,
  ByteRange,
  Clock,
  IdSource,
  Journal,
  RecordedRaw,
  SpoolFolder,
} from './ports.ts';
import { prepareAttachments, sizeOf } from './prepare-attachments.ts';
import { readReceived, type ReadReceivedPorts } from './read-received.ts';
import type { ReceivedMessage } from './reading-ports.ts';
import { readReceivedAttachments } from './receive-attachments.ts';
import { COPY_CAME_BACK, rawStoragePath } from './store-send.ts';

export interface ReceiveMessagePorts
  extends ApplyReportsPorts, Pick<ReadReceivedPorts, 'reader' | 'unreadable'> {
  readonly store: InboundStore;
  readonly blobs: BlobStore;
  /** null when another process has it. */
  readonly journal: Pick<Journal, 'entries'> | null;
  readonly accounts: ReadonlyMap<string, Account>;
  readonly defaultAccountId: string;
  readonly openFile: (path: string, range?: ByteRange) => AsyncIterable<Buffer>;
  readonly clock: Clock;
  readonly ids: IdSource;
}

/** See `Application.receiveMessage`. */
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
  const { isSentCopy = false, isRead = false } = request;
  const accountId = named ?? ports.defaultAccountId;
  const id = ports.ids.uuid();
  if (!ports.accounts.has(accountId)) {
    throw new ServiceError('unknown_account', { values: { value: accountId } });
  }
  const received = await readReceived(ports, raw, mailFrom === undefined ? {} : { mailFrom });
  const identity = identityOf(received.message);
  const key = identityKey(identity);
  const reading = toReading(received, identity, receivedAt, ports.accounts.get(accountId));

  const place = placeOfRaw(raw, accountId, id);
  const hasFiles = received.message.attachments.length > 0 || place.rawPath !== null;
  const isOurs = isSentCopy || isFromAccount(ports, accountId, identity.from.map(addrSpec));
  // Asked before files are stored, or it is compared with what was sent; for all others, recording tells soon enough.
  const known = hasFiles || isOurs ? await ports.store.findKnown(accountId, identity, key) : null;
  if (known !== null && !(isSentCopy && wasReceived(known))) return await answerKnown(ports, known);

  const inputs = await readReceivedAttachments(ports, raw, received.message.attachments, folder);
  const attachments = await prepareAttachments(ports, accountId, id, inputs);
  const copy = toCopyContent(
    received.message,
    attachments.map(({ stored }) => stored.sha256),
  );
  await refuseUnrecordedSend(ports, accountId, identity, copy, isSentCopy);
  const findSent = () =>
    isSentCopy
      ? adoptRewrittenCopy(ports, accountId, identity, copy)
      : findOriginal(ports, accountId, identity, copy);
  // The email itself may be recorded at the same moment as its copy, when neither sees the other.
  const findSentMeanwhile = async () => {
    if (!isSentCopy || !isFromAccount(ports, accountId, copy.from)) return null;
    await ports.store.awaitSends(accountId);
    return await findSent();
  };
  const sent = await findSent();
  if (sent !== null) return await answerKnown(ports, sent);
  if (known !== null) {
    await ports.store.turnIntoSent(known.id, reading);
    return await answerKnown(ports, (await findSentMeanwhile()) ?? known);
  }
  const paths = [
    ...attachments.map(({ stored }) => stored.storagePath),
    ...(place.rawPath === null ? [] : [place.rawPath]),
  ];
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
    bySubject: bySubjectOf(ports.accounts.get(accountId), identity.subject),
    attachments: attachments.map(({ stored }) => stored),
    ...place,
  });
  // Somebody else recorded it meanwhile; the files have this email's id in their path, so nobody else needs them.
  if (result.kind === 'known') await deleteFiles(ports, paths);
  const sentMeanwhile = result.kind === 'recorded' || wasReceived(result) ? await findSentMeanwhile() : null;
  if (sentMeanwhile !== null) return await answerKnown(ports, sentMeanwhile);
  if (result.kind === 'known') return await answerKnown(ports, result);
  if (!isSentCopy && received.bounce !== null) await applyNewReport(ports, id);
  return { kind: 'received', id, messageId: result.messageId, threadId: result.threadId };
}

const wasReceived = ({ direction }: KnownEmail): boolean => direction === 'inbound';

/** The sent email of which a relay says that this message was it, under the Message-ID that it replaced. */
async function findOriginal(
  ports: ReceiveMessagePorts,
  accountId: string,
  identity: MessageIdentity,
  copy: CopyContent,
): Promise<KnownEmail | null> {
  // Nobody else's mail was sent from here, and many a relay says so of every mail.
  if (!isFromAccount(ports, accountId, copy.from)) return null;
  for (const messageId of copy.originalIds) {
    const original = { ...identity, messageId };
    const known = await ports.store.findKnown(accountId, original, identityKey(original));
    if (known !== null) return known;
  }
  return null;
}

async function answerKnown(ports: ReceiveMessagePorts, known: KnownEmail): Promise<ReceiveResult> {
  if (known.state === 'unknown') await ports.settleUnknown(known.id, COPY_CAME_BACK);
  return { kind: 'duplicate', id: known.id, messageId: known.messageId, threadId: known.threadId };
}

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
    replyText,
    date: message.date ?? receivedAt,
    defects: message.defects,
    automatic,
    report: bounce === null ? null : { ...bounce, reportedAt: message.date ?? receivedAt },
  };
}

function placeOfRaw(raw: ReceiveRequest['raw'], accountId: string, id: string): RecordedRaw {
  const rawSizeBytes = sizeOf(raw);
  return raw.kind === 'bytes' && rawSizeBytes <= RAW_INLINE_MAX_BYTES
    ? { rawSizeBytes, raw: raw.bytes, rawPath: null }
    : { rawSizeBytes, raw: null, rawPath: rawStoragePath(accountId, id) };
}
