/**
 * Changes a send that waits in the queue: its message is composed again, under its Message-ID, and replaces the earlier
 * one in one commit. Until then the files of both exist; afterwards those of the earlier one are deleted.
 */
import { parseAddress } from '../../core/address/address-list.ts';
import { formatMailbox } from '../../core/address/address.ts';
import { invalidRequest, ServiceError } from '../../core/errors.ts';
import { formatMessageId } from '../../core/message/message-id.ts';
import type { EmailDetail } from '../emails/email-ports.ts';
import type { StoredAttachment } from '../../platform/files/stored-attachment.ts';
import { deleteFiles } from '../../platform/files/delete-files.ts';
import type { BlobStore, Content, RecordedRaw, SpoolFolder } from '../../platform/files/file-ports.ts';
import { locationOfRaw } from '../../platform/files/raw-location.ts';
import type { ChangeRefusal, Replacement, WaitingSend, WaitingSends } from './waiting-sends.ts';
import {
  prepareSend,
  toText,
  type ComposedBefore,
  type PreparedSend,
  type PrepareSendPorts,
} from './prepare-send.ts';
import { isReference, type SendAttachment } from './take-references.ts';
import type { SendChange, SendRequest, SendUseCases } from './use-cases.ts';

export interface ChangeSendPorts extends PrepareSendPorts {
  readonly waiting: WaitingSends;
  readonly blobs: Pick<BlobStore, 'get' | 'put' | 'delete'>;
  readonly readEmail: (id: string) => Promise<EmailDetail>;
  /** The files of the earlier message are deleted. */
  readonly requireStorage: () => Promise<void>;
  /** Notifies the queue that something may be due. */
  readonly wakeQueue: () => void;
}

/** Bytes that distinguish the files of one change from those of another. */
const PREFIX_BYTES = 4;

export function createSendChanges(ports: ChangeSendPorts): Pick<SendUseCases, 'changeSend'> {
  return {
    async changeSend(id, version, change, folder, keyId) {
      try {
        const found = await ports.waiting.read(id);
        if (found.kind !== 'waiting') throw refusal(found);
        const { send } = found;
        if (send.version !== version) throw refusal({ kind: 'changed', version: send.version });
        const differing = await withoutSame(ports, send, change, keyId);
        if (Object.keys(differing).length > 0) {
          await replace(ports, { id, send, change: differing, folder, keyId });
        }
      } finally {
        await folder.remove();
      }
      ports.wakeQueue();
      return ports.readEmail(id);
    },
  };
}

type WholeBody = Pick<SendRequest, 'textBody' | 'htmlBody'>;
/** A body is whole, and differs from the current one. */
type Differing = Omit<SendChange, 'body'> & { readonly body?: WholeBody };

/** The change without values that the send has already: what was read and is given back composes no other message. */
async function withoutSame(
  ports: ChangeSendPorts,
  send: WaitingSend,
  { sendAt, subject, body, ...rest }: SendChange,
  authorKeyId: string | null,
): Promise<Differing> {
  const other = body === undefined ? null : otherBody(body, send, await bodyOf(ports, send, authorKeyId));
  return {
    ...rest,
    ...(sendAt === undefined || sendAt?.getTime() === send.dueAt.getTime() ? {} : { sendAt }),
    ...(subject === undefined || subject === send.subject ? {} : { subject }),
    ...(other === null ? {} : { body: other }),
  };
}

/** null: it is the current one. Throws `invalid_request` when one of the two changes, and the other, which exists, is not named. */
function otherBody(
  { textBody, htmlBody }: NonNullable<SendChange['body']>,
  shown: WholeBody,
  own: WholeBody,
): WholeBody | null {
  const hasSameText = textBody === undefined || textBody === shown.textBody;
  const hasSameHtml = htmlBody === undefined || htmlBody === shown.htmlBody;
  if (hasSameText && hasSameHtml) return null;
  if (textBody === undefined && own.textBody !== null) {
    throw invalidRequest('needed_with', { field: 'text_body', other: 'html_body' });
  }
  if (htmlBody === undefined && own.htmlBody !== null) {
    throw invalidRequest('needed_with', { field: 'html_body', other: 'text_body' });
  }
  return {
    textBody: hasSameText ? own.textBody : textBody,
    htmlBody: hasSameHtml ? own.htmlBody : htmlBody,
  };
}

interface Changing {
  readonly id: string;
  readonly send: WaitingSend;
  readonly change: Differing;
  readonly folder: SpoolFolder;
  readonly keyId: string | null;
}

async function replace(ports: ChangeSendPorts, { id, send, change, folder, keyId }: Changing): Promise<void> {
  await ports.requireStorage();
  const request = await toRequest(ports, send, change, keyId);
  const dueAt = change.sendAt === undefined ? send.dueAt : change.sendAt;
  const before = {
    ...toBefore(send, dueAt, `${ports.ids.randomBytes(PREFIX_BYTES).toString('hex')}-`),
    keepsFooter: send.hasFooter && change.body !== undefined,
  };
  const prepared = await prepareSend(ports, request, folder, id, before);
  const written: string[] = [];
  let isAsked = false;
  try {
    const replacement: Replacement = {
      ...(await storeFiles(ports, { send, change, prepared, written })),
      recipients: prepared.envelope.rcptTo,
      hasOtherRecipients: [change.to, change.cc, change.bcc].some((list) => list !== undefined),
      dueAt,
      giveUpAfterMs: prepared.email.queue.giveUpAfterMs,
    };
    isAsked = true;
    const result = await ports.waiting.replace(id, send.version, replacement, keyId);
    if (result.kind !== 'done') throw refusal(result);
    await deleteFiles(ports, result.orphans);
  } catch (error) {
    // After a lost answer the database may have the change and its files; the file cleaner finds out.
    const isRefused = error instanceof ServiceError && !error.temporary;
    if (isRefused || !isAsked) await deleteFiles(ports, written);
    throw error;
  }
}

/** The changed send, as a caller would request it. */
async function toRequest(
  ports: ChangeSendPorts,
  send: WaitingSend,
  change: Differing,
  authorKeyId: string | null,
): Promise<SendRequest> {
  const { subject = send.subject, body = await bodyOf(ports, send, authorKeyId) } = change;
  if (subject.trim() === '')
    throw new ServiceError('missing_recipient_or_subject', { values: { field: 'subject' } });
  if (body.textBody === null && body.htmlBody === null) throw new ServiceError('missing_body');
  const [answered] = send.inReplyTo;
  return {
    to: change.to ?? send.to.map(formatMailbox),
    cc: change.cc ?? send.cc.map(formatMailbox),
    bcc: change.bcc ?? send.bcc.map(formatMailbox),
    subject,
    ...body,
    inReplyTo: answered === undefined ? null : formatMessageId(answered),
    threadId: answered === undefined ? null : send.threadId,
    accountId: send.accountId,
    attachments:
      change.attachments?.map((file) => namedAsBefore(file, send.attachments)) ??
      send.attachments.map(toReference),
    invitation: send.invitation,
    respondAsync: true,
    sendAt: change.sendAt ?? null,
    autoSubmitted: autoSubmittedOf(send),
    replyTo: send.replyTo.map(formatMailbox),
    headers: send.headers,
    unsubscribeList: send.unsubscribeList,
    // These stay in the record and are not part of the message.
    customerId: null,
    companyId: null,
    tags: [],
    metadata: {},
    priority: null,
    lane: null,
    fromName: null,
    template: null,
    authorKeyId,
    isByPerson: false,
  };
}

/** A text that was made from the HTML is made from it again: it is part of the message only when it is short. */
async function bodyOf(
  ports: ChangeSendPorts,
  { textBody, htmlBody }: WaitingSend,
  authorKeyId: string | null,
): Promise<WholeBody> {
  const isMade = htmlBody !== null && (await toText(ports, htmlBody, authorKeyId)) === textBody;
  return { textBody: isMade ? null : textBody, htmlBody };
}

/** A file of the email itself keeps its Content-ID when the caller names it again. */
function namedAsBefore(file: SendAttachment, files: readonly StoredAttachment[]): SendAttachment {
  const { content, contentId = null } = file;
  if (contentId !== null || !isReference(content) || content.kind !== 'attachment') return file;
  const known = files.find(({ id }) => id === content.id);
  return known === undefined ? file : { ...file, contentId: known.contentId };
}

const toReference = ({ id, filename, contentType, contentId }: StoredAttachment): SendAttachment => ({
  filename,
  contentType,
  contentId,
  content: { kind: 'attachment', id },
});

function autoSubmittedOf({ automatic }: WaitingSend): SendRequest['autoSubmitted'] {
  if (automatic === null) return null;
  return automatic.kind === 'auto_reply' ? 'auto-replied' : 'auto-generated';
}

const toBefore = (
  send: WaitingSend,
  dueAt: Date | null,
  filePrefix: string,
): Omit<ComposedBefore, 'keepsFooter'> => ({
  threadId: send.threadId,
  placement: send.placement,
  messageId: send.messageId,
  inReplyTo: send.inReplyTo,
  references: send.references,
  threadIndex: send.threadIndex,
  from: parseAddress(formatMailbox(send.from), 'from'),
  exchangeWith: send.exchangeWith,
  dueAt,
  filePrefix,
});

interface Composed {
  readonly send: WaitingSend;
  readonly change: Differing;
  readonly prepared: PreparedSend;
  /** Collects the path of each file that was stored. */
  readonly written: string[];
}

/** Stores files under new names: a process may be sending the earlier ones. */
async function storeFiles(
  { blobs, ids }: ChangeSendPorts,
  { send, change, prepared: { email }, written }: Composed,
): Promise<Pick<Replacement, 'record' | 'raw' | 'hasOtherFiles'>> {
  const store = async (path: string, content: Content, contentType: string) => {
    written.push(path);
    await blobs.put(path, content, contentType);
  };
  const raw: RecordedRaw = locationOfRaw(email.raw, send.accountId, ids.uuid());
  if (raw.rawPath !== null) await store(raw.rawPath, email.raw, 'message/rfc822');
  const { attachments } = email.record;
  if (change.attachments === undefined) {
    // Only the set of files that the HTML shows may differ.
    const kept = send.attachments.map((file, index) => ({
      ...file,
      inline: attachments[index]?.inline ?? file.inline,
    }));
    const hasOtherFiles = kept.some(({ inline }, index) => inline !== send.attachments[index]?.inline);
    return { record: { ...email.record, attachments: kept }, raw, hasOtherFiles };
  }
  for (const [index, { storagePath, contentType }] of attachments.entries()) {
    const content = email.attachments[index];
    if (content === undefined) throw new Error('a send that is changed lacks the content of an attachment');
    await store(storagePath, content, contentType);
  }
  return { record: email.record, raw, hasOtherFiles: true };
}

function refusal(result: ChangeRefusal): ServiceError {
  switch (result.kind) {
    case 'not_found':
      return new ServiceError('email_not_found');
    case 'fixed':
      return new ServiceError('not_editable');
    case 'changed':
      return new ServiceError('email_changed', { details: String(result.version) });
  }
}
