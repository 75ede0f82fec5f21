/**
 * Receives one email: understand its bytes, see whether it is known, store its files, record it.
 *
 * Every step may be repeated, and many may run at the same moment: the database takes an email once, by its identity,
 * and whoever comes second gets the first one's record. Nothing is acknowledged before the record is committed.
 */
import { sameMailbox } from '../core/address/address.ts';
import { ServiceError } from '../core/errors.ts';
import { identityKey, identityOf, type MessageIdentity } from '../core/message/identity.ts';
import { inboundLinks } from '../core/thread/place-inbound.ts';
import type { ReceiveRequest, ReceiveResult } from './application.ts';
import { applyReport, type ApplyReportsPorts } from './apply-reports.ts';
import type { InboundRecord, InboundStore, KnownEmail } from './inbound-ports.ts';
import { RAW_INLINE_MAX_BYTES } from './limits.ts';
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
import { prepareAttachments } from './prepare-attachments.ts';
import { readReceived, type ReceivedMessage } from './read-received.ts';
import { readReceivedAttachments } from './receive-attachments.ts';
import { rawStoragePath } from './store-send.ts';

export interface ReceiveMessagePorts extends ApplyReportsPorts {
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

/** How long a send may be under way, in ms: mail servers may take 10 minutes for their answer (RFC 5321 §4.5.3.2.6). */
const UNRECORDED_SEND_MS = 15 * 60_000;

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
  { raw, accountId: named, mailFrom, isSentCopy = false }: ReceiveRequest,
  folder: SpoolFolder,
): Promise<ReceiveResult> {
  const accountId = named ?? ports.defaultAccountId;
  if (!ports.accounts.has(accountId)) {
    throw new ServiceError('unknown_account', { values: { value: accountId } });
  }
  const received = await readReceived(ports, raw, mailFrom === undefined ? {} : { mailFrom });
  const identity = identityOf(received.message);
  const key = identityKey(identity);

  // Asked before the files are stored: most repeats then cost one query.
  const known = await ports.store.findKnown(accountId, identity, key);
  if (known !== null) {
    if (isSentCopy && known.direction === 'inbound') {
      await ports.store.turnIntoSent(known.id, toRecord(received, identity, ports.clock()));
    }
    return await answerKnown(ports, known);
  }

  await refuseUnrecordedSend(ports, accountId, identity);

  const id = ports.ids.uuid();
  const inputs = await readReceivedAttachments(ports, raw, received.message.attachments, folder);
  const attachments = await prepareAttachments(ports, accountId, id, inputs);
  const place = placeOfRaw(raw, accountId, id);
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
    newThreadId: ports.ids.uuid(),
    ...toRecord(received, identity, ports.clock()),
    identity,
    identityKey: key,
    attachments: attachments.map(({ stored }) => stored),
    ...place,
  });
  if (result.kind === 'known') {
    // Somebody else recorded it meanwhile; the files have this email's id in their path, so nobody else needs them.
    for (const path of paths) {
      await ports.blobs.delete(path).catch((err: unknown) => {
        ports.logger.warn({ err, path }, 'a file that nothing refers to could not be deleted');
      });
    }
    return await answerKnown(ports, result);
  }
  if (!isSentCopy && received.bounce !== null) await applyNewReport(ports, id);
  return { kind: 'received', id, messageId: result.messageId, threadId: result.threadId };
}

/**
 * A copy of a sent email may come back before the email itself is recorded: while the mail server's answer is awaited,
 * or while the database is away. It has to come again, when it is known. Where the journal can't be asked, a message
 * of ours that is hardly old enough may be one. Throws `busy`.
 */
async function refuseUnrecordedSend(
  { accounts, journal, clock }: ReceiveMessagePorts,
  accountId: string,
  { from, messageId, date }: MessageIdentity,
): Promise<void> {
  const own = accounts.get(accountId)?.from;
  // Nobody else's mail is worth a look into the journal.
  if (own === undefined || !from.some((address) => sameMailbox(address, own))) return;
  if (journal === null) {
    if (date !== null && clock().getTime() - date.getTime() < UNRECORDED_SEND_MS)
      throw new ServiceError('busy');
    return;
  }
  for await (const { record } of journal.entries()) {
    if (record.accountId === accountId && record.messageId === messageId) throw new ServiceError('busy');
  }
}

async function answerKnown(ports: ReceiveMessagePorts, known: KnownEmail): Promise<ReceiveResult> {
  if (known.state === 'unknown') await ports.settleUnknown(known.id, 'its copy came back');
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

type ReadFields =
  | 'links'
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

function toRecord(
  { message, replyText, automatic, bounce }: ReceivedMessage,
  { messageId }: MessageIdentity,
  receivedAt: Date,
): Pick<InboundRecord, ReadFields> {
  return {
    links: inboundLinks(messageId, message, bounce),
    inReplyTo: message.inReplyTo,
    references: message.references,
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
  const rawSizeBytes = raw.kind === 'bytes' ? raw.bytes.length : raw.sizeBytes;
  return raw.kind === 'bytes' && rawSizeBytes <= RAW_INLINE_MAX_BYTES
    ? { rawSizeBytes, raw: raw.bytes, rawPath: null }
    : { rawSizeBytes, raw: null, rawPath: rawStoragePath(accountId, id) };
}
