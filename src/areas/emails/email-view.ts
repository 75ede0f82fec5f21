/**
 * Emails as JSON: translates our names into the API's. Message-IDs get their angle brackets here. PostgreSQL writes the fields of lists as
 * well, in areas/emails/email-json.ts.
 */
import type { AttachmentView, BounceView, EmailSummary } from './email-ports.ts';
import { formatMessageId } from '../../core/message/message-id.ts';
import type { DeliveryReport } from '../../core/delivery/delivery-report.ts';
import type { Reply } from '../../core/delivery/states.ts';
import type { VariantDetail, VariantView } from './variant-view.ts';
import type { MailSource } from '../../core/message/mail-source.ts';
import type { EmailJson } from '../../platform/schemas/schemas.ts';
import type { VariantDetailJson } from './variant-schema.ts';

/** Callers rely on these fields and their order: no other, and none left out. */
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
    email_attachments: email.attachments.map(toAttachmentJson),
  };
}

/** As `toEmailJson`: these fields, in this order. */
export const toAttachmentJson = (attachment: AttachmentView) => ({
  id: attachment.id,
  filename: attachment.filename,
  content_type: attachment.contentType,
  size_bytes: attachment.sizeBytes,
  storage_path: attachment.storagePath,
});

export function toReplyJson(reply: Reply | null) {
  return reply === null
    ? null
    : { code: reply.code, enhanced_status: reply.enhancedStatus, text: reply.text };
}

export function toReportJson(report: DeliveryReport) {
  return {
    outcome: report.outcome,
    enhanced_status: report.status,
    diagnostic: report.diagnostic,
    reported_at: report.reportedAt.toISOString(),
    email_id: report.reportId,
  };
}

export function toBounceJson({ kind, format, emailId, recipients }: BounceView) {
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

export function toVariantDetailJson(variant: VariantDetail): VariantDetailJson {
  return { ...toVariantJson(variant), text_body: variant.textBody };
}

export function toVariantJson({
  id,
  receivedAt,
  source,
  isSentCopy,
  rawSizeBytes,
  contentDigest,
  hasSameContent,
}: VariantView) {
  return {
    id,
    received_at: receivedAt.toISOString(),
    received_by: toSourceJson(source),
    sent_copy: isSentCopy,
    size_bytes: rawSizeBytes,
    content_digest: contentDigest,
    same_content: hasSameContent,
  };
}

export const toSourceJson = (source: MailSource | null) =>
  source === null ? null : { way: source.way, place: source.place };

/** A stored address may have more than the two fields that the API shows. */
export function toAddressJson({ name, address }: EmailJson['from_address']): EmailJson['from_address'] {
  return { name, address };
}
