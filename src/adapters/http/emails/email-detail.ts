/** One email with all of its fields: its JSON and the JSON's schema. A new field is added here, to both. */
import type { XStatic } from 'typebox/schema';
import type { AttachmentView, DeliveryView, EmailDetail } from '../../../app/emails/email-ports.ts';
import { COMPANY_SOURCES, CUSTOMER_SOURCES } from '../../../core/customer/link-emails.ts';
import { DELIVERY_STATES } from '../../../core/delivery/states.ts';
import { formatMessageId } from '../../../core/message/message-id.ts';
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
} from '../schemas/schemas.ts';
import {
  Attempt,
  Automatic,
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
import { SentCopy, toSentCopyJson } from '../sent-copies/sent-copy-schema.ts';
import { NullableSource, Variant } from './variant-schema.ts';

export const Recipient = record('Recipient', {
  address: { type: 'string' },
  state: { type: 'string', enum: DELIVERY_STATES },
  reply: {
    anyOf: [SmtpReply, { type: 'null' }],
    description: 'What the mail server said for this recipient; null when no reply came.',
  },
  report: {
    anyOf: [Report, { type: 'null' }],
    description:
      'What came back later about this recipient, the most telling of several; null when nothing did.',
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
    description: 'Part of what the HTML shows, such as a logo, and not a file that was sent along.',
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
      '`explicit`: its send named it. `thread`: its thread belongs to it. `address`, `domain`: by that of the ' +
      'counterparty. `ambiguous`: several customers claim it, so it has none.',
  },
  company_id: NullableUuid,
  company_source: {
    type: ['string', 'null'],
    enum: [...COMPANY_SOURCES, null],
    description: '`registration`: the company that was registered for its customer.',
  },
  cc_addresses: { type: 'array', items: AddressObject },
  bcc_addresses: { type: 'array', items: AddressObject },
  html_body: { type: ['string', 'null'], description: 'As sent or received, not sanitised.' },
  in_reply_to: { type: 'array', items: MessageIdText },
  references: { type: 'array', items: MessageIdText, description: 'Oldest first.' },
  relay_message_id: {
    type: ['string', 'null'],
    description:
      'The Message-ID that the mail server gave the email instead of ours; null when it kept ours.',
  },
  ...stateProperties,
  recipients: { type: 'array', items: Recipient },
  placement: {
    ...record('Placement', {
      rule: {
        ...PlacementRule,
        description:
          '`thread_id`: the caller said so. `decision`: an operator split it off or moved it. `new`: nothing to ' +
          'join. The others are by Message-ID: what it answers (`in_reply_to`, `references`), what a delivery ' +
          'report returns (`bounce`), an earlier email of the same subject (`subject`), or its own ' +
          '(`message_id`), which another email has or names.',
      },
      matched_message_id: { type: ['string', 'null'] },
    }),
    description: 'Why the email is in its thread.',
  },
  reply_text: {
    type: ['string', 'null'],
    description:
      'The new text of a received email, or of one that another program sent, without what it quotes; null for others.',
  },
  sender_address: {
    anyOf: [AddressObject, { type: 'null' }],
    description: 'The field Sender of a received email.',
  },
  reply_to_addresses: { type: 'array', items: AddressObject },
  headers: {
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'The header fields that its send added; empty for a received email.',
  },
  unsubscribe_list: {
    type: ['string', 'null'],
    description: 'The list of `unsubscribe` that it was sent to; null for none.',
  },
  ...noteProperties,
  list_id: ListId,
  author: EmailAuthor,
  authentication: {
    anyOf: [Authentication, { type: 'null' }],
    description:
      'What is known about the sender of a received email; null when no trusted server says anything.',
  },
  new_participant: {
    type: 'boolean',
    description: 'The sender of a received email never took part in its thread before.',
  },
  unread: {
    type: 'boolean',
    description: 'A received email that was not marked as read; false for a sent one.',
  },
  automatic: {
    anyOf: [Automatic, { type: 'null' }],
    description:
      'Marks of mail that programs write or that goes to many; null without any. They do not decide who wrote it: see `written_by`.',
  },
  written_by: WrittenBy,
  bounce: {
    anyOf: [BounceSchema, { type: 'null' }],
    description: 'What a received delivery report or complaint says; null for any other email.',
  },
  defects: {
    type: 'array',
    items: { type: 'string' },
    description:
      'What was wrong with a received email, such as `missing_date`, and `content_differs` where it has variants. New ' +
      'ones may come.',
  },
  received_by: NullableSource,
  variants: {
    type: 'array',
    description:
      'Messages with the same Message-ID, Date, From and subject that say something else, such as a copy with the ' +
      'footer of a list, or a forgery; the oldest first. Which of them the email itself says is what came first.',
    items: Variant,
  },
  refused_variants: {
    type: 'integer',
    minimum: 0,
    description: 'Further such messages, which are not kept: an email has 100 variants at most.',
  },
  size_bytes: { type: 'integer', minimum: 0, description: 'Size of the raw message.' },
  created_at: Timestamp,
  attempts: {
    type: 'array',
    description: 'Every hand-over to the mail server, in order; numbers may have gaps.',
    items: Attempt,
  },
  next_attempt_at: stateProperties.next_attempt_at,
  give_up_at: {
    ...NullableTimestamp,
    description: 'After this it is not tried again; null when it is not in the queue.',
  },
  send_version: {
    type: ['integer', 'null'],
    minimum: 1,
    description:
      'Of a send that waits and was never tried: another one with each change by `PATCH`, whose `If-Match` names it. Null for any other email.',
  },
  sent_copy: {
    anyOf: [SentCopy, { type: 'null' }],
    description:
      'Of it in the Sent mailbox of its account; null for an email of an account that keeps none, and before it is sent.',
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
export function toEmailDetailJson(email: EmailDetail): EmailDetailJson {
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
    sender_address: email.sender === null ? null : toAddressJson(email.sender),
    reply_to_addresses: email.replyTo.map(toAddressJson),
    headers: { ...email.headers },
    unsubscribe_list: email.unsubscribeList,
    list_id: email.listId,
    tags: [...email.tags],
    metadata: { ...email.metadata },
    author: email.author,
    authentication: toAuthenticationJson(email.authentication),
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
    sent_copy: email.sentCopy === null ? null : toSentCopyJson(email.sentCopy),
  };
}
