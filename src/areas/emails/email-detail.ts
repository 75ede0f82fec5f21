/** One email with all of its fields: its JSON and the JSON's schema. A new field is added here, to both. */
import type { XStatic } from 'typebox/schema';
import type { AttachmentView, DeliveryView, EmailDetail } from './email-ports.ts';
import { senderWarnings, type OwnSenders } from '../../core/address/sender-warnings.ts';
import { COMPANY_SOURCES, CUSTOMER_SOURCES } from '../../core/customer/link-emails.ts';
import { DELIVERY_STATES } from '../../core/delivery/states.ts';
import { SUGGESTION_REASONS } from '../../core/message/suggested-counterparty.ts';
import { formatMessageId } from '../../core/message/message-id.ts';
import {
  AddressObject,
  attachmentProperties,
  emailProperties,
  MessageIdText,
  NullableTimestamp,
  NullableUuid,
  record,
  Timestamp,
  Uuid,
} from '../../platform/schemas/schemas.ts';
import {
  Attempt,
  Automatic,
  NullableProtection,
  WrittenBy,
  BounceSchema,
  EmailAuthor,
  ListId,
  noteProperties,
  PlacementRule,
  Report,
  SmtpReply,
  stateProperties,
} from './email-schemas.ts';
import {
  toAddressJson,
  toAttachmentJson,
  toBounceJson,
  toEmailJson,
  toReplyJson,
  toReportJson,
  toSourceJson,
  toVariantJson,
} from './email-view.ts';
import { Authentication, toAuthenticationJson } from './authentication-schema.ts';
import { NullableInvitation, toInvitationJson } from './invitation-schema.ts';
import { SenderWarnings } from './sender-warnings.ts';
import type { SentCopyView } from '../../core/sent-copies/sent-copy.ts';
import { SentCopy } from '../../platform/schemas/sent-copy-schema.ts';
import { NullableSource, Variant } from './variant-schema.ts';

const SuggestedCounterpartySchema = record('SuggestedCounterparty', {
  name: { type: 'string' },
  address: { type: 'string' },
  reason: { type: 'string', enum: SUGGESTION_REASONS },
});

export const SuggestedCounterparty = {
  anyOf: [SuggestedCounterpartySchema, { type: 'null' }],
  description:
    'The person behind a received email with one of your addresses in From: the author named elsewhere by a group or list, ' +
    'the Reply-To of a form, the author of a forwarded email, or the recipient of a blind copy. Any sender can forge it, so ' +
    'it gives the email no customer. null when there is none, or the sender failed the check.',
} as const;

export const Recipient = record('Recipient', {
  address: { type: 'string' },
  state: { type: 'string', enum: DELIVERY_STATES },
  reply: {
    anyOf: [SmtpReply, { type: 'null' }],
    description: 'Reply of the mail server for this recipient; null when there was no reply.',
  },
  report: {
    anyOf: [Report, { type: 'null' }],
    description: 'The most severe later report for this recipient; null when there is none.',
  },
});

export const AttachmentDetail = record('AttachmentDetail', {
  ...attachmentProperties,
  content_id: {
    type: ['string', 'null'],
    description: 'The Content-ID, without angle brackets; null when there is none.',
  },
  inline: {
    type: 'boolean',
    description: 'True for a part of the HTML, such as a logo; false for an attached file.',
  },
});

/** The fields of a list and all other fields of an email. */
export const EmailDetailSchema = record('EmailDetail', {
  ...emailProperties,
  email_attachments: {
    type: 'array',
    items: AttachmentDetail,
    description: 'Empty when there are none.',
  },
  thread_id: Uuid,
  account_id: { type: 'string' },
  customer_id: NullableUuid,
  customer_source: {
    type: ['string', 'null'],
    enum: [...CUSTOMER_SOURCES, null],
    description:
      '`explicit`: named by the send. `thread`: the customer of the thread. `address`, `domain`: found by the address or domain ' +
      'of the counterparty. `ambiguous`: several customers claim the address, so the email has no customer.',
  },
  company_id: NullableUuid,
  company_source: {
    type: ['string', 'null'],
    enum: [...COMPANY_SOURCES, null],
    description: '`registration`: the company registered for the customer.',
  },
  cc_addresses: { type: 'array', items: AddressObject },
  bcc_addresses: { type: 'array', items: AddressObject },
  html_body: { type: ['string', 'null'], description: 'As sent or received, not sanitised.' },
  in_reply_to: { type: 'array', items: MessageIdText },
  references: { type: 'array', items: MessageIdText, description: 'Oldest first.' },
  relay_message_id: {
    type: ['string', 'null'],
    description: 'Message-ID with which the mail server replaced ours; null when it kept ours.',
  },
  ...stateProperties,
  recipients: { type: 'array', items: Recipient },
  placement: {
    ...record('Placement', {
      rule: {
        ...PlacementRule,
        description:
          '`thread_id`: named by the caller. `decision`: an operator split or moved the email. `new`: there was no thread to ' +
          'join. By Message-ID: the email it answers (`in_reply_to`, `references`), the email a delivery report returns ' +
          '(`bounce`), an earlier email with the same subject (`subject`), or another email that has or names its own Message-ID ' +
          '(`message_id`).',
      },
      matched_message_id: { type: ['string', 'null'] },
    }),
    description: 'Why the email is in its thread.',
  },
  reply_text: {
    type: ['string', 'null'],
    description:
      'The new text of a received email or of an email that another program sent, without quoted text; null for others.',
  },
  sender_address: {
    anyOf: [AddressObject, { type: 'null' }],
    description: 'The field Sender of a received email.',
  },
  suggested_counterparty: SuggestedCounterparty,
  reply_to_addresses: { type: 'array', items: AddressObject },
  headers: {
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'Header fields added by the send request; empty for a received email.',
  },
  unsubscribe_list: {
    type: ['string', 'null'],
    description: 'Name of the `unsubscribe` list of the send; null when there is none.',
  },
  ...noteProperties,
  list_id: ListId,
  author: EmailAuthor,
  authentication: {
    anyOf: [Authentication, { type: 'null' }],
    description: 'Authentication results of a received email; null when no trusted server reported any.',
  },
  sender_warnings: SenderWarnings,
  new_participant: {
    type: 'boolean',
    description: 'True when the sender of a received email has not taken part in the thread before.',
  },
  unread: {
    type: 'boolean',
    description: 'True for a received email that is not marked as read; false for a sent email.',
  },
  automatic: {
    anyOf: [Automatic, { type: 'null' }],
    description:
      'Marks of mail that programs write or that goes to many; null without any. They do not decide who wrote it: see `written_by`.',
  },
  written_by: WrittenBy,
  protection: NullableProtection,
  invitation: NullableInvitation,
  bounce: {
    anyOf: [BounceSchema, { type: 'null' }],
    description: 'Content of a received delivery report or complaint; null for any other email.',
  },
  defects: {
    type: 'array',
    items: { type: 'string' },
    description:
      'Defects of a received email, such as `missing_date`, or `content_differs` when a variant has another content. New ' +
      'values may be added.',
  },
  received_by: NullableSource,
  variants: {
    type: 'array',
    description:
      'Messages that are this email in other bytes, oldest first: it arrived another way, or was changed on its way, for ' +
      'example by the footer of a list; for an email from the account, also messages that only claim to be it. The email itself ' +
      'has the content that arrived first.',
    items: Variant,
  },
  refused_variants: {
    type: 'integer',
    minimum: 0,
    description:
      'Number of further messages that claim to be this email from the account and are not kept, because it has 100 variants. ' +
      'Such messages from others are separate emails.',
  },
  size_bytes: { type: 'integer', minimum: 0, description: 'Size of the raw message.' },
  created_at: Timestamp,
  attempts: {
    type: 'array',
    description: 'Every attempt to hand the email to the mail server, in order; numbers may have gaps.',
    items: Attempt,
  },
  next_attempt_at: stateProperties.next_attempt_at,
  give_up_at: {
    ...NullableTimestamp,
    description: 'Time after which the email is no longer retried; null when it is not in the queue.',
  },
  send_version: {
    type: ['integer', 'null'],
    minimum: 1,
    description:
      'Version of a waiting send that was never tried, for `If-Match` of `PATCH`; it changes with every update. Null for any other email.',
  },
  sent_copy: {
    anyOf: [SentCopy, { type: 'null' }],
    description:
      'The copy in the Sent mailbox of the account; null when the account keeps no copies and before the email is sent.',
  },
});
type EmailDetailJson = XStatic<typeof EmailDetailSchema>;

export function toRecipientJson({ address, state, reply, report }: DeliveryView): XStatic<typeof Recipient> {
  return {
    address,
    state,
    reply: toReplyJson(reply),
    report: report === null ? null : toReportJson(report),
  };
}

export const toAttachmentDetailJson = (attachment: AttachmentView): XStatic<typeof AttachmentDetail> => ({
  ...toAttachmentJson(attachment),
  content_id: attachment.contentId,
  inline: attachment.inline,
});

/** All fields of one email. */
export function toEmailDetailJson(email: EmailDetail, own: OwnSenders): EmailDetailJson {
  return {
    ...toEmailJson(email),
    email_attachments: email.attachments.map(toAttachmentDetailJson),
    thread_id: email.threadId,
    account_id: email.accountId,
    customer_id: email.customerId,
    customer_source: email.customerSource,
    company_id: email.companyId,
    company_source: email.companySource,
    cc_addresses: email.cc.map(toAddressJson),
    bcc_addresses: email.bcc.map(toAddressJson),
    html_body: email.htmlBody,
    in_reply_to: email.inReplyTo.map(formatMessageId),
    references: email.references.map(formatMessageId),
    relay_message_id: email.relayMessageId === null ? null : formatMessageId(email.relayMessageId),
    state: email.state,
    state_detail: email.stateDetail,
    recipients: email.deliveries.map(toRecipientJson),
    placement: {
      rule: email.placement.rule,
      matched_message_id:
        email.placement.matchedMessageId === null ? null : formatMessageId(email.placement.matchedMessageId),
    },
    reply_text: email.replyText,
    suggested_counterparty: email.suggestedCounterparty,
    sender_address: email.sender === null ? null : toAddressJson(email.sender),
    reply_to_addresses: email.replyTo.map(toAddressJson),
    headers: { ...email.headers },
    unsubscribe_list: email.unsubscribeList,
    list_id: email.listId,
    tags: [...email.tags],
    metadata: { ...email.metadata },
    author: email.author,
    authentication: toAuthenticationJson(email.authentication),
    sender_warnings: [
      ...senderWarnings(
        { ...email.from, direction: email.direction, verdict: email.authentication?.verdict ?? null },
        own,
      ),
    ],
    new_participant: email.newParticipant,
    unread: email.isUnread,
    automatic:
      email.automatic === null
        ? null
        : {
            kind: email.automatic.kind,
            evidence: email.automatic.evidence,
            suppress_replies: email.automatic.suppressReplies,
          },
    written_by: email.writtenBy,
    protection: email.protection,
    invitation: toInvitationJson(email.invitation, email.from.address, email.authentication?.verdict ?? null),
    bounce: email.bounce === null ? null : toBounceJson(email.bounce),
    defects: [...email.defects],
    received_by: toSourceJson(email.receivedBy),
    variants: email.variants.map(toVariantJson),
    refused_variants: email.refusedVariants,
    size_bytes: email.rawSizeBytes,
    created_at: email.createdAt.toISOString(),
    attempts: email.attempts.map((attempt) => ({
      number: attempt.number,
      started_at: attempt.startedAt.toISOString(),
      ended_at: attempt.endedAt?.toISOString() ?? null,
      outcome: attempt.outcome,
      reply: toReplyJson(attempt.reply),
      detail: attempt.detail,
    })),
    next_attempt_at: email.nextAttemptAt?.toISOString() ?? null,
    give_up_at: email.giveUpAt?.toISOString() ?? null,
    send_version: email.sendVersion,
    sent_copy: toSentCopyJson(email.sentCopy),
  };
}

const toSentCopyJson = (copy: SentCopyView | null): XStatic<typeof SentCopy> | null =>
  copy === null ? null : { ...copy, at: copy.at.toISOString() };
