/**
 * Emails as JSON: where our words become the API's. Message-IDs get their angle brackets here. What lists have of an email is made by
 * PostgreSQL as well, in adapters/postgres/emails/email-json.ts.
 */
import type { BounceView, EmailDetail, EmailSummary } from '../../../app/emails/email-ports.ts';
import { formatMessageId } from '../../../core/message/message-id.ts';
import type { DeliveryReport } from '../../../core/delivery/delivery-report.ts';
import type { Reply } from '../../../core/delivery/states.ts';
import type { MailSource, VariantDetail, VariantView } from '../../../app/emails/variant-view.ts';
import type { EmailDetailJson } from './email-detail-schema.ts';
import type { EmailJson } from '../schemas/schemas.ts';
import type { VariantDetailJson } from './variant-schema.ts';

/** Exactly the fields of the specification, in its order. */
export function toEmailJson(email: EmailSummary): EmailJson {
  return {
    id: email.id,
    message_id: formatMessageId(email.messageId),
    direction: email.direction,
    from_address: toAddressJson(email.from),
    to_addresses: email.to.map(toAddressJson),
    subject: email.subject,
    text_body: email.textBody,
    date: email.date.toISOString(),
    has_attachments: email.attachments.length > 0,
    email_attachments: email.attachments.map((attachment) => ({
      id: attachment.id,
      filename: attachment.filename,
      content_type: attachment.contentType,
      size_bytes: attachment.sizeBytes,
      storage_path: attachment.storagePath,
    })),
  };
}

function toReplyJson(reply: Reply | null) {
  return reply === null
    ? null
    : { code: reply.code, enhanced_status: reply.enhancedStatus, text: reply.text };
}

function toReportJson(report: DeliveryReport) {
  return {
    outcome: report.outcome,
    enhanced_status: report.status,
    diagnostic: report.diagnostic,
    reported_at: report.reportedAt.toISOString(),
    email_id: report.reportId,
  };
}

function toBounceJson({ kind, format, emailId, recipients }: BounceView) {
  return {
    kind,
    format,
    email_id: emailId,
    recipients: recipients.map((recipient) => ({
      address: recipient.address,
      final_address: recipient.finalAddress,
      action: recipient.action,
      severity: recipient.severity,
      enhanced_status: recipient.status,
      diagnostic: recipient.diagnostic,
    })),
  };
}

/** Everything known about one email. */
export function toEmailDetailJson(email: EmailDetail): EmailDetailJson {
  return {
    ...toEmailJson(email),
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
    recipients: email.deliveries.map(({ address, state, reply, report }) => ({
      address,
      state,
      reply: toReplyJson(reply),
      report: report === null ? null : toReportJson(report),
    })),
    placement: {
      rule: email.placement.rule,
      matched_message_id:
        email.placement.matchedMessageId === null ? null : formatMessageId(email.placement.matchedMessageId),
    },
    reply_text: email.replyText,
    sender_address: email.sender === null ? null : toAddressJson(email.sender),
    reply_to_addresses: email.replyTo.map(toAddressJson),
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
  };
}

export function toVariantDetailJson(variant: VariantDetail): VariantDetailJson {
  return { ...toVariantJson(variant), text_body: variant.textBody };
}

function toVariantJson({ id, receivedAt, source, isSentCopy, rawSizeBytes, contentDigest }: VariantView) {
  return {
    id,
    received_at: receivedAt.toISOString(),
    received_by: toSourceJson(source),
    sent_copy: isSentCopy,
    size_bytes: rawSizeBytes,
    content_digest: contentDigest,
  };
}

const toSourceJson = (source: MailSource | null) =>
  source === null ? null : { way: source.way, place: source.place };

// A stored address may carry more than the two fields the API shows.
function toAddressJson({ name, address }: EmailJson['from_address']): EmailJson['from_address'] {
  return { name, address };
}
