/**
 * Reads what comes back about sent mail: delivery reports (RFC 3464), complaints (RFC 5965), and the free forms of
 * programs that write neither (free-form-bounce.ts). Anybody can write such a message: who acts on one has to find
 * the sent email by `originalMessageIds`, which nobody can guess, and the recipient among those it was sent to.
 */
import { addrSpec } from '../address/address.ts';
import { parseLenientAddressList } from '../address/lenient-address-list.ts';
import { parseMessageId, type MessageId } from '../message/message-id.ts';
import { fieldValue, fieldValues, messageIdOf, parseHeaderBlock } from '../mime/header-fields.ts';
import type { HeaderField } from '../mime/header-fields.ts';
import { parseMessageIdList } from '../message/references.ts';
import type { ParsedMessage } from '../mime/parsed-message.ts';
import { classifyAutomatic, isBounceSubject } from './automatic.ts';
import type { AutomaticContext } from './automatic.ts';
import { BOUNCE_ACTIONS, classifyFailure, findStatus } from './bounce-recipient.ts';
import type { BounceAction, BounceRecipient } from './bounce-recipient.ts';
import { readFreeFormBounce, reasonsByRecipient } from './free-form-bounce.ts';
import { cleanReplyText } from './reply.ts';

export const BOUNCE_KINDS = ['report', 'complaint'] as const;
export const BOUNCE_FORMATS = ['rfc3464', 'rfc5965', 'free_form'] as const;

export interface Bounce {
  /** `complaint`: a reader called the message spam (RFC 5965); its recipients have the action `delivered`. */
  readonly kind: (typeof BOUNCE_KINDS)[number];
  readonly format: (typeof BOUNCE_FORMATS)[number];
  /** When the message names nobody, one with an empty address. */
  readonly recipients: readonly BounceRecipient[];
  /** Message-IDs of the sent email, the surest first: of the returned message, then In-Reply-To and References. */
  readonly originalMessageIds: readonly MessageId[];
}

const STATUS_TYPES = new Set(['message/delivery-status', 'message/global-delivery-status']);
const ACTIONS: ReadonlySet<string> = new Set<BounceAction>(BOUNCE_ACTIONS);

/** RFC 5965 §7.3 and RFC 6591: reports that are no complaints of readers. */
const NO_COMPLAINT = new Set(['auth-failure', 'not-spam', 'dmarc']);

const FEEDBACK_TYPE = 'message/feedback-report';

/** A reply's References can be long; the sent email is among the newest. */
const MAX_MESSAGE_IDS = 50;

/** Returned messages of which the Message-ID is read. */
const MAX_RETURNED = 10;

/** Recipients of one report; what is beyond is left out. */
const MAX_RECIPIENTS = 1000;

/** null for any other message, also for a receipt (RFC 8098). */
export function readBounce(message: ParsedMessage, context: AutomaticContext = {}): Bounce | null {
  const feedback = message.reports.find(({ contentType }) => contentType === FEEDBACK_TYPE);
  if (feedback !== undefined) return readComplaint(message, parseHeaderBlock(feedback.bytes).fields);
  if (isOutlookComplaint(message)) return readComplaint(message, []);
  const statuses = message.reports.filter(({ contentType }) => STATUS_TYPES.has(contentType));
  const recipients = statuses.flatMap(({ bytes }) => readDeliveryStatus(bytes)).slice(0, MAX_RECIPIENTS);
  if (recipients.length > 0) {
    return {
      kind: 'report',
      format: 'rfc3464',
      recipients: withReasons(recipients, message),
      originalMessageIds: originalIds(message),
    };
  }
  if (message.reportType === 'disposition-notification') return null;
  if (statuses.length === 0 && classifyAutomatic(message, context)?.kind !== 'bounce') return null;
  const free = readFreeFormBounce(message);
  if (statuses.length === 0 && !isNotice(message, free.messageIds)) return null;
  const ids = [...free.messageIds, ...originalIds(message)];
  return {
    kind: 'report',
    format: 'free_form',
    recipients: free.recipients.slice(0, MAX_RECIPIENTS),
    originalMessageIds: [...new Set(ids)],
  };
}

/**
 * Seen in practice: acknowledgements and notes of absence with the null sender, which answer our email (In-Reply-To) and
 * say anything. Only what looks like a bounce beside its sender is one: a wrong one costs a customer.
 */
function isNotice(message: ParsedMessage, returned: readonly MessageId[]): boolean {
  return (
    returned.length > 0 ||
    returnedHeaders(message).length > 0 ||
    fieldValue(message.fields, 'x-failed-recipients') !== null ||
    message.from.some(({ localPart }) => /^mail(?:er)?-daemon$/i.test(localPart)) ||
    isBounceSubject(message.subject)
  );
}

/** RFC 3464 §2.1: groups of fields with empty lines between; the first group is about the message. */
function readDeliveryStatus(bytes: Buffer): readonly BounceRecipient[] {
  const groups = bytes.toString('latin1').split(/\r?\n(?:[ \t]*\r?\n)+/);
  return groups.flatMap((group) => {
    const { fields } = parseHeaderBlock(Buffer.from(group, 'latin1'));
    const final = addressOf(fieldValue(fields, 'final-recipient'));
    const address = addressOf(fieldValue(fields, 'original-recipient')) ?? final;
    return address === null ? [] : [toRecipient(address, final, fields)];
  });
}

function toRecipient(address: string, final: string | null, fields: readonly HeaderField[]): BounceRecipient {
  // RFC 3464 §2.3.6: `smtp; 550 5.1.1 …`.
  const text = (fieldValue(fields, 'diagnostic-code') ?? '').replace(/^[\w-]+\s*;\s*/, '');
  const diagnostic = cleanReplyText(text.replace(/\s+/g, ' '));
  const status = tellingStatus(findStatus(fieldValue(fields, 'status') ?? ''), diagnostic);
  const word = /^[a-z]+/.exec((fieldValue(fields, 'action') ?? '').toLowerCase())?.[0] ?? '';
  // Seen in practice: no action at all.
  const action = isAction(word) ? word : status?.startsWith('4') === true ? 'delayed' : 'failed';
  return {
    address,
    finalAddress: final === address ? null : final,
    action,
    severity: classifyFailure(action, status, diagnostic),
    status,
    diagnostic,
  };
}

/** Seen in practice: OpenSMTPD says in the text only what the server answered. */
function withReasons(
  recipients: readonly BounceRecipient[],
  message: ParsedMessage,
): readonly BounceRecipient[] {
  if (recipients.every(({ diagnostic }) => diagnostic !== '')) return recipients;
  const reasons = reasonsByRecipient(message);
  return recipients.map((recipient) => {
    const reason = reasons.get(recipient.finalAddress ?? recipient.address) ?? reasons.get(recipient.address);
    if (recipient.diagnostic !== '' || reason === undefined) return recipient;
    const diagnostic = cleanReplyText(reason.replace(/\s+/g, ' '));
    const status = tellingStatus(recipient.status, diagnostic);
    return {
      ...recipient,
      status,
      diagnostic,
      severity: classifyFailure(recipient.action, status, diagnostic),
    };
  });
}

/** Seen in practice: `5.0.0` as the status beside a diagnostic that says more. */
function tellingStatus(given: string | null, diagnostic: string): string | null {
  return given === null || given.endsWith('.0.0') ? (findStatus(diagnostic) ?? given) : given;
}

/** Where Outlook.com names the recipient, in the returned message. */
const OUTLOOK_RECIPIENT = 'x-hmxmroriginalrecipient';

/** Seen in practice: Outlook.com (JMRP) writes no feedback report, it only returns the message. */
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
  const addresses = named.flatMap((value) => addressOf(value) ?? []);
  // RFC 5965 §3.2 lets the recipient be left out; then the returned message may still name it.
  const fallback = returned.flatMap((header) => {
    const { addresses: to } = parseLenientAddressList(fieldValue(header, 'to') ?? '', MAX_RECIPIENTS);
    return to.filter(({ domain }) => domain !== '').map(addrSpec);
  });
  const found = addresses.length > 0 ? addresses : fallback;
  return {
    kind: 'complaint',
    format: 'rfc5965',
    recipients: (found.length > 0 ? [...new Set(found)] : ['']).slice(0, MAX_RECIPIENTS).map((address) => ({
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
    .flatMap(({ bytes }) => rewrittenIds(parseHeaderBlock(bytes).fields));
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

/** Where servers keep the Message-ID that we gave, when they put their own into its place. */
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

/**
 * RFC 3464 §2.3.1: `rfc822; user@example.com`; RFC 6533 §3: `utf-8; \\x{FC}ser@example.com`. Seen in practice: no type,
 * angle brackets. null for none.
 */
function addressOf(value: string | null): string | null {
  const text = (value ?? '')
    .replace(/^\s*[\w-]+\s*;/, '')
    .replace(/\\x\{([0-9a-f]{1,6})\}/gi, (escape, hex: string) => {
      const point = Number.parseInt(hex, 16);
      return point > 0x10ffff ? escape : String.fromCodePoint(point);
    });
  const [address] = parseLenientAddressList(text, 1).addresses;
  return address === undefined || address.domain === '' ? null : addrSpec(address);
}

function isAction(word: string): word is BounceAction {
  return ACTIONS.has(word);
}
