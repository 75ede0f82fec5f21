/** One email with all its data: the statement that reads it, and its mapping to the type of the use cases. */
import type { BounceView, DeliveryView, EmailDetail, EmailSummary } from './email-ports.ts';
import { CONTENT_DIFFERS } from './variant-view.ts';
import { REPORT_OUTCOMES, type DeliveryReport } from '../../core/delivery/delivery-report.ts';
import type { Protection } from '../../core/mime/parse/parsed-message.ts';
import type { Writer } from '../../core/delivery/writer.ts';
import type { KeyAuthor } from '../../core/keys/author.ts';
import type { RecordedAttempt, Reply } from '../../core/delivery/states.ts';
import { columnsOf, jsonObject, jsonObjects, type JsonOf } from '../../platform/db/json.ts';
import { statement, type RowOf } from '../../platform/db/statement.ts';
import { SENT_COPY, toSentCopyView, type SentCopyJson } from './sent-copy-json.ts';
import { ATTACHMENTS, toAttachmentView, type AttachmentJson } from './attachment-rows.ts';
import {
  INVITATION_ANSWER,
  INVITATION_REPLACED_BY,
  toInvitationView,
  type InvitationAnswerJson,
  type ReplacedByJson,
} from './invitations.ts';
import { EMAIL_ID } from './email-aliases.ts';
import { toMessageId } from './message-id-column.ts';
import { toVariant, VARIANTS, type VariantJson } from './variant-rows.ts';

const SUMMARY = `e.id, coalesce(e.written_message_id, e.message_id) as message_id, e.direction, e.from_address, e.to_addresses, e.subject, e.text_body, e.date,
  ${ATTACHMENTS} as attachments`;

const REPORT = jsonObject('delivery-report-json', {
  from: 'delivery_reports r',
  columns: columnsOf('r', 'outcome', 'status', 'diagnostic', 'reported_at', 'report_id'),
});

/** The most informative report about a delivery `d`, whatever the order in which the reports came. */
const REPORT_OF_DELIVERY = REPORT.first(`where r.email_id = d.email_id and r.ordinal = d.ordinal
    order by array_position('{${REPORT_OUTCOMES.join(',')}}', r.outcome) desc, r.reported_at desc, r.report_id limit 1`);

const DELIVERY = jsonObject('delivery-json', {
  from: 'email_deliveries d',
  columns: {
    ...columnsOf('d', 'address', 'state', 'reply_code', 'reply_status', 'reply_text'),
    report: REPORT_OF_DELIVERY,
  },
}).narrow<{ report: JsonOf<typeof REPORT> | null }>();

/** Of an email `e`; null for a sent one. */
export const WRITTEN_BY = `case when e.direction = 'inbound' then e.written_by end`;

/** The deliveries of an email `e`, for toDelivery. */
export const DELIVERIES = DELIVERY.array('where d.email_id = e.id', 'd.ordinal');
export type DeliveryJson = JsonOf<typeof DELIVERY>;

const ATTEMPT = jsonObject('attempt-json', {
  from: 'delivery_attempts a',
  columns: columnsOf(
    'a',
    'attempt',
    'started_at',
    'ended_at',
    'outcome',
    'reply_code',
    'reply_status',
    'reply_text',
    'detail',
  ),
});

const BOUNCE = jsonObject('bounce-json', {
  from: 'bounce_reports b',
  columns: columnsOf('b', 'kind', 'format', 'recipients', 'email_id'),
}).narrow<Pick<BounceView, 'format' | 'recipients'>>();

/** For an email `e` and its row `q` of the queue: the version of a send that no process has claimed and that was never tried; else null. */
export const SEND_VERSION = `case when e.state = 'queued' and q.owner is null and q.attempts = 0 and not e.is_as_written
  then q.version end`;

/** The key that sent the email `e` or wrote the draft `d`. A key that is gone is shown by its id. */
const KEY_AUTHOR = jsonObjects('key-author-json', { alias: ['e', 'd'] }, ({ alias }) => ({
  from: { e: 'emails e', d: 'drafts d' }[alias],
  columns: {
    id: `${alias}.author_key`,
    name: `coalesce((select k.name from api_keys k where k.id = ${alias}.author_key), ${alias}.author_key)`,
  },
})).narrow<KeyAuthor>();

/** A KeyAuthor; null for none. */
export const keyAuthor = (alias: 'e' | 'd'): string =>
  `case when ${alias}.author_key is not null then ${KEY_AUTHOR.of({ alias }).object} end`;

export const AUTHOR = keyAuthor('e');

export const READ_EMAIL = statement(
  'read-email',
  `select ${SUMMARY}, e.account_id, e.thread_id, e.customer_id, e.customer_source, e.company_id,
    e.company_source, e.cc_addresses, e.bcc_addresses,
    e.html_body, e.in_reply_to, e.reference_ids, e.relay_message_id, e.state, e.state_detail, e.placement_rule,
    e.placement_message_id, e.raw_size_bytes, e.reply_text, e.sender_address, e.suggested_counterparty, e.reply_to_addresses, e.defects,
    e.automatic, e.protection, e.invitation, ${INVITATION_REPLACED_BY} as replaced_by, ${INVITATION_ANSWER} as answer,
    ${WRITTEN_BY} as written_by, e.authentication, e.new_participant, e.created_at, e.headers, e.tags, e.metadata, e.unsubscribe_list, e.list_id, ${AUTHOR} as author,
    exists (select from unread_emails u where u.email_id = e.id) as unread, e.received_by,
    ${VARIANTS} as variants,
    coalesce((select r.messages from email_variants_refused r where r.email_id = e.id), 0) as refused_variants,
    ${DELIVERIES} as deliveries,
    ${ATTEMPT.array('where a.email_id = e.id', 'a.attempt')} as attempts,
    ${BOUNCE.first('where b.report_id = e.id')} as bounce,
    ${SENT_COPY.first('where c.email_id = e.id')} as sent_copy,
    case when q.owner is null then q.due_at end as next_attempt_at,
    case when q.owner is null or q.lease_until is not null then q.give_up_at end as give_up_at,
    ${SEND_VERSION} as send_version,
    q.owner is not null and q.lease_until is null as claim_lost
  from emails e left join send_queue q on q.email_id = e.id where e.id = ${EMAIL_ID}`,
).narrow<DetailColumns>();

/** The computed columns of the statement that reads one email. */
interface DetailColumns {
  written_by: Writer | null;
  protection: Protection | null;
  replaced_by: ReplacedByJson | null;
  answer: InvitationAnswerJson | null;
  message_id: string;
  attachments: AttachmentJson[];
  unread: boolean;
  variants: VariantJson[];
  refused_variants: string;
  deliveries: DeliveryJson[];
  attempts: JsonOf<typeof ATTEMPT>[];
  bounce: JsonOf<typeof BOUNCE> | null;
  author: KeyAuthor | null;
  claim_lost: boolean;
  sent_copy: SentCopyJson | null;
}

type DetailRow = RowOf<typeof READ_EMAIL>;

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
    bounce: row.bounce === null ? null : toBounce(row.bounce),
    placement: {
      rule: row.placement_rule,
      matchedMessageId: row.placement_message_id === null ? null : toMessageId(row.placement_message_id),
    },
    rawSizeBytes: Number(row.raw_size_bytes),
    replyText: row.reply_text,
    sender: row.sender_address,
    // A forger may have written all of it.
    suggestedCounterparty: row.authentication?.verdict === 'failed' ? null : row.suggested_counterparty,
    replyTo: row.reply_to_addresses,
    defects: row.variants.every((one) => one.same_content) ? row.defects : [...row.defects, CONTENT_DIFFERS],
    receivedBy: row.received_by,
    variants: row.variants.map(toVariant),
    refusedVariants: Number(row.refused_variants),
    automatic: row.automatic,
    protection: row.protection,
    invitation: toInvitationView(row.invitation, row.replaced_by, row.answer),
    writtenBy: row.written_by,
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

export function toDelivery(row: DeliveryJson): DeliveryView {
  return {
    address: row.address,
    state: row.state,
    reply: toReply(row),
    report: row.report === null ? null : toDeliveryReport(row.report),
  };
}

function toAttempt(row: JsonOf<typeof ATTEMPT>): RecordedAttempt {
  return {
    number: row.attempt,
    startedAt: new Date(row.started_at),
    endedAt: row.ended_at === null ? null : new Date(row.ended_at),
    outcome: row.outcome,
    reply: toReply(row),
    detail: row.detail,
  };
}

function toDeliveryReport(row: JsonOf<typeof REPORT>): DeliveryReport {
  const { outcome, status, diagnostic } = row;
  return {
    outcome,
    status,
    diagnostic,
    reportedAt: new Date(row.reported_at),
    reportId: row.report_id,
  };
}

function toReply({
  reply_code: code,
  reply_status: enhancedStatus,
  reply_text: text,
}: Pick<DeliveryJson, 'reply_code' | 'reply_status' | 'reply_text'>): Reply | null {
  return code === null ? null : { code, enhancedStatus, text: text ?? '' };
}

const toBounce = ({ email_id: emailId, ...bounce }: JsonOf<typeof BOUNCE>): BounceView => ({
  ...bounce,
  emailId,
});
