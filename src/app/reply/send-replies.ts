/** Replies and forwards: made of the email that they answer, then sent like any other. */
import { ServiceError } from '../../core/errors.ts';
import { formatMessageId } from '../../core/message/message-id.ts';
import { addrSpec, quote as quoted } from '../../core/address/address.ts';
import { parseAddressList } from '../../core/address/address-list.ts';
import { isContentType } from '../../core/mime/compose/content-type.ts';
import { makeQuote, type Quote } from '../../core/reply/quote.ts';
import { replyRecipients, type ReplyRecipients } from '../../core/reply/reply-recipients.ts';
import { replySubject } from '../../core/reply/reply-subject.ts';
import { withQuote } from '../../core/reply/with-quote.ts';
import type { Account } from '../base/basics.ts';
import { MAX_SENT_SUBJECT_CHARS } from '../base/limits.ts';
import type { AddressView, AttachmentView, EmailDetail, EmailStore } from '../emails/email-ports.ts';
import { isReference } from '../send/take-references.ts';
import type { AttachmentInput } from '../emails/prepare-attachments.ts';
import { sizeOf } from '../files/content.ts';
import type { BlobStore, SpoolFolder } from '../files/file-ports.ts';
import { fillIn } from '../send/fill-in.ts';
import { fingerprintSend } from '../send/fingerprint-send.ts';
import { asksForQueue } from '../send/queue-request.ts';
import type { KeyedSend } from '../send/send-once.ts';
import type { SendOnceResult, SendRequest, SendResult } from '../send/use-cases.ts';
import type { FillTemplate } from '../templates/fill-template.ts';
import type { ReplyOptions, ReplyRequest, ReplyUseCases } from './use-cases.ts';

export interface ReplyPorts {
  readonly accounts: ReadonlyMap<string, Account>;
  readonly emails: Pick<EmailStore, 'readEmail'>;
  readonly blobs: Pick<BlobStore, 'get'>;
  readonly openFile: (path: string) => AsyncIterable<Buffer>;
  readonly fillTemplate: FillTemplate;
  /** Both take over the folder. */
  readonly send: (request: SendRequest, folder: SpoolFolder, emailId?: string) => Promise<SendResult>;
  readonly sendOnce: (key: string, send: KeyedSend, folder: SpoolFolder) => Promise<SendOnceResult>;
}

interface Replies extends ReplyUseCases {
  /** @param emailId that its email is to have */
  sendReply(request: ReplyRequest, folder: SpoolFolder, emailId?: string): Promise<SendResult>;
}

export function createReplies(ports: ReplyPorts): Replies {
  async function read(id: string): Promise<EmailDetail> {
    const email = await ports.emails.readEmail(id);
    if (email === null) throw new ServiceError('email_not_found');
    return email;
  }

  async function send(request: ReplyRequest, folder: SpoolFolder, emailId?: string): Promise<SendResult> {
    let message: SendRequest;
    try {
      message = await toSend(ports, request, await read(request.emailId), folder);
    } catch (error) {
      await folder.remove();
      throw error;
    }
    return ports.send(message, folder, emailId);
  }

  return {
    async previewReply(options) {
      const email = await read(options.emailId);
      const quote = quoteOf(email, options);
      return {
        emailId: email.id,
        kind: options.kind,
        accountId: email.accountId,
        threadId: email.threadId,
        inReplyTo: email.messageId,
        ...recipientsOf(ports, email, options),
        subject: subjectOf(email, options),
        quoteText: quote.text,
        quoteHtml: quote.html,
        isQuoteCut: quote.isCut,
        attachments: options.kind === 'forward' ? email.attachments : [],
      };
    },

    sendReply: send,

    sendReplyOnce(key, request, folder) {
      const { message, maxFileBytes: _bytes, maxFiles: _files, ...asked } = request;
      const keyed: KeyedSend = {
        queued: asksForQueue(message),
        // Not of what is made of it: the email may be read anew, or change its thread, between two requests.
        fingerprint: () => fingerprintSend(ports, { ...message, ...asked }),
        send: (own, emailId) => send(request, own, emailId),
      };
      return ports.sendOnce(key, keyed, folder);
    },
  };
}

async function toSend(
  ports: ReplyPorts,
  request: ReplyRequest,
  email: EmailDetail,
  folder: SpoolFolder,
): Promise<SendRequest> {
  // The subject of an answer is that of the email, whatever the template says.
  const message = await fillIn(ports.fillTemplate, request.message, email.accountId);
  const derived = recipientsOf(ports, email, request);
  const files = request.kind === 'forward' && request.withFiles ? email.attachments : [];
  refuseTooMuch(request, files);
  const attachments = [...message.attachments];
  for (const file of files) attachments.push(await takeAlong(ports, file, folder));
  return {
    ...message,
    to: message.to ?? derived.to.map(formatMailbox),
    // A caller that names its own recipients wants no others.
    cc: message.cc ?? (message.to === null ? derived.cc.map(formatMailbox) : []),
    subject: message.subject ?? subjectOf(email, request),
    ...(request.quote ? withQuote(message, quoteOf(email, request)) : {}),
    attachments,
    accountId: email.accountId,
    threadId: email.threadId,
    inReplyTo: formatMessageId(email.messageId),
    answeredEmailId: email.id,
  };
}

function quoteOf(email: EmailDetail, options: ReplyOptions): Quote {
  return makeQuote(
    { ...email, safeHtml: null },
    { ...options, kind: options.kind === 'forward' ? 'forward' : 'reply' },
  );
}

function subjectOf(email: EmailDetail, { kind }: ReplyOptions): string {
  return replySubject(email.subject, kind === 'forward' ? 'forward' : 'reply', MAX_SENT_SUBJECT_CHARS);
}

function recipientsOf(ports: ReplyPorts, email: EmailDetail, { kind }: ReplyOptions): ReplyRecipients {
  if (kind === 'forward') return { to: [], cc: [] };
  const own = new Set([...ports.accounts.values()].map(({ from }) => addrSpec(from).toLowerCase()));
  const usable = (list: readonly AddressView[]) => list.filter(isUsable);
  return replyRecipients(
    {
      ...email,
      replyTo: usable(email.replyTo),
      to: usable(email.to),
      cc: usable(email.cc),
    },
    { toAll: kind === 'reply_all', own },
  );
}

/** A received header may hold what is no address; one such recipient must not stop an answer to the others. */
function isUsable(mailbox: AddressView): boolean {
  try {
    return parseAddressList(formatMailbox(mailbox), 'to').length === 1;
  } catch (error) {
    if (error instanceof ServiceError) return false;
    throw error;
  }
}

function formatMailbox({ name, address }: AddressView): string {
  return name === '' ? address : `${quoted(name)} <${address}>`;
}

/** Before any file is fetched. */
function refuseTooMuch(request: ReplyRequest, files: readonly AttachmentView[]): void {
  const given = request.message.attachments;
  const count = given.length + files.length;
  const bytes =
    given.reduce((sum, { content }) => sum + (isReference(content) ? 0 : sizeOf(content)), 0) +
    files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  if (count > request.maxFiles || bytes > request.maxFileBytes) {
    throw new ServiceError('attachments_too_large', { values: { limit: request.maxFileBytes } });
  }
}

/** Through a file of the spool, never through memory: the new email has a copy of its own, whatever becomes of the other. */
async function takeAlong(
  { blobs }: ReplyPorts,
  { filename, contentType, storagePath }: AttachmentView,
  folder: SpoolFolder,
): Promise<AttachmentInput> {
  const stream = await blobs.get(storagePath);
  if (stream === null) {
    throw new ServiceError('content_missing', { cause: new Error(`no file ${storagePath}`) });
  }
  const name = filename.trim() === '' ? NAMELESS : filename;
  return {
    filename: name,
    // A received part may say anything of its type.
    contentType: isContentType(contentType) ? contentType : null,
    content: await folder.write(stream),
  };
}

/** What a file is called that came without a name. */
const NAMELESS = 'attachment';
