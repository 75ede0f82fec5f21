/**
 * `ThreadPages` on PostgreSQL: a thread's record and a page of its emails, with all their displayed data, in one statement. A page ends
 * before its texts become too large for one answer, and each text is cut: memory is bounded, whatever the thread contains.
 */
import type { AddressView } from '../../core/address/address-view.ts';
import type { ThreadEmail, ThreadPages, ThreadRecord } from './thread-record-ports.ts';
import type { Protection } from '../../core/mime/parse/parsed-message.ts';
import type { Writer } from '../../core/delivery/writer.ts';
import type { KeyAuthor } from '../../core/keys/author.ts';
import type { SuggestedCounterparty } from '../../core/message/suggested-counterparty.ts';
import type { AuthVerdict } from '../../core/message/authentication.ts';
import { toSnippet } from '../../core/message/snippet.ts';
import { columnsOf, jsonObjects, type JsonOf } from '../../platform/db/json.ts';
import { assigneeName } from './assignees.ts';
import { run, statements, type Executor, type RowOf } from '../../platform/db/statement.ts';
import { ATTACHMENTS, toAttachmentView, type AttachmentJson } from '../emails/attachment-rows.ts';
import {
  AUTHOR,
  DELIVERIES,
  toDelivery,
  WRITTEN_BY,
  type DeliveryJson,
} from '../emails/read-email-detail.ts';
import {
  INVITATION_ANSWER,
  INVITATION_REPLACED_BY,
  toInvitationView,
  type InvitationAnswerJson,
  type ReplacedByJson,
} from '../emails/invitations.ts';
import { STEP_BYTES } from '../emails/email-json.ts';
import { LISTED } from '../emails/listed.ts';
import { toMessageId } from '../emails/message-id-column.ts';
import { threadIdOf } from '../emails/thread-rows.ts';
import { participantsOf, peopleOf } from './participants.ts';

/** Most characters of one text on a page: a hundred printed pages. */
const MAX_TEXT_CHARS = 200_000;
/** Most bytes of HTML: cut HTML would be something else, so longer HTML is left out. */
const MAX_HTML_BYTES = STEP_BYTES;
/** Approximate size of an email on a page without its texts, in bytes. */
const FRAME_BYTES = 2000;

export function createThreadPages(pool: Executor): ThreadPages {
  return {
    async readThreadPage({ threadId, withHtml, limit, after }) {
      const [row] = await run(pool, READ_PAGE.of({ withHtml, isNext: after !== null }), {
        threadId,
        limit,
        afterDate: after?.date ?? null,
        afterId: after?.id ?? null,
      });
      if (row === undefined) return null;
      return { thread: toRecord(row), emails: row.emails.map(toEmail), hasMore: row.has_more };
    },
  };
}

/** `least` ignores null. */
const bytesOf = (text: string, most: number) => `least(coalesce(octet_length(${text}), 0), ${most})`;

/** The emails of the page, newest first, as `n`: only their identifiers, and whether the emails before them leave room. */
const page = (withHtml: boolean, isNext: boolean) => `
  select c.id, c.date, c.place <= $limit and c.total - c.size < ${STEP_BYTES} as is_shown
  from (
    select b.*, row_number() over (order by b.date desc, b.id desc) as place,
      sum(b.size) over (order by b.date desc, b.id desc rows unbounded preceding) as total
    from (
      select e.id, e.date, ${FRAME_BYTES} + ${bytesOf('e.text_body', 4 * MAX_TEXT_CHARS)}
        + ${bytesOf('e.reply_text', 4 * MAX_TEXT_CHARS)}
        + octet_length(e.json_before_text) + pg_column_size(e.cc_addresses) + pg_column_size(e.bcc_addresses)
        + coalesce(pg_column_size(e.metadata), 0) + coalesce(pg_column_size(e.invitation), 0)
        ${withHtml ? `+ ${bytesOf('e.html_body', MAX_HTML_BYTES)}` : ''} as size
      from emails e
      where e.thread_id = t.id
        ${isNext ? 'and (e.date, e.id) < ($afterDate::timestamptz, $afterId::uuid)' : ''}
      order by e.date desc, e.id desc limit $limit::int + 1
    ) b
  ) c`;

const isLong = (text: string) =>
  `octet_length(${text}) > ${MAX_TEXT_CHARS} and length(${text}) > ${MAX_TEXT_CHARS}`;
/** A short text is not touched, and so not copied. */
const cut = (text: string) =>
  `case when ${isLong(text)} then left(${text}, ${MAX_TEXT_CHARS}) else ${text} end`;

const EMAIL = jsonObjects('thread-email-json', { withHtml: [false, true] }, ({ withHtml }) => ({
  from: 'emails e',
  columns: {
    ...columnsOf('e', 'id', 'direction', 'from_address', 'to_addresses', 'cc_addresses', 'bcc_addresses'),
    ...columnsOf(
      'e',
      'reply_to_addresses',
      'subject',
      'date',
      'created_at',
      'customer_id',
      'state',
      'state_detail',
    ),
    ...columnsOf('e', 'placement_rule', 'new_participant', 'tags', 'metadata'),
    message_id: 'coalesce(e.written_message_id, e.message_id)',
    next_attempt_at: '(select q.due_at from send_queue q where q.email_id = e.id and q.owner is null)',
    deliveries: DELIVERIES,
    text_body: cut('e.text_body'),
    reply_text: cut('e.reply_text'),
    has_html: 'e.html_body is not null',
    html_body: withHtml
      ? `case when octet_length(e.html_body) <= ${MAX_HTML_BYTES} then e.html_body end`
      : 'null::text',
    is_truncated: `coalesce(${isLong('e.text_body')}, false) or coalesce(${isLong('e.reply_text')}, false)
      ${withHtml ? `or coalesce(octet_length(e.html_body) > ${MAX_HTML_BYTES}, false)` : ''}`,
    attachments: ATTACHMENTS,
    automatic: "e.automatic ->> 'kind'",
    written_by: WRITTEN_BY,
    undelivered: '(select x.reason from undelivered_sends x where x.email_id = e.id)',
    protection: 'e.protection',
    invitation: 'e.invitation',
    replaced_by: INVITATION_REPLACED_BY,
    answer: INVITATION_ANSWER,
    author: AUTHOR,
    verdict: "e.authentication ->> 'verdict'",
    unread: 'exists (select from unread_emails u where u.email_id = e.id)',
    suggested_counterparty: `case when e.authentication ->> 'verdict' is distinct from 'failed' then e.suggested_counterparty end`,
    variant_count: '(select count(*)::int from email_variants v where v.email_id = e.id)',
  },
})).narrow<EmailColumns>();

interface EmailColumns {
  message_id: string;
  deliveries: DeliveryJson[];
  text_body: string;
  has_html: boolean;
  is_truncated: boolean;
  attachments: AttachmentJson[];
  automatic: ThreadEmail['automatic'];
  written_by: Writer | null;
  undelivered: ThreadEmail['undelivered'];
  protection: Protection | null;
  replaced_by: ReplacedByJson | null;
  answer: InvitationAnswerJson | null;
  author: KeyAuthor | null;
  verdict: AuthVerdict | null;
  unread: boolean;
  suggested_counterparty: SuggestedCounterparty | null;
  variant_count: number;
}

/** Reads the thread `t` with the summary `s`, which a thread without listed emails lacks. */
const READ_PAGE = statements(
  'read-thread-page',
  { withHtml: [false, true], isNext: [false, true] },
  ({ withHtml, isNext }) => `
  select t.id, t.account_id, t.customer_id, t.company_id, t.version, t.assignee, ${assigneeName('t.assignee')} as assignee_name, t.labels,
    case when s.undelivered > 0 then 'open' else t.status end as shown_status, coalesce(s.undelivered, 0) as undelivered,
    case when t.chosen_customer_id is null then t.customer_source else 'operator' end as shown_customer_source,
    case when t.chosen_company_id is null then t.company_source else 'operator' end as shown_company_source,
    coalesce(s.email_count, 0) as email_count, coalesce(s.unread_count, 0) as unread_count,
    coalesce(s.person_direction = 'inbound', false) as unanswered, coalesce(s.has_attachments, false) as has_attachments,
    coalesce(f.subject, '') as subject, coalesce(f.at, t.created_at) as first_activity_at,
    coalesce(s.last_activity_at, f.at, t.created_at) as last_activity_at, p.people, m.emails, m.has_more
  from email_threads t
  left join thread_summaries s on s.thread_id = t.id
  left join lateral (
    select e.subject, email_activity_at(e.date, e.created_at) as at
    from emails e where e.thread_id = t.id and (${LISTED} or coalesce(s.email_count, 0) = 0) order by e.date, e.id limit 1
  ) f on true
  cross join lateral (${peopleOf('t.id', `(${LISTED} or coalesce(s.email_count, 0) = 0)`)}) p
  cross join lateral (
    select coalesce(json_agg(${EMAIL.of({ withHtml }).object} order by n.date desc, n.id desc) filter (where n.is_shown), '[]')
        as emails, coalesce(not bool_and(n.is_shown), false) as has_more
    from (${page(withHtml, isNext)}) n left join emails e on n.is_shown and e.id = n.id
  ) m
  where t.id = ${threadIdOf('$threadId::uuid')}`,
).narrow<PageColumns>();

interface PageColumns {
  assignee_name: string | null;
  shown_status: ThreadRecord['status'];
  undelivered: number;
  shown_customer_source: ThreadRecord['customerSource'];
  shown_company_source: ThreadRecord['companySource'];
  email_count: number;
  unread_count: number;
  unanswered: boolean;
  has_attachments: boolean;
  subject: string;
  first_activity_at: Date;
  last_activity_at: Date;
  people: AddressView[][];
  emails: JsonOf<typeof EMAIL>[];
  has_more: boolean;
}

function toRecord(row: RowOf<ReturnType<typeof READ_PAGE.of>>): ThreadRecord {
  return {
    id: row.id,
    accountId: row.account_id,
    subject: row.subject,
    customerId: row.customer_id,
    customerSource: row.shown_customer_source,
    companyId: row.company_id,
    companySource: row.shown_company_source,
    participants: participantsOf(row.people),
    emailCount: row.email_count,
    unreadCount: row.unread_count,
    unanswered: row.unanswered,
    hasAttachments: row.has_attachments,
    status: row.shown_status,
    undelivered: row.undelivered,
    assignee: row.assignee,
    assigneeName: row.assignee_name,
    labels: row.labels,
    firstActivityAt: row.first_activity_at,
    lastActivityAt: row.last_activity_at,
    version: row.version,
  };
}

function toEmail(row: JsonOf<typeof EMAIL>): ThreadEmail {
  return {
    id: row.id,
    messageId: toMessageId(row.message_id),
    direction: row.direction,
    from: row.from_address,
    to: row.to_addresses,
    cc: row.cc_addresses,
    bcc: row.bcc_addresses,
    replyTo: row.reply_to_addresses,
    subject: row.subject,
    date: new Date(row.date),
    createdAt: new Date(row.created_at),
    customerId: row.customer_id,
    state: row.state,
    stateDetail: row.state_detail,
    nextAttemptAt: row.next_attempt_at === null ? null : new Date(row.next_attempt_at),
    deliveries: row.deliveries.map(toDelivery),
    snippet: toSnippet((row.reply_text ?? '') === '' ? row.text_body : (row.reply_text ?? '')),
    textBody: row.text_body,
    replyText: row.reply_text,
    hasHtml: row.has_html,
    htmlBody: row.html_body,
    isTruncated: row.is_truncated,
    attachments: row.attachments.map(toAttachmentView),
    placement: row.placement_rule,
    automatic: row.automatic,
    writtenBy: row.written_by,
    undelivered: row.undelivered,
    protection: row.protection,
    invitation: toInvitationView(row.invitation, row.replaced_by, row.answer),
    newParticipant: row.new_participant,
    tags: row.tags,
    metadata: row.metadata ?? {},
    author: row.author,
    verdict: row.verdict,
    isUnread: row.unread,
    suggestedCounterparty: row.suggested_counterparty,
    variantCount: row.variant_count,
  };
}
