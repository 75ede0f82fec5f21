/**
 * Reads messages that come back about sent mail: delivery reports (RFC 3464), complaints (RFC 5965), and the free forms of
 * programs that write neither (free-form-bounce.ts). Any sender can forge such a message. Code that acts on one has to
 * find the sent email by `originalMessageIds`, which can't be guessed, and the recipient among those of the sent email.
 */
import { addrSpec } from '../address/address.ts';
import { parseLenientAddressList } from '../address/lenient-address-list.ts';
import { parseMessageId, type MessageId } from '../message/message-id.ts';
import {
  fieldValue,
  fieldValues,
  messageIdOf,
  parseHeaderBlock,
  type HeaderField,
} from '../mime/parse/header-fields.ts';
import { parseMessageIdList } from '../message/references.ts';
import type { ParsedMessage } from '../mime/parse/parsed-message.ts';
import { readAmazonNotice } from './amazon-notice.ts';
import { answerKindOf } from './answer-subject.ts';
import { classifyAutomatic, type AutomaticContext } from './automatic.ts';
import { isFreeFormNotice } from './bounce-notice.ts';
import { MAX_BOUNCE_RECIPIENTS, type BounceRecipient } from './bounce-recipient.ts';
import { isBounceSubject } from './bounce-subject.ts';
import { readDeliveryStatus, readReportFields, reportedAddress } from './delivery-status.ts';
import { readFreeFormBounce, reasonsByRecipient, withReasons } from './free-form-bounce.ts';
import { isReceipt, readRejection } from './rejection.ts';
import { cleanReplyText } from './reply.ts';

export const BOUNCE_KINDS = ['report', 'complaint'] as const;
export const BOUNCE_FORMATS = ['rfc3464', 'rfc5965', 'rfc5429', 'amazon_ses', 'free_form'] as const;

export interface Bounce {
  /** `complaint`: a reader called the message spam (RFC 5965); its recipients have the action `delivered`. */
  readonly kind: (typeof BOUNCE_KINDS)[number];
  readonly format: (typeof BOUNCE_FORMATS)[number];
  /** When the message names no recipient, a single one with an empty address. */
  readonly recipients: readonly BounceRecipient[];
  /** Message-IDs of the sent email, the surest first: of the returned message, then In-Reply-To and References. */
  readonly originalMessageIds: readonly MessageId[];
}

const STATUS_TYPES = new Set(['message/delivery-status', 'message/global-delivery-status']);

/** RFC 5965 §7.3 and RFC 6591: reports that are not complaints of readers. */
const NO_COMPLAINT = new Set(['auth-failure', 'not-spam', 'dmarc']);

const FEEDBACK_TYPE = 'message/feedback-report';

/** A reply's References can be long; the sent email is among the newest. */
const MAX_MESSAGE_IDS = 50;

/** Returned messages whose Message-ID is read. */
const MAX_RETURNED = 10;

/** null for any other message, also for a receipt (RFC 8098) of a message that was read. */
export function readBounce(message: ParsedMessage, context: AutomaticContext = {}): Bounce | null {
  const amazon = readAmazonNotice(message);
  if (amazon !== null) return readAmazon(message, amazon);
  if (isOutlookComplaint(message)) return readComplaint(message, []);
  // Seen in practice: mail programs forward a report part by part.
  if (!isFromProgram(message, context)) return null;
  const feedback = message.reports.find(({ contentType }) => contentType === FEEDBACK_TYPE);
  if (feedback !== undefined) return readComplaint(message, readReportFields(feedback.bytes));
  const statuses = message.reports.filter(({ contentType }) => STATUS_TYPES.has(contentType));
  const recipients = statuses
    .flatMap(({ bytes }) => readDeliveryStatus(bytes))
    .slice(0, MAX_BOUNCE_RECIPIENTS);
  if (recipients.length > 0) {
    return {
      kind: 'report',
      format: 'rfc3464',
      recipients: recipients.some(({ diagnostic }) => diagnostic === '')
        ? withReasons(recipients, reasonsByRecipient(message))
        : recipients,
      originalMessageIds: originalIds(message),
    };
  }
  if (isReceipt(message)) {
    const rejected = readRejection(message);
    if (rejected === null) return null;
    const originalMessageIds = originalIds(message);
    return { kind: 'report', format: 'rfc5429', recipients: [rejected], originalMessageIds };
  }
  if (statuses.length === 0 && classifyAutomatic(message, context)?.kind !== 'bounce') return null;
  const free = readFreeFormBounce(message);
  const returned = returnedHeaders(message);
  if (statuses.length === 0 && !isFreeFormNotice(message, free, returned)) return null;
  const ids = [...free.messageIds, ...originalIds(message)];
  return {
    kind: 'report',
    format: 'free_form',
    recipients: free.recipients.slice(0, MAX_BOUNCE_RECIPIENTS),
    originalMessageIds: [...new Set(ids)],
  };
}

/** Persons write no reports. */
function isFromProgram(message: ParsedMessage, context: AutomaticContext): boolean {
  if (message.contentType === 'multipart/report') return true;
  const answer = answerKindOf(message.subject);
  if (answer === 'reply' || answer === 'forward') return false;
  const isNamed = message.from.some(({ domain }) => domain !== '');
  return !isNamed || isBounceSubject(message.subject) || classifyAutomatic(message, context) !== null;
}

function readAmazon(
  message: ParsedMessage,
  { kind, recipients, messageIds }: NonNullable<ReturnType<typeof readAmazonNotice>>,
): Bounce {
  return {
    kind,
    format: 'amazon_ses',
    recipients: recipients.slice(0, MAX_BOUNCE_RECIPIENTS),
    originalMessageIds: [...new Set([...messageIds, ...originalIds(message)])],
  };
}

/** The field of the returned message in which Outlook.com names the recipient. */
const OUTLOOK_RECIPIENT = 'x-hmxmroriginalrecipient';

/** Seen in practice: Outlook.com (JMRP) writes no feedback report; it only returns the message. */
function isOutlookComplaint(message: ParsedMessage): boolean {
  return (
    /^complaint about message from /i.test(message.subject) &&
    returnedHeaders(message).some((fields) => fieldValue(fields, OUTLOOK_RECIPIENT) !== null)
  );
}

/** @param fields of the feedback report */
function readComplaint(message: ParsedMessage, fields: readonly HeaderField[]): Bounce | null {
  const returned = returnedHeaders(message);
  const type = (fieldValue(fields, 'feedback-type') ?? '').toLowerCase();
  if (NO_COMPLAINT.has(type)) return null;
  const named = [
    ...fieldValues(fields, 'original-rcpt-to'),
    ...fieldValues(fields, 'removal-recipient'),
    ...returned.flatMap((header) => fieldValues(header, OUTLOOK_RECIPIENT)),
  ];
  const addresses = named.flatMap((value) => reportedAddress(value) ?? []);
  // RFC 5965 §3.2 lets the recipient be left out; then the returned message may still name it.
  const fallback = returned.flatMap((header) => {
    const { addresses: to } = parseLenientAddressList(fieldValue(header, 'to') ?? '', MAX_BOUNCE_RECIPIENTS);
    return to.filter(({ domain }) => domain !== '').map(addrSpec);
  });
  const found = addresses.length > 0 ? addresses : fallback;
  return {
    kind: 'complaint',
    format: 'rfc5965',
    recipients: (found.length > 0 ? [...new Set(found)] : [''])
      .slice(0, MAX_BOUNCE_RECIPIENTS)
      .map((address) => ({
        address,
        finalAddress: null,
        action: 'delivered',
        severity: null,
        status: null,
        diagnostic: cleanReplyText(type),
      })),
    originalMessageIds: originalIds(message),
  };
}

function originalIds(message: ParsedMessage): readonly MessageId[] {
  const returned = returnedHeaders(message).flatMap((fields) => [
    ...[messageIdOf(fields) ?? []].flat(),
    ...rewrittenIds(fields),
  ]);
  const status = message.reports
    .filter(({ contentType }) => STATUS_TYPES.has(contentType) || contentType === FEEDBACK_TYPE)
    .flatMap(({ bytes }) => rewrittenIds(readReportFields(bytes)));
  return [
    ...new Set([
      ...returned,
      ...status,
      ...rewrittenIds(message.fields),
      ...message.inReplyTo,
      ...message.references.toReversed(),
    ]),
  ].slice(0, MAX_MESSAGE_IDS);
}

/** Fields in which servers keep the Message-ID that we gave, when they replace it with their own. */
const REWRITTEN_FIELDS = [
  'original-message-id',
  // RFC 3464 §2.2.1: our ENVID, which is the Message-ID.
  'original-envelope-id',
  'x-original-message-id',
  'x-microsoft-original-message-id',
  'x-google-original-message-id',
];

function rewrittenIds(fields: readonly HeaderField[]): readonly MessageId[] {
  return REWRITTEN_FIELDS.flatMap((name) => {
    const value = fieldValue(fields, name) ?? '';
    return parseMessageId(value) ?? parseMessageIdList(value)[0] ?? [];
  });
}

/** Headers of the messages that a report contains. */
function returnedHeaders(message: ParsedMessage): readonly (readonly HeaderField[])[] {
  return message.reports
    .filter(({ contentType }) => /rfc822|^message\/global(?:-headers)?$/.test(contentType))
    .slice(0, MAX_RETURNED)
    .map(({ bytes }) => parseHeaderBlock(bytes).fields);
}
