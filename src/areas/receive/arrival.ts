/** An arrived message, read and not recorded yet; its files; and how it is recorded. */
import { readBaseSubject, subjectKeyOf } from '../../core/message/base-subject.ts';
import type { MailAuthentication } from '../../core/message/authentication.ts';
import type { KeyedContent, MessageIdentity } from '../../core/message/identity.ts';
import { toCopyContent, type CopyContent } from '../../core/message/copy-content.ts';
import type { ParsedMessage } from '../../core/mime/parse/parsed-message.ts';
import { tookMs } from '../../core/statistics/latency.ts';
import type { Account, Clock, IdSource, Logger } from '../../platform/base/basics.ts';
import type { StoredAttachment } from '../../platform/files/stored-attachment.ts';
import { prepareAttachments, type AttachmentInput } from '../emails/prepare-attachments.ts';
import type { MailSource } from '../../core/message/mail-source.ts';
import type { AbsenceRequest } from '../absence/absence-ports.ts';
import { deleteFiles } from '../../platform/files/delete-files.ts';
import type {
  BlobStore,
  ByteRange,
  Content,
  RecordedRaw,
  SpoolFolder,
} from '../../platform/files/file-ports.ts';
import type { InboundRecord, InboundResult, InboundStore } from './inbound-ports.ts';
import type { KnownEmail } from '../emails/find-recorded.ts';
import { readReceivedAttachments } from './receive-attachments.ts';
import type { toReading } from './to-reading.ts';

export interface Arrival {
  /** The id of the record, or of the variant, that it becomes. */
  readonly id: string;
  readonly accountId: string;
  readonly account: Account;
  readonly raw: Content;
  readonly location: RecordedRaw;
  /** See `ReceiveRequest`. */
  readonly isSentCopy: boolean;
  /** See `ReceiveRequest`. */
  readonly isRead: boolean;
  readonly source: MailSource | null;
  /** See `ReceiveRequest`. */
  readonly cameAt: Date;
  /** null when no trusted source reports anything about its sender. */
  readonly authentication: MailAuthentication | null;
  /** See `ReceiveRequest`. */
  readonly restores: boolean;
  /** See InboundRecord. */
  readonly absence: AbsenceRequest | null;
  readonly message: ParsedMessage;
  readonly identity: MessageIdentity;
  readonly content: KeyedContent;
  /** See `SoughtEmail`. */
  readonly key: string;
  /** See `InboundRecord`. */
  readonly sharedKey: string | null;
  readonly reading: ReturnType<typeof toReading>;
}

export interface ReadFiles {
  /** As they are in the message. */
  readonly inputs: readonly AttachmentInput[];
  /** As they are to be stored. */
  readonly attachments: readonly { readonly stored: StoredAttachment; readonly content: Content }[];
  /** The content of the message, for comparing it with sent emails. */
  readonly copy: CopyContent;
}

export interface RecordPorts {
  readonly store: Pick<InboundStore, 'recordInbound'>;
  readonly blobs: Pick<BlobStore, 'put' | 'delete'>;
  readonly openFile: (path: string, range?: ByteRange) => AsyncIterable<Buffer>;
  readonly ids: IdSource;
  readonly clock: Clock;
  readonly logger: Logger;
}

export const wasReceived = ({ direction }: KnownEmail): boolean => direction === 'inbound';

export async function readFiles(
  ports: RecordPorts,
  { accountId, id, raw, message }: Arrival,
  folder: SpoolFolder,
): Promise<ReadFiles> {
  const inputs = await readReceivedAttachments(ports, raw, message.attachments, folder);
  const attachments = await prepareAttachments(ports, accountId, id, inputs);
  const digests = attachments.map(({ stored }) => stored.sha256);
  return { inputs, attachments, copy: toCopyContent(message, digests) };
}

/** Stores the files, then records the email. If another request recorded it meanwhile, the files are deleted again. */
export async function record(
  ports: RecordPorts,
  {
    id,
    accountId,
    account,
    raw,
    location,
    isSentCopy,
    isRead,
    source,
    cameAt,
    authentication,
    identity,
    content,
    key,
    sharedKey,
    reading,
    absence,
  }: Arrival,
  { attachments }: ReadFiles,
): Promise<InboundResult> {
  if (location.rawPath !== null) await ports.blobs.put(location.rawPath, raw, 'message/rfc822');
  for (const file of attachments) {
    await ports.blobs.put(file.stored.storagePath, file.content, file.stored.contentType);
  }
  const result = await ports.store.recordInbound({
    id,
    accountId,
    isSentCopy,
    // Statistics of other servers about our mail are no work.
    isRead: isRead || reading.automatic?.kind === 'report',
    newThreadId: ports.ids.uuid(),
    ...reading,
    identity,
    identityKey: key,
    sharedKey,
    ...content,
    receivedBy: source,
    tookMs: isSentCopy ? null : timeOf(cameAt, ports.clock()),
    authentication,
    absence,
    bySubject: bySubjectOf(account, identity.subject),
    attachments: attachments.map(({ stored }) => stored),
    ...location,
  });
  if (result.kind === 'known') {
    // They have this email's id in their path, so no other record needs them.
    const files = attachments.map(({ stored }) => stored.storagePath);
    await deleteFiles(ports, location.rawPath === null ? files : [...files, location.rawPath]);
  }
  return result;
}

/** Older mail was put into its mailbox from elsewhere: reading a mailbox is never this late unless it is broken. */
const LONGEST_MS = 7 * 24 * 3_600_000;

function timeOf(cameAt: Date, now: Date): number | null {
  const ms = tookMs(cameAt, now);
  return ms > LONGEST_MS ? null : ms;
}

function bySubjectOf(account: Account, subject: string): InboundRecord['bySubject'] {
  const windowDays = account.joinBySubjectDays ?? null;
  const key = windowDays === null ? null : subjectKeyOf(subject);
  if (windowDays === null || key === null) return null;
  return { key, isReply: readBaseSubject(subject).isReply, windowDays };
}
