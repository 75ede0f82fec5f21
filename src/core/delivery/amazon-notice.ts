/**
 * Notices of Amazon SES: JSON that Amazon SNS sends by email, with or without SNS's envelope around it, as the text of
 * the message or as `application/json`.
 * https://docs.aws.amazon.com/ses/latest/dg/notification-contents.html and event-publishing-retrieving-sns-contents.html
 */
import { addrSpec } from '../address/address.ts';
import { parseLenientAddressList } from '../address/lenient-address-list.ts';
import { parseMessageId, type MessageId } from '../message/message-id.ts';
import type { ParsedMessage } from '../mime/parse/parsed-message.ts';
import { answerKindOf } from './answer-subject.ts';
import { classifyFailure, findStatus, type BounceAction, type BounceRecipient } from './bounce-recipient.ts';
import { tellingStatus } from './delivery-status.ts';
import type { BounceSeverity } from './failure-severity.ts';
import { cleanReplyText } from './reply.ts';

export interface AmazonNotice {
  readonly kind: 'report' | 'complaint';
  readonly recipients: readonly BounceRecipient[];
  /** The Message-ID that we gave, then the ones that SES may have replaced it with. */
  readonly messageIds: readonly MessageId[];
}

/** SNS takes messages of at most 256 KB; quoting in the envelope can double them. */
const MAX_JSON_CHARS = 600_000;

/** null for any other message. A message that quotes, forwards or attaches a notice does not count: a notice is the JSON alone. */
export function readAmazonNotice(
  message: Pick<ParsedMessage, 'text' | 'reports' | 'contentType' | 'subject'>,
): AmazonNotice | null {
  if (answerKindOf(message.subject) !== null) return null;
  const parts = message.contentType === 'application/json' ? message.reports : [];
  for (const text of [message.text, ...parts.map(({ bytes }) => bytes.toString('utf8'))]) {
    const notice = toNotice(unwrap(parseObject(text)));
    if (notice !== null) return notice;
  }
  return null;
}

type Json = Readonly<Record<string, unknown>>;

/** SNS appends how to unsubscribe after the object, below a line `--`. null when the text does not begin with an object. */
function parseObject(text: string): Json | null {
  const start = text.trimStart();
  if (!start.startsWith('{') || start.length > MAX_JSON_CHARS) return null;
  const footer = start.search(/\n-- ?\r?\n/);
  const whole = footer === -1 ? start : start.slice(0, footer);
  // Seen in practice: long lines are broken on the way, within strings too.
  for (const candidate of [whole, whole.replace(/\r?\n[ \t]?/g, '')]) {
    try {
      return objectOf(JSON.parse(candidate));
    } catch {
      // Text, or another form of JSON.
    }
  }
  return null;
}

/** The notice within the envelope of SNS. */
function unwrap(json: Json | null): Json | null {
  const inner = json?.['Message'];
  if (json?.['Type'] !== 'Notification' || typeof inner !== 'string') return json;
  return parseObject(inner);
}

/** null when the object is not a notice about recipients. Complaints give only their addresses. */
function toNotice(json: Json | null): AmazonNotice | null {
  const mail = objectOf(json?.['mail']);
  // Identities send a notificationType, configuration sets an eventType.
  const type = json?.['notificationType'] ?? json?.['eventType'];
  if (json === null || mail === null) return null;
  const of = (name: string) => objectOf(json[name]);
  const messageIds = idsOf(mail);
  if (type === 'Complaint') {
    const complaint = of('complaint');
    const recipients = toRecipients(complaint?.['complainedRecipients'], 'delivered', () => ({
      severity: null,
      diagnostic: textOf(complaint?.['complaintFeedbackType']),
    }));
    // Seen in practice: `not-spam` is a correction of an earlier complaint.
    if (textOf(complaint?.['complaintFeedbackType']) === 'not-spam') return null;
    return { kind: 'complaint', recipients, messageIds };
  }
  const recipients =
    type === 'Bounce'
      ? bouncedOf(of('bounce'))
      : type === 'Delivery'
        ? toRecipients(of('delivery')?.['recipients'], 'delivered', () => ({ severity: null }))
        : type === 'DeliveryDelay'
          ? toRecipients(of('deliveryDelay')?.['delayedRecipients'], 'delayed', () => ({ severity: 'soft' }))
          : [];
  return recipients.length === 0 ? null : { kind: 'report', recipients, messageIds };
}

function bouncedOf(bounce: Json | null): readonly BounceRecipient[] {
  const type = textOf(bounce?.['bounceType']);
  const subtype = textOf(bounce?.['bounceSubType']);
  return toRecipients(bounce?.['bouncedRecipients'], 'failed', (status, diagnostic) => ({
    severity: severityOf(type, subtype, status, diagnostic),
    diagnostic: diagnostic === '' ? `${type}: ${subtype}` : diagnostic,
  }));
}

/**
 * A subtype that is listed decides, then `Transient`, then the server's words. SES's own class counts where there are none,
 * as when SES did not try at all.
 */
function severityOf(type: string, subtype: string, status: string | null, said: string): BounceSeverity {
  const known = BY_SUBTYPE[subtype];
  if (known !== undefined) return known;
  if (type === 'Transient') return 'soft';
  if (status !== null || said !== '') return classifyFailure('failed', status, said) ?? 'soft';
  return type === 'Permanent' ? 'hard' : 'soft';
}

/** `General` and types that are not listed say nothing on their own. */
const BY_SUBTYPE: Readonly<Record<string, BounceSeverity>> = {
  NoEmail: 'hard',
  Suppressed: 'hard',
  OnAccountSuppressionList: 'hard',
  MailboxFull: 'soft',
  MessageTooLarge: 'blocked',
  ContentRejected: 'blocked',
  AttachmentRejected: 'blocked',
};

type Outcome = Pick<BounceRecipient, 'severity'> & Partial<Pick<BounceRecipient, 'diagnostic'>>;

function toRecipients(
  list: unknown,
  action: BounceAction,
  outcomeOf: (status: string | null, diagnostic: string) => Outcome,
): readonly BounceRecipient[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((entry: unknown) => {
    const fields = objectOf(entry);
    const address = addressOf(typeof entry === 'string' ? entry : textOf(fields?.['emailAddress']));
    if (address === null) return [];
    const said = textOf(fields?.['diagnosticCode']).replace(/^[\w./-]+\s*;\s*/, '');
    const diagnostic = cleanReplyText(said.replace(/\s+/g, ' '));
    const status = tellingStatus(findStatus(textOf(fields?.['status']), action), diagnostic, action);
    const outcome = outcomeOf(status, diagnostic);
    return [{ address, finalAddress: null, action, status, diagnostic, ...outcome }];
  });
}

function idsOf(mail: Json): readonly MessageId[] {
  const headers = Array.isArray(mail['headers']) ? mail['headers'].map(objectOf) : [];
  const ours = [
    ...headers.flatMap((header) =>
      textOf(header?.['name']).toLowerCase() === 'message-id' ? textOf(header?.['value']) : [],
    ),
    textOf(objectOf(mail['commonHeaders'])?.['messageId']),
  ];
  const id = textOf(mail['messageId']);
  const region = /^arn:aws[\w-]*:ses:([a-z0-9-]+):/.exec(textOf(mail['sourceArn']))?.[1] ?? null;
  // The form of parseRelayMessageId.
  const theirs = id === '' ? [] : [region ?? 'email', 'email'].map((host) => `<${id}@${host}.amazonses.com>`);
  return [...new Set([...ours, ...theirs].flatMap((text) => parseMessageId(text) ?? []))];
}

function addressOf(text: string): string | null {
  const [address] = parseLenientAddressList(text, 1).addresses;
  return address === undefined || address.domain === '' ? null : addrSpec(address);
}

function objectOf(value: unknown): Json | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
