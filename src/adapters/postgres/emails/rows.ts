/** Rows of the reads, and their mapping to the types of the use cases. */
import type {
  AttachmentView,
  BounceView,
  EmailDetail,
  EmailSummary,
  StoredAttachment,
} from '../../../app/emails/email-ports.ts';
import type { AttemptOutcome, DeliveryState, RecordedAttempt, Reply } from '../../../core/delivery/states.ts';
import type { DeliveryReport, ReportOutcome } from '../../../core/delivery/delivery-report.ts';
import { CONTENT_DIFFERS, type MailSource, type VariantView } from '../../../app/emails/variant-view.ts';
import type { StatementTypes } from '../db/statement.ts';
import type { MessageId } from '../../../core/message/message-id.ts';
import type { Parent } from '../../../core/thread/place-outbound.ts';

export interface AttachmentRow {
  id: string;
  filename: string;
  content_type: string;
  /** `pg` gives bigint as text, JSON as a number. */
  size_bytes: string | number;
  storage_path: string;
}

/** The computed columns of the statement that reads one email. */
export interface DetailColumns {
  message_id: string;
  attachments: AttachmentRow[];
  unread: boolean;
  variants: VariantRow[];
  refused_variants: string;
  deliveries: ({ address: string; state: DeliveryState; report: ReportJson | null } & ReplyColumns)[];
  attempts: AttemptRow[];
  bounce: BounceView | null;
  claim_lost: boolean;
}

type DetailRow = Omit<StatementTypes['read-email']['row'], keyof DetailColumns> & DetailColumns;

/** From JSON where it stands among others, hence the time as text. */
export interface VariantRow {
  id: string;
  received_at: string | Date;
  received_by: MailSource | null;
  is_sent_copy: boolean;
  raw_size_bytes: string | number;
  content_digest: string;
}

interface ReplyColumns {
  code: number | null;
  status: string | null;
  text: string | null;
}

/** From JSON, hence times as text. */
interface ReportJson {
  outcome: ReportOutcome;
  status: string | null;
  diagnostic: string;
  reported_at: string;
  report_id: string;
}

/** From JSON, hence times as text. */
interface AttemptRow extends ReplyColumns {
  attempt: number;
  started_at: string;
  ended_at: string | null;
  outcome: AttemptOutcome;
  detail: string;
}

/** From JSON. */
export interface ParentRow {
  message_id: string;
  in_reply_to: string[];
  reference_ids: string[];
  /** Addresses; null when a person wrote it. */
  automatic_from: string[] | null;
}

/** The database's domain `message_id` holds nothing else; this is the one place where its text becomes a MessageId. */
export const toMessageId = (text: string) => text as MessageId;

export function toParent(row: ParentRow | null): Parent | null {
  if (row === null) return null;
  // RFC 5322 §3.6.4: a parent without References lends its In-Reply-To, if that is a single one.
  const references =
    row.reference_ids.length > 0 ? row.reference_ids : row.in_reply_to.length === 1 ? row.in_reply_to : [];
  return {
    messageId: toMessageId(row.message_id),
    references: references.map(toMessageId),
    automaticFrom: row.automatic_from ?? [],
  };
}

function toSummary(row: DetailRow): EmailSummary {
  return {
    id: row.id,
    messageId: toMessageId(row.message_id),
    direction: row.direction,
    from: row.from_address,
    to: row.to_addresses,
    subject: row.subject,
    textBody: row.text_body,
    date: row.date,
    attachments: row.attachments.map(toAttachmentView),
  };
}

export function toDetail(row: DetailRow): EmailDetail {
  return {
    ...toSummary(row),
    accountId: row.account_id,
    threadId: row.thread_id,
    customerId: row.customer_id,
    customerSource: row.customer_source,
    companyId: row.company_id,
    companySource: row.company_source,
    cc: row.cc_addresses,
    bcc: row.bcc_addresses,
    htmlBody: row.html_body,
    inReplyTo: row.in_reply_to.map(toMessageId),
    references: row.reference_ids.map(toMessageId),
    relayMessageId: row.relay_message_id === null ? null : toMessageId(row.relay_message_id),
    state: row.state,
    stateDetail: row.state_detail,
    deliveries: row.deliveries.map((delivery) => ({
      address: delivery.address,
      state: delivery.state,
      reply: toReply(delivery),
      report: delivery.report === null ? null : toDeliveryReport(delivery.report),
    })),
    bounce: row.bounce,
    placement: {
      rule: row.placement_rule,
      matchedMessageId: row.placement_message_id === null ? null : toMessageId(row.placement_message_id),
    },
    rawSizeBytes: Number(row.raw_size_bytes),
    replyText: row.reply_text,
    sender: row.sender_address,
    replyTo: row.reply_to_addresses,
    defects: row.variants.length === 0 ? row.defects : [...row.defects, CONTENT_DIFFERS],
    receivedBy: row.received_by,
    variants: row.variants.map(toVariant),
    refusedVariants: Number(row.refused_variants),
    automatic: row.automatic,
    newParticipant: row.new_participant,
    isUnread: row.unread,
    createdAt: row.created_at,
    attempts: row.attempts.map(toAttempt),
    nextAttemptAt: row.next_attempt_at,
    giveUpAt: row.give_up_at,
    claimLost: row.claim_lost,
  };
}

export function toVariant(row: VariantRow): VariantView {
  return {
    id: row.id,
    receivedAt: new Date(row.received_at),
    source: row.received_by,
    isSentCopy: row.is_sent_copy,
    rawSizeBytes: Number(row.raw_size_bytes),
    contentDigest: row.content_digest,
  };
}

function toAttempt(row: AttemptRow): RecordedAttempt {
  return {
    number: row.attempt,
    startedAt: new Date(row.started_at),
    endedAt: row.ended_at === null ? null : new Date(row.ended_at),
    outcome: row.outcome,
    reply: toReply(row),
    detail: row.detail,
  };
}

function toDeliveryReport(row: ReportJson): DeliveryReport {
  const { outcome, status, diagnostic } = row;
  return {
    outcome,
    status,
    diagnostic,
    reportedAt: new Date(row.reported_at),
    reportId: row.report_id,
  };
}

function toReply({ code, status, text }: ReplyColumns): Reply | null {
  return code === null ? null : { code, enhancedStatus: status, text: text ?? '' };
}

function toAttachmentView(row: AttachmentRow): AttachmentView {
  return {
    id: row.id,
    filename: row.filename,
    contentType: row.content_type,
    sizeBytes: Number(row.size_bytes),
    storagePath: row.storage_path,
  };
}

export function toStoredAttachment(row: AttachmentRow & { sha256: Buffer }): StoredAttachment {
  return { ...toAttachmentView(row), sha256: row.sha256.toString('hex') };
}
