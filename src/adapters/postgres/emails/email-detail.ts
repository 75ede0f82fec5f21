/** One email with everything known about it: the statement that reads it, and its mapping to the type of the use cases. */
import type { BounceView, DeliveryView, EmailDetail, EmailSummary } from '../../../app/emails/email-ports.ts';
import { CONTENT_DIFFERS } from '../../../app/emails/variant-view.ts';
import {
  REPORT_OUTCOMES,
  type DeliveryReport,
  type ReportOutcome,
} from '../../../core/delivery/delivery-report.ts';
import type { KeyAuthor } from '../../../core/keys/author.ts';
import type { AttemptOutcome, DeliveryState, RecordedAttempt, Reply } from '../../../core/delivery/states.ts';
import { statement, type RowOf } from '../db/statement.ts';
import { SENT_COPY, toSentCopyView, type SentCopyRow } from '../sent-copies/sent-copies.ts';
import { EMAIL_ID } from './email-aliases.ts';
import { toAttachmentView, toMessageId, toVariant, type AttachmentRow, type VariantRow } from './rows.ts';

/** Of an email `e`. */
export const ATTACHMENTS = `coalesce((
  select json_agg(json_build_object('id', a.id, 'filename', a.filename, 'content_type', a.content_type,
    'size_bytes', a.size_bytes, 'storage_path', a.storage_path, 'content_id', a.content_id, 'inline', a.inline)
    order by a.ordinal)
  from email_attachments a where a.email_id = e.id
), '[]')`;

const SUMMARY = `e.id, coalesce(e.written_message_id, e.message_id) as message_id, e.direction, e.from_address, e.to_addresses, e.subject, e.text_body, e.date,
  ${ATTACHMENTS} as attachments`;

/** The most telling one about a delivery `d`, whatever the order in which they came. */
const DELIVERY_REPORT = `(
    select json_build_object('outcome', r.outcome, 'status', r.status, 'diagnostic', r.diagnostic,
      'reported_at', r.reported_at, 'report_id', r.report_id)
    from delivery_reports r where r.email_id = d.email_id and r.ordinal = d.ordinal
    order by array_position('{${REPORT_OUTCOMES.join(',')}}', r.outcome) desc, r.reported_at desc, r.report_id
    limit 1
  )`;

/** Of an email `e`, with DELIVERY_REPORT. */
export const DELIVERIES = `coalesce((
      select json_agg(json_build_object('address', d.address, 'state', d.state, 'code', d.reply_code,
        'status', d.reply_status, 'text', d.reply_text, 'report', ${DELIVERY_REPORT}) order by d.ordinal)
      from email_deliveries d where d.email_id = e.id
    ), '[]')`;

/** Of an email `e` and its row `q` of the queue: the version of a send that no process has claimed, and none tried before; else null. */
export const SEND_VERSION = `case when e.state = 'queued' and q.owner is null and q.attempts = 0 then q.version end`;

/** The key of a column, as `KeyAuthor`; null for none. */
export const keyAuthor = (column: string): string =>
  `case when ${column} is not null then json_build_object('id', ${column},
    'name', coalesce((select k.name from api_keys k where k.id = ${column}), ${column})) end`;

/** The key that sent the email `e`. */
export const AUTHOR = keyAuthor('e.author_key');

export const READ_EMAIL = statement(
  'read-email',
  `select ${SUMMARY}, e.account_id, e.thread_id, e.customer_id, e.customer_source, e.company_id,
    e.company_source, e.cc_addresses, e.bcc_addresses,
    e.html_body, e.in_reply_to, e.reference_ids, e.relay_message_id, e.state, e.state_detail, e.placement_rule,
    e.placement_message_id, e.raw_size_bytes, e.reply_text, e.sender_address, e.reply_to_addresses, e.defects,
    e.automatic, e.authentication, e.new_participant, e.created_at, e.headers, e.tags, e.metadata, e.unsubscribe_list, e.list_id, ${AUTHOR} as author,
    exists (select from unread_emails u where u.email_id = e.id) as unread, e.received_by,
    coalesce((
      select json_agg(json_build_object('id', v.id, 'received_at', v.received_at, 'received_by', v.received_by,
        'is_sent_copy', v.is_sent_copy, 'raw_size_bytes', v.raw_size_bytes,
        'content_digest', encode(v.content_digest, 'hex')) order by v.received_at, v.id)
      from email_variants v where v.email_id = e.id
    ), '[]') as variants,
    coalesce((select r.messages from email_variants_refused r where r.email_id = e.id), 0) as refused_variants,
    ${DELIVERIES} as deliveries,
    coalesce((
      select json_agg(json_build_object('attempt', a.attempt, 'started_at', a.started_at, 'ended_at', a.ended_at,
        'outcome', a.outcome, 'code', a.reply_code, 'status', a.reply_status, 'text', a.reply_text,
        'detail', a.detail) order by a.attempt)
      from delivery_attempts a where a.email_id = e.id
    ), '[]') as attempts,
    (
      select json_build_object('kind', b.kind, 'format', b.format, 'recipients', b.recipients, 'emailId', b.email_id)
      from bounce_reports b where b.report_id = e.id
    ) as bounce,
    (select ${SENT_COPY} from sent_copies c where c.email_id = e.id) as sent_copy,
    case when q.owner is null then q.due_at end as next_attempt_at,
    case when q.owner is null or q.lease_until is not null then q.give_up_at end as give_up_at,
    ${SEND_VERSION} as send_version,
    q.owner is not null and q.lease_until is null as claim_lost
  from emails e left join send_queue q on q.email_id = e.id where e.id = ${EMAIL_ID}`,
).narrow<DetailColumns>();

/** The computed columns of the statement that reads one email. */
interface DetailColumns {
  message_id: string;
  attachments: AttachmentRow[];
  unread: boolean;
  variants: VariantRow[];
  refused_variants: string;
  deliveries: DeliveryRow[];
  attempts: AttemptRow[];
  bounce: BounceView | null;
  author: KeyAuthor | null;
  claim_lost: boolean;
  sent_copy: SentCopyRow | null;
}

export type DeliveryRow = { address: string; state: DeliveryState; report: ReportJson | null } & ReplyColumns;

type DetailRow = RowOf<typeof READ_EMAIL>;

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
    deliveries: row.deliveries.map(toDelivery),
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
    authentication: row.authentication,
    newParticipant: row.new_participant,
    headers: row.headers,
    unsubscribeList: row.unsubscribe_list,
    listId: row.list_id,
    tags: row.tags,
    metadata: row.metadata ?? {},
    author: row.author,
    isUnread: row.unread,
    createdAt: row.created_at,
    attempts: row.attempts.map(toAttempt),
    nextAttemptAt: row.next_attempt_at,
    giveUpAt: row.give_up_at,
    sendVersion: row.send_version,
    claimLost: row.claim_lost,
    sentCopy: row.sent_copy === null ? null : toSentCopyView(row.sent_copy),
  };
}

export function toDelivery(row: DeliveryRow): DeliveryView {
  return {
    address: row.address,
    state: row.state,
    reply: toReply(row),
    report: row.report === null ? null : toDeliveryReport(row.report),
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
