/** Checks, places and composes a requested email: every step before anything is written or handed over. */
import { parseAddressList } from '../../core/address/address-list.ts';
import { addrSpec, dedupeAddresses, type Address } from '../../core/address/address.ts';
import type { Footer } from '../../core/accounts/closing.ts';
import { hasFooter, htmlOf, withClosing } from '../../core/reply/with-closing.ts';
import { formatReply } from '../../core/calendar/compose-answer.ts';
import { automaticExchange } from '../../core/delivery/loop-guard.ts';
import { invalidRequest, ServiceError } from '../../core/errors.ts';
import { withOtherMistakes } from '../../core/mistakes.ts';
import { subjectKeyOf } from '../../core/message/base-subject.ts';
import { createMessageId, isMadeUpMessageId, type MessageId } from '../../core/message/message-id.ts';
import { buildReferences } from '../../core/message/references.ts';
import { nextThreadIndex } from '../../core/message/thread-index.ts';
import type { CustomHeader } from '../../core/message/custom-headers.ts';
import { composeMessage, composeMessageStream, type Draft } from '../../core/mime/compose/compose.ts';
import { dkimFields, type DkimSigning } from '../../core/mime/compose/dkim-signature.ts';
import { meetingKeyOfSend } from '../../core/thread/meeting-points.ts';
import {
  placeOutbound,
  type OutboundPlacement,
  type PlacementFacts,
} from '../../core/thread/place-outbound.ts';
import { refuseMovedOn } from '../../core/thread/refuse-moved-on.ts';
import type { SendRequest } from './use-cases.ts';
import type { Account, Clock, IdSource, Logger } from '../../platform/base/basics.ts';
import type { BlobStore, Content, SpoolFolder } from '../../platform/files/file-ports.ts';
import type { Envelope } from './transport-ports.ts';
import type { UnrecordedEmail } from './journal-ports.ts';
import type { Placement } from '../emails/email-ports.ts';
import type { StoredAttachment } from '../../platform/files/stored-attachment.ts';
import { COMPOSE_IN_MEMORY_MAX_BYTES, MAX_TEXT_ALTERNATIVE_CHARS } from '../../platform/base/limits.ts';
import { prepareAttachments } from '../emails/prepare-attachments.ts';
import { readContent } from '../../platform/files/content.ts';
import { askerOf, type MessageReader } from '../../platform/reading/reading-ports.ts';
import { fillIn, refuseLongSubject } from './fill-in.ts';
import { readAdditions, readInReplyTo } from './read-additions.ts';
import { markInlineImages } from './inline-images.ts';
import { fillSignature } from './closing.ts';
import { senderOf, signingFor, type ChosenSender } from './sender.ts';
import { takeReferences, type FileFinder } from './take-references.ts';
import { asksForQueue, readQueuePlace, readSendAt } from './queue-request.ts';
import type { OutboundRecord, OutboundStore } from './outbound-ports.ts';
import type { RetryPolicy } from './queue-ports.ts';
import { noteContentMistakes } from './content-mistakes.ts';
import { refuseLoop, type LoopGuardPorts } from './refuse-loop.ts';
import type { SuppressionList } from './suppressions.ts';
import type { FillTemplate } from '../templates/fill-template.ts';
import type { Unsubscribing } from '../unsubscribes/unsubscribes.ts';
import { toStorable } from '../../core/storable-text.ts';

export interface PrepareSendPorts extends LoopGuardPorts {
  readonly accounts: ReadonlyMap<string, Account>;
  readonly defaultAccountId: string;
  readonly store: Pick<OutboundStore, 'readPlacementFacts' | 'readNewer'>;
  readonly retry: RetryPolicy;
  /** HTML may quote any received content. */
  readonly reader: MessageReader;
  readonly openFile: (path: string) => AsyncIterable<Buffer>;
  /** Finds files that a send refers to. */
  readonly files: FileFinder;
  readonly blobs: Pick<BlobStore, 'get'>;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  /** To, cc and bcc together. */
  readonly maxRecipients: number;
  readonly suppressions: Pick<SuppressionList, 'refuseSuppressed'>;
  readonly unsubscribing: Pick<Unsubscribing, 'linksOf'>;
  readonly fillTemplate: FillTemplate;
}

/** An email that may be handed over, or put into the queue. */
export interface PreparedSend {
  readonly email: UnrecordedEmail;
  readonly envelope: Envelope;
}

/**
 * The parts of a queued email that stay when it is composed again. Its caller passes its account, thread and In-Reply-To,
 * too.
 */
export interface ComposedBefore {
  readonly threadId: string;
  readonly placement: Placement;
  readonly messageId: MessageId;
  readonly inReplyTo: readonly MessageId[];
  readonly references: readonly MessageId[];
  /** Base64; null for none. */
  readonly threadIndex: string | null;
  readonly from: Address;
  readonly exchangeWith: string | null;
  /** The time of sending unless the request names another one; null: now. */
  readonly dueAt: Date | null;
  /** The prefix for the names of its files in storage: its current files stay until the new ones are recorded. */
  readonly filePrefix: string;
  /** Its body is another one, and the footer has to be in it. */
  readonly keepsFooter: boolean;
}

/** Bytes of the unguessable part of a Message-ID: a stranger can't get into a thread by guessing one. */
const MESSAGE_ID_RANDOM_BYTES = 16;

/**
 * Throws ServiceError for every mistake that a caller can make. Writes only to `folder`.
 *
 * @param before of an existing email
 */
export async function prepareSend(
  ports: PrepareSendPorts,
  asked: SendRequest,
  folder: SpoolFolder,
  id: string,
  before: ComposedBefore | null = null,
): Promise<PreparedSend> {
  try {
    return await prepare(ports, asked, folder, id, before);
  } catch (error) {
    throw withOtherMistakes(error, (mistakes) => {
      noteContentMistakes(asked, mistakes);
      mistakes.check(() => readSendAt(asked.sendAt, ports.clock()));
    });
  }
}

async function prepare(
  ports: PrepareSendPorts,
  asked: SendRequest,
  folder: SpoolFolder,
  id: string,
  before: ComposedBefore | null,
): Promise<PreparedSend> {
  const recipients = readRecipients(asked, ports.maxRecipients);
  const refused = ports.suppressions.refuseSuppressed([
    ...recipients.to,
    ...recipients.cc,
    ...recipients.bcc,
  ]);
  // Only addresses that may be suppressed wait for the database; any other send waits for nothing.
  if (refused !== null) await refused;
  refuseLongSubject(asked);
  const inReplyTo = readInReplyTo(asked.inReplyTo);
  const additions = readAdditions(asked);
  const placement = await place(ports, asked, recipients, inReplyTo);
  if (asked.ifNewest !== undefined) await refuseOvertaken(ports, placement, asked.ifNewest);
  const { threadId, placement: reason } = before ?? {
    threadId: placement.threadId,
    placement: { rule: placement.rule, matchedMessageId: placement.matchedMessageId },
  };
  const account = accountOf(ports, placement.accountId);
  const sender =
    before === null
      ? senderOf(account, asked.from ?? null)
      : { from: before.from, replyTo: [], signature: null };
  refuseHalted(account, before !== null || asksForQueue(asked));
  // The template can be filled in only once the account is known.
  const filled = asked.template === null ? asked : await fillIn(ports.fillTemplate, asked, account.id);
  const exchangeWith = automaticExchange({
    autoSubmitted: filled.autoSubmitted,
    recipients: [...recipients.to, ...recipients.cc, ...recipients.bcc],
    automaticFrom: placement.parent?.automaticFrom ?? [],
  });
  // An existing email is already counted.
  if (exchangeWith !== null && exchangeWith !== before?.exchangeWith)
    await refuseLoop(ports, account.id, exchangeWith);

  const from = additions.fromName === null ? sender.from : { ...sender.from, name: additions.fromName };
  const replyTo = additions.replyTo.length > 0 ? additions.replyTo : sender.replyTo;
  const footer = footerOf(account, filled, placement);
  const bodies =
    before === null
      ? await closed(ports, filled, account, sender, footer)
      : await completed(ports, filled, before, account);
  const request = { ...filled, ...bodies };
  const list = request.unsubscribeList;
  const everyone = [...recipients.to, ...recipients.cc, ...recipients.bcc];
  if (list !== null) refuseOwnLink(additions.headers);
  const unsubscribe =
    list === null
      ? null
      : await ports.unsubscribing.linksOf({
          accountId: account.id,
          address: account.receives === true ? account.from : null,
          emailId: id,
          list,
          recipients: everyone,
        });

  const now = ports.clock();
  const sendAt = readSendAt(request.sendAt, now) ?? before?.dueAt ?? null;
  const queuePlace = readQueuePlace(request, placement.rule);
  const given = markInlineImages(request.attachments, request.htmlBody);
  const files = await takeReferences(ports, account.id, given, folder);
  const attachments = await prepareAttachments(ports, account.id, id, files, before?.filePrefix);
  const textBody = request.textBody ?? (await toText(ports, request.htmlBody ?? '', request.authorKeyId));
  // RFC 5322 §3.3 has no fractions of a second; the record must equal the header.
  const date = new Date(Math.floor((sendAt ?? now).getTime() / 1000) * 1000);
  const threadIndex =
    before === null
      ? nextThreadIndex({
          parent: placement.parent?.threadIndex ?? null,
          threadId,
          date,
          random: ports.ids.randomBytes(1)[0] ?? 0,
        })
      : before.threadIndex;
  const links = before ?? linksTo(placement);
  const invitation = request.invitation ?? null;
  const draft: Draft = {
    messageId:
      before?.messageId ?? createMessageId(ports.ids.randomBytes(MESSAGE_ID_RANDOM_BYTES), now, from.domain),
    date,
    from,
    to: recipients.to,
    cc: recipients.cc,
    replyTo,
    subject: request.subject,
    textBody: request.textBody ?? textAlternative(textBody),
    htmlBody: request.htmlBody,
    inReplyTo: links.inReplyTo,
    references: links.references,
    threadIndex,
    attachments: attachments.map(({ stored, content }) => ({
      filename: stored.filename,
      contentType: stored.contentType,
      content,
      contentId: stored.contentId,
      inline: stored.inline,
    })),
    calendar: invitation === null ? null : { method: 'REPLY', text: formatReply(invitation, date) },
    autoSubmitted: request.autoSubmitted,
    headers: additions.headers,
    unsubscribeUrl: unsubscribe?.url ?? null,
    unsubscribeMailto: unsubscribe?.mailto ?? null,
    boundarySeed: ports.ids.randomBytes(MESSAGE_ID_RANDOM_BYTES).toString('hex'),
  };
  const signing = signingFor(ports.accounts, account, from);
  const raw = await compose(ports, draft, folder, signing === null ? null : { ...signing, signedAt: now });

  const email: UnrecordedEmail = {
    record: {
      id,
      accountId: account.id,
      threadId,
      placement: reason,
      messageId: draft.messageId,
      inReplyTo: draft.inReplyTo,
      references: draft.references,
      threadIndex,
      from: draft.from,
      ...recipients,
      subject: request.subject,
      textBody,
      htmlBody: request.htmlBody,
      date: draft.date,
      customerId: request.customerId,
      companyId: request.companyId,
      attachments: attachments.map(({ stored }): StoredAttachment => stored),
      ...(invitation === null ? {} : { invitation: { ...invitation, stamp: date.toISOString() } }),
      autoSubmitted: request.autoSubmitted,
      ...additions.recorded,
      replyTo,
      exchangeWith,
      ...(list === null ? {} : { unsubscribeList: list }),
      ...(footer === null ? {} : { hasFooter: true }),
      authorKeyId: request.authorKeyId ?? null,
      ...(request.isByPerson === true ? { isByPerson: true } : {}),
      ...askedByAccount(account, request.subject),
    },
    raw,
    attachments: attachments.map(({ content }): Content => content),
    queue: {
      ...queuePlace,
      dueAt: sendAt,
      dueInMs: 0,
      timedFrom: sendAt ?? now,
      giveUpAfterMs: ports.retry.schedule.giveUpAfterMs,
    },
  };
  return { email, envelope: { ...envelopeOf(from, recipients), envelopeId: draft.messageId } };
}

type Bodies = Pick<SendRequest, 'textBody' | 'htmlBody'>;

/** null: the email goes out without. An automatic answer is no letter of the company; what a program sends of its own, such as an invoice, is. */
function footerOf(
  { footer = null }: Account,
  { footer: isAsked = true, autoSubmitted }: SendRequest,
  { hasFooter }: OutboundPlacement,
): Footer | null {
  if (footer === null || !isAsked || autoSubmitted === 'auto-replied') return null;
  return footer.oncePerThread && hasFooter ? null : footer;
}

/** With signature and footer, and below them the quote. */
async function closed(
  ports: PrepareSendPorts,
  request: SendRequest,
  account: Account,
  { from, signature }: ChosenSender,
  footer: Footer | null,
): Promise<Bodies> {
  const { textBody, htmlBody, addBelow = (written: Bodies) => written } = request;
  const signed =
    request.signature === true ? await fillSignature(ports, signature, request, account, from) : null;
  const parts = [signed, footer].filter((part) => part !== null);
  return addBelow(withClosing({ textBody, htmlBody }, parts));
}

/** A send that is changed is whole already; a new text keeps the footer. */
async function completed(
  ports: PrepareSendPorts,
  request: SendRequest,
  { keepsFooter }: ComposedBefore,
  { footer = null }: Account,
): Promise<Bodies> {
  const { textBody, htmlBody } = request;
  if (footer === null || !keepsFooter) return { textBody, htmlBody };
  const isInText = textBody !== null && hasFooter(textBody, footer.text);
  const isInHtml = htmlBody !== null && (await htmlHasFooter(ports, htmlBody, footer, request.authorKeyId));
  const whole = withClosing({ textBody, htmlBody }, [footer]);
  return {
    textBody: isInText ? textBody : whole.textBody,
    htmlBody: isInHtml ? htmlBody : whole.htmlBody,
  };
}

/** Compared as text, since editors write HTML anew. */
async function htmlHasFooter(
  ports: PrepareSendPorts,
  html: string,
  footer: Footer,
  authorKeyId: string | null,
): Promise<boolean> {
  const own = htmlOf(footer);
  const sought = await toText(ports, own, authorKeyId);
  // A picture has no text.
  if (sought.trim() === '') return html.includes(own);
  return hasFooter(await toText(ports, html, authorKeyId), sought);
}

/** Many receivers would ignore two links to unsubscribe. */
function refuseOwnLink(headers: readonly CustomHeader[]): void {
  const own = headers.find(({ name }) => /^list-unsubscribe(?:-post)?$/i.test(name));
  if (own !== undefined)
    throw new ServiceError('header_not_allowed', {
      values: { field: own.name },
      field: `headers.${own.name}`,
    });
}

const linksTo = ({ parent }: OutboundPlacement): Pick<Draft, 'inReplyTo' | 'references'> =>
  parent === null
    ? { inReplyTo: [], references: [] }
    : { inReplyTo: realIds([parent.messageId]), references: realIds(buildReferences(parent)) };

/** A Message-ID that was made up here for an email without one means nothing outside this service. */
const realIds = (ids: readonly MessageId[]) => ids.filter((id) => !isMadeUpMessageId(id));

/** Found here, the mistake costs nothing; what is recorded meanwhile is found by the transaction that records the send. */
async function refuseOvertaken(
  { store }: Pick<PrepareSendPorts, 'store'>,
  { rule, threadId }: OutboundPlacement,
  ifNewest: string,
): Promise<void> {
  if (rule === 'new') throw invalidRequest('only_with', { field: 'if_newest', other: 'thread_id' });
  refuseMovedOn(await store.readNewer(threadId, ifNewest));
}

export interface Recipients {
  readonly to: readonly Address[];
  readonly cc: readonly Address[];
  readonly bcc: readonly Address[];
}

function readRecipients(request: SendRequest, maxRecipients: number): Recipients {
  const read = (field: 'to' | 'cc' | 'bcc') =>
    request[field].flatMap((text) => parseAddressList(text, field));
  const recipients = { to: read('to'), cc: read('cc'), bcc: read('bcc') };
  const count = recipients.to.length + recipients.cc.length + recipients.bcc.length;
  // An empty group (`undisclosed-recipients:;`) is an address list without a recipient.
  if (count === 0) throw new ServiceError('missing_recipient_or_subject', { values: { field: 'to' } });
  refuseTooMany(count, maxRecipients);
  return recipients;
}

/** Throws `too_many_recipients`. */
export function refuseTooMany(count: number, maxRecipients: number): void {
  if (count > maxRecipients)
    throw new ServiceError('too_many_recipients', { values: { limit: maxRecipients } });
}

/** What the settings of the account ask of a record. */
export const askedByAccount = (
  { keepsSentCopies, joinBySubjectDays = null }: Account,
  subject: string,
): Pick<OutboundRecord, 'keepsCopy' | 'subjectKey'> => ({
  ...(keepsSentCopies === true ? { keepsCopy: true } : {}),
  ...(joinBySubjectDays === null ? {} : { subjectKey: subjectKeyOf(subject) }),
});

const NOTHING_KNOWN: PlacementFacts = {
  thread: null,
  newest: null,
  inReplyToWritten: null,
  inReplyToThreadId: null,
  inReplyToReferences: [],
};

type Placed = Pick<SendRequest, 'accountId' | 'threadId' | 'answeredEmailId' | 'ifNewest'>;

export async function place(
  ports: PrepareSendPorts,
  request: Placed,
  recipients: Recipients,
  inReplyTo: MessageId | null,
): Promise<OutboundPlacement> {
  const { from } = accountOf(ports, request.accountId ?? ports.defaultAccountId);
  const query = {
    accountId: request.accountId,
    defaultAccountId: ports.defaultAccountId,
    threadId: request.threadId,
    inReplyTo,
    meetingKey: meetingKeyOfSend({ from, ...recipients }),
    answeredEmailId: request.answeredEmailId ?? null,
    findsFooter: mayHaveFooterOnce(ports, request.accountId),
  };
  // The most common send, a new conversation, asks the database nothing.
  const facts =
    request.threadId === null && inReplyTo === null ? NOTHING_KNOWN : await readFacts(ports, request, query);
  return placeOutbound(query, facts, ports.ids.uuid());
}

/** Only these sends look for an earlier footer. @param accountId null: that of the thread, which is not known yet */
function mayHaveFooterOnce({ accounts }: PrepareSendPorts, accountId: string | null): boolean {
  const isOnce = (account: Account | undefined) => account?.footer?.oncePerThread === true;
  return accountId === null ? [...accounts.values()].some(isOnce) : isOnce(accounts.get(accountId));
}

async function readFacts(
  ports: PrepareSendPorts,
  request: Placed,
  query: Parameters<typeof ports.store.readPlacementFacts>[0],
): Promise<PlacementFacts> {
  try {
    return await ports.store.readPlacementFacts(query);
  } catch (error) {
    // Without the database an explicit thread can't be checked. An answered Message-ID can wait: the email is linked to
    // it when it is stored, and the thread id returned to the caller stays valid as an alias.
    const canWait =
      request.threadId === null &&
      request.ifNewest === undefined &&
      error instanceof ServiceError &&
      error.code === 'database_unavailable';
    if (canWait) return NOTHING_KNOWN;
    throw error;
  }
}

export function accountOf(ports: PrepareSendPorts, accountId: string): Account {
  const account = ports.accounts.get(accountId);
  if (account === undefined) throw new ServiceError('unknown_account', { values: { value: accountId } });
  return account;
}

/** A paused account's queue waits, but no caller does. What can't be used here may lack its DKIM key: it would go out unsigned. */
export function refuseHalted({ id, halt }: Account, isQueued: boolean): void {
  const values = { value: id };
  if (halt === 'unavailable') throw new ServiceError('account_unavailable', { values });
  if (halt === 'paused' && !isQueued) throw new ServiceError('account_paused', { values });
}

/** For programs that show no HTML; null when there is no text, or so much that it would only enlarge the message. */
function textAlternative(text: string): string | null {
  const isWorthSending = text.trim() !== '' && text.length <= MAX_TEXT_ALTERNATIVE_CHARS;
  return isWorthSending ? toStorable(text) : null;
}

/** Empty for HTML that can't be read: the HTML is sent nevertheless, and kept. */
export async function toText(
  { reader, logger }: Pick<PrepareSendPorts, 'reader' | 'logger'>,
  html: string,
  authorKeyId: string | null | undefined,
): Promise<string> {
  const result = await reader.read('html', { html }, askerOf(authorKeyId));
  if (result.kind === 'read') return result.value;
  logger.error(
    { reason: result.reason, detail: result.detail },
    'the HTML of a send could not be converted to text',
  );
  return '';
}

/**
 * Small messages are made in memory; a large one, or one with a file, goes through the spool folder. A signature stands
 * before the message and needs all of it, so a large one is composed once for the signature, and again after it.
 */
async function compose(
  ports: PrepareSendPorts,
  draft: Draft,
  folder: SpoolFolder,
  sign: (DkimSigning & { readonly signedAt: Date }) | null,
): Promise<Content> {
  const inMemoryBytes = draft.attachments.reduce(
    (sum, { content }) => (content.kind === 'bytes' ? sum + content.bytes.length : Infinity),
    (draft.textBody?.length ?? 0) + (draft.htmlBody?.length ?? 0),
  );
  if (inMemoryBytes <= COMPOSE_IN_MEMORY_MAX_BYTES) {
    const bytes = composeMessage(draft);
    if (sign === null) return { kind: 'bytes', bytes };
    const fields = await dkimFields([bytes], sign, sign.signedAt);
    return { kind: 'bytes', bytes: Buffer.concat([Buffer.from(fields, 'latin1'), bytes]) };
  }
  const stream = () => composeMessageStream(draft, (content) => readContent(ports, content));
  if (sign === null) return folder.write(stream());
  return folder.write(withFields(await dkimFields(stream(), sign, sign.signedAt), stream()));
}

export async function* withFields(fields: string, message: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield Buffer.from(fields, 'latin1');
  yield* message;
}

function envelopeOf(from: Address, { to, cc, bcc }: Recipients): Envelope {
  return { mailFrom: addrSpec(from), rcptTo: dedupeAddresses([...to, ...cc, ...bcc]).map(addrSpec) };
}
