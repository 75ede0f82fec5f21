/** Replies and forwards: built from the email that they answer, then sent like any other. */
import { ServiceError } from '../../core/errors.ts';
import { formatMessageId } from '../../core/message/message-id.ts';
import { answeringIdentity, isNamedBy, type Identity } from '../../core/accounts/sender-addresses.ts';
import { addrSpec, formatMailbox, type Address } from '../../core/address/address.ts';
import { parseAddressList } from '../../core/address/address-list.ts';
import { MAX_FORWARD_HTML_CHARS, MAX_QUOTE_HTML_CHARS } from '../../core/reply/limits.ts';
import { makeForward, makeQuote, type Quote } from '../../core/reply/quote.ts';
import { replyRecipients, type ReplyRecipients } from '../../core/reply/reply-recipients.ts';
import { replySubject } from '../../core/reply/reply-subject.ts';
import { withForward, withQuote, type Written } from '../../core/reply/with-quote.ts';
import type { Account } from '../../platform/base/basics.ts';
import { MAX_SENT_SUBJECT_CHARS } from '../../platform/base/limits.ts';
import { ownAddressesIn } from '../../platform/base/own-addresses.ts';
import type { AttachmentView, EmailDetail, EmailStore } from '../emails/email-ports.ts';
import type { AddressView } from '../../core/address/address-view.ts';
import { isReference } from '../send/take-references.ts';
import { sizeOf } from '../../platform/files/content.ts';
import type { SpoolFolder } from '../../platform/files/file-ports.ts';
import { fillIn } from '../send/fill-in.ts';
import { fingerprintSend } from '../send/fingerprint-send.ts';
import { asksForQueue } from '../send/queue-request.ts';
import type { KeyedSend } from '../send/send-once.ts';
import type { CheckedEmail, SendOnceResult, SendRequest, SendResult } from '../send/use-cases.ts';
import type { FillTemplate } from '../templates/fill-template.ts';
import { answerInvitation } from './answer-invitation.ts';
import {
  forwardedHtml,
  imagesOfForward,
  imagesOfReply,
  quotedText,
  quoteHtml,
  takenAlong,
  type QuotedHtml,
  type QuotePorts,
} from './quote-html.ts';
import type { ReplyOptions, ReplyRequest, ReplyUseCases } from './use-cases.ts';

export interface ReplyPorts extends QuotePorts {
  readonly accounts: ReadonlyMap<string, Account>;
  readonly emails: Pick<EmailStore, 'readEmail'>;
  readonly openFile: (path: string) => AsyncIterable<Buffer>;
  readonly fillTemplate: FillTemplate;
  /** Both take over the folder. */
  readonly send: (request: SendRequest, folder: SpoolFolder, emailId?: string) => Promise<SendResult>;
  readonly sendOnce: (key: string, send: KeyedSend, folder: SpoolFolder) => Promise<SendOnceResult>;
  readonly check: (request: SendRequest, folder: SpoolFolder) => Promise<CheckedEmail>;
}

interface Replies extends ReplyUseCases {
  /** @param emailId of the new email */
  sendReply(request: ReplyRequest, folder: SpoolFolder, emailId?: string): Promise<SendResult>;
}

export function createReplies(ports: ReplyPorts): Replies {
  async function read(id: string): Promise<EmailDetail> {
    const email = await ports.emails.readEmail(id);
    if (email === null) throw new ServiceError('email_not_found');
    return email;
  }

  async function toMessage(request: ReplyRequest, folder: SpoolFolder): Promise<SendRequest> {
    try {
      return await toSend(ports, request, await read(request.emailId));
    } catch (error) {
      await folder.remove();
      throw error;
    }
  }

  const send = async (request: ReplyRequest, folder: SpoolFolder, emailId?: string): Promise<SendResult> =>
    ports.send(await toMessage(request, folder), folder, emailId);

  return {
    async previewReply(options) {
      const email = await read(options.emailId);
      // A page has no place for the files of an answer that is not sent yet.
      const quoted = await quoteHtml(ports.makeSafe, email, [], options.authorKeyId);
      const shown = await shownPart(ports, email, options, quoted, options.authorKeyId);
      const quote = quoteOf(shown, options, quoted?.html ?? null);
      return {
        emailId: email.id,
        kind: options.kind,
        accountId: email.accountId,
        threadId: email.threadId,
        inReplyTo: email.messageId,
        from: shownFrom(ports, email),
        ...recipientsOf(ports, email, options),
        subject: subjectOf(email, options),
        quoteText: quote.text,
        quoteHtml: quote.html,
        isQuoteCut: quote.isCut,
        attachments: options.kind === 'forward' ? email.attachments : [],
      };
    },

    sendReply: send,
    checkReply: async (request, folder) => ports.check(await toMessage(request, folder), folder),

    sendReplyOnce(key, request, folder) {
      const { message, maxFileBytes: _bytes, maxFiles: _files, ...asked } = request;
      const keyed: KeyedSend = {
        queued: asksForQueue(message),
        // Not of the resulting message: the email may be parsed anew, or change its thread, between two requests.
        fingerprint: () => fingerprintSend(ports, { ...message, ...asked }),
        send: (own, emailId) => send(request, own, emailId),
      };
      return ports.sendOnce(key, keyed, folder);
    },
  };
}

async function toSend(ports: ReplyPorts, request: ReplyRequest, email: EmailDetail): Promise<SendRequest> {
  const { invitation } = request;
  if (invitation !== undefined) {
    const account = ports.accounts.get(email.accountId);
    if (account === undefined)
      throw new ServiceError('unknown_account', { values: { value: email.accountId } });
    return {
      ...request.message,
      isByPerson: false,
      ...answerInvitation(email, account, invitation, request.language),
    };
  }
  // The subject of an answer is that of the email, whatever the template contains.
  const message = await fillIn(ports.fillTemplate, request.message, email.accountId);
  const derived = recipientsOf(ports, email, request);
  const files = request.kind === 'forward' && request.withFiles ? email.attachments : [];
  const room = refuseTooMuch(request, files);
  const written = { textBody: message.textBody, htmlBody: message.htmlBody };
  const isForward = request.kind === 'forward';
  // An answer in plain text quotes plain text; a forward is the email as it was, whatever words stand before it.
  const isText = message.htmlBody === null && message.textBody !== null && !isForward;
  const candidates = files.length > 0 ? imagesOfForward(email) : imagesOfReply(email, room);
  const quoted = !request.quote || isText ? null : await quotedOf(ports, email, candidates, request);
  const images = quoted?.images ?? NO_IMAGES;
  const shown = request.quote ? await shownPart(ports, email, request, quoted, message.authorKeyId) : email;
  const taken = files.length > 0 ? files : [...images.keys()];
  return {
    ...message,
    to: message.to ?? derived.to.map(formatMailbox),
    // A caller that names its own recipients wants no others.
    cc: message.cc ?? (message.to === null ? derived.cc.map(formatMailbox) : []),
    subject: message.subject ?? subjectOf(email, request),
    ...written,
    // Signature and footer come between.
    ...(request.quote ? { addBelow: (own: Written) => withAnswered(own, shown, request, quoted) } : {}),
    attachments: [...message.attachments, ...taken.map((file) => takenAlong(file, images))],
    from: message.from ?? answeringFrom(ports, email),
    accountId: email.accountId,
    threadId: email.threadId,
    inReplyTo: formatMessageId(email.messageId),
    answeredEmailId: email.id,
    isByPerson: false,
  };
}

const NO_IMAGES: ReadonlyMap<AttachmentView, string> = new Map();

/** null when only the text can be quoted. A forward has the HTML as it was, where it can be sent so. */
async function quotedOf(
  ports: ReplyPorts,
  email: EmailDetail,
  candidates: readonly AttachmentView[],
  { kind, message }: ReplyRequest,
): Promise<QuotedHtml | null> {
  const isForward = kind === 'forward';
  const taken = message.attachments.flatMap(({ contentId }) => contentId ?? []);
  const whole = isForward ? await forwardedHtml(ports, email, candidates, taken, message.authorKeyId) : null;
  const quoted =
    whole ?? (await quoteHtml(ports.makeSafe, email, candidates, message.authorKeyId, isForward));
  return quoted === null || quoted.html.length > (isForward ? MAX_FORWARD_HTML_CHARS : MAX_QUOTE_HTML_CHARS)
    ? null
    : quoted;
}

function withAnswered(
  written: Written,
  email: EmailDetail,
  request: ReplyRequest,
  quoted: QuotedHtml | null,
): Written {
  if (request.kind !== 'forward') return withQuote(written, quoteOf(email, request, quoted?.html ?? null));
  return withForward(written, makeForward(email, request), quoted);
}

/** An answer has what its reader was shown; a forward is the email as it was. */
async function shownPart(
  ports: ReplyPorts,
  email: EmailDetail,
  { kind }: ReplyOptions,
  quoted: QuotedHtml | null,
  authorKeyId: string | null | undefined,
): Promise<EmailDetail> {
  return kind === 'forward'
    ? email
    : { ...email, textBody: await quotedText(ports, email, quoted, authorKeyId) };
}

function quoteOf(email: EmailDetail, options: ReplyOptions, safeHtml: string | null): Quote {
  const kind = options.kind === 'forward' ? 'forward' : 'reply';
  return makeQuote({ ...email, safeHtml }, { ...options, kind });
}

function subjectOf(email: EmailDetail, { kind }: ReplyOptions): string {
  return replySubject(email.subject, kind === 'forward' ? 'forward' : 'reply', MAX_SENT_SUBJECT_CHARS);
}

function recipientsOf(ports: ReplyPorts, email: EmailDetail, { kind }: ReplyOptions): ReplyRecipients {
  if (kind === 'forward') return { to: [], cc: [] };
  const isOwn = ownAddressesIn(ports.accounts);
  const account = ports.accounts.get(email.accountId);
  const isSelf = (address: string) => account !== undefined && isNamedBy(account, address);
  const usable = (list: readonly AddressView[]) => list.filter(isUsable);
  return replyRecipients(
    {
      ...email,
      replyTo: usable(email.replyTo),
      to: usable(email.to),
      cc: usable(email.cc),
    },
    { toAll: kind === 'reply_all', isOwn, isSelf },
  );
}

/** The sender of an answer. */
function shownFrom(ports: ReplyPorts, email: EmailDetail): AddressView | null {
  const account = ports.accounts.get(email.accountId);
  if (account === undefined) return null;
  const from = answeringIdentityOf(account, email)?.from ?? account.from;
  return { name: from.name, address: addrSpec(from) };
}

function answeringFrom({ accounts }: ReplyPorts, email: EmailDetail): string | null {
  const identity = answeringIdentityOf(accounts.get(email.accountId), email);
  return identity === null ? null : addrSpec(identity.from);
}

/** The address of the account that the email was written to, or that wrote it; null: its usual one. */
function answeringIdentityOf(account: Account | undefined, email: EmailDetail): Identity | null {
  // Most accounts have one address.
  if (account?.addresses === undefined || account.addresses.length === 0) return null;
  const named = email.direction === 'outbound' ? [email.from] : [...email.to, ...email.cc];
  return answeringIdentity(account, named.flatMap(toAddresses));
}

function toAddresses({ address }: AddressView): readonly Address[] {
  try {
    return parseAddressList(address, 'from');
  } catch (error) {
    if (error instanceof ServiceError) return [];
    throw error;
  }
}

/** A received header may hold an invalid address; one such recipient must not stop an answer to the others. */
function isUsable(mailbox: AddressView): boolean {
  try {
    return parseAddressList(formatMailbox(mailbox), 'to').length === 1;
  } catch (error) {
    if (error instanceof ServiceError) return false;
    throw error;
  }
}

/** Checked before any file is fetched; returns the room that is left. */
function refuseTooMuch(
  request: ReplyRequest,
  files: readonly AttachmentView[],
): { readonly files: number; readonly bytes: number } {
  const given = request.message.attachments;
  const count = given.length + files.length;
  const bytes =
    given.reduce((sum, { content }) => sum + (isReference(content) ? 0 : sizeOf(content)), 0) +
    files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  if (count > request.maxFiles || bytes > request.maxFileBytes) {
    throw new ServiceError('attachments_too_large', { values: { limit: request.maxFileBytes } });
  }
  return { files: request.maxFiles - count, bytes: request.maxFileBytes - bytes };
}
