/** `EmailStore` on PostgreSQL: each read but that of a search is one statement, prepared once per connection. */
import type { Pool } from 'pg';
import { REPORT_OUTCOMES } from '../../../core/delivery/delivery-report.ts';
import type {
  EmailDetail,
  EmailPage,
  EmailStore,
  StoredAttachment,
} from '../../../app/emails/email-ports.ts';
import type { RawPlace } from '../../../app/files/file-ports.ts';
import { EMAIL } from './email-json.ts';
import { createEmailList } from './email-list.ts';
import { selectPage, toPage, type PageRow } from './email-pages.ts';
import { LISTED } from './listed.ts';
import { toDetail, toStoredAttachment, toVariant, type DetailColumns } from './rows.ts';
import { run, statement, statements, type RowOf } from '../db/statement.ts';

export function createEmailStore(pool: Pool): EmailStore {
  return {
    listEmails: createEmailList(pool),

    async listCustomerEmails(request): Promise<EmailPage> {
      const { customerId, direction, since, until, after, limit } = request;
      const list = CUSTOMER_EMAILS.of({
        direction,
        hasSince: since !== null,
        hasUntil: until !== null,
        isNext: after !== null,
      });
      const afterValues = { afterDate: after?.date ?? null, afterId: after?.id ?? null };
      // One more tells whether there is another page.
      const rows = await run(pool, list, { customerId, since, until, ...afterValues, limit: limit + 1 });
      return toPage(pool, EMAIL, rows, limit);
    },

    async readEmail(id): Promise<EmailDetail | null> {
      const [row] = await run(pool, READ_EMAIL, { id });
      return row === undefined ? null : toDetail(row);
    },

    async readRaw(id) {
      const [row] = await run(pool, READ_RAW, { id });
      return row === undefined ? null : toRawPlace(row);
    },

    async readVariant(emailId, id) {
      const [row] = await run(pool, READ_VARIANT, { id: emailId, variantId: id });
      return row === undefined ? null : { ...toVariant(row), textBody: row.text_body };
    },

    async readVariantRaw(emailId, id) {
      const [row] = await run(pool, READ_VARIANT_RAW, { id: emailId, variantId: id });
      return row === undefined ? null : toRawPlace(row);
    },

    async readAttachment(id): Promise<StoredAttachment | null> {
      const [row] = await run(pool, READ_ATTACHMENT, { id });
      return row === undefined ? null : toStoredAttachment(row);
    },
  };
}

const toRawPlace = (row: RowOf<typeof READ_RAW>): RawPlace => ({
  bytes: row.raw,
  path: row.raw_path,
  sizeBytes: Number(row.raw_size_bytes),
});

const ATTACHMENTS = `coalesce((
  select json_agg(json_build_object('id', a.id, 'filename', a.filename, 'content_type', a.content_type,
    'size_bytes', a.size_bytes, 'storage_path', a.storage_path) order by a.ordinal)
  from email_attachments a where a.email_id = e.id
), '[]') as attachments`;

const SUMMARY = `e.id, coalesce(e.written_message_id, e.message_id) as message_id, e.direction, e.from_address, e.to_addresses, e.subject, e.text_body, e.date,
  ${ATTACHMENTS}`;

/** The record of a copy may have been merged into that of the sent email. */
const EMAIL_ID = `coalesce((select email_id from email_aliases where id = $id::uuid), $id::uuid)`;

const CUSTOMER_EMAILS = statements(
  'customer-emails',
  {
    direction: [null, 'inbound', 'outbound'],
    hasSince: [false, true],
    hasUntil: [false, true],
    isNext: [false, true],
  },
  ({ direction, hasSince, hasUntil, isNext }) => {
    const conditions = [
      ...(hasSince ? ['e.date >= $since'] : []),
      ...(hasUntil ? ['e.date < $until'] : []),
      ...(isNext ? ['(e.date, e.id) < ($afterDate::timestamptz, $afterId::uuid)'] : []),
    ];
    // The index has the direction before the date: one that a large customer has none of is found as fast as the other.
    const pieces = (direction === null ? ['inbound', 'outbound'] : [direction]).map(
      (one) => `(
      select e.* from emails e
      where ${[`e.customer_id = $customerId and e.direction = '${one}' and ${LISTED}`, ...conditions].join(' and ')}
      order by e.date desc, e.id desc limit $limit
    )`,
    );
    return selectPage(EMAIL, `(${pieces.join(' union all ')}) e`, '$limit');
  },
).narrow<PageRow>();

/** The most telling one about a delivery `d`, whatever the order in which they came. */
const DELIVERY_REPORT = `(
    select json_build_object('outcome', r.outcome, 'status', r.status, 'diagnostic', r.diagnostic,
      'reported_at', r.reported_at, 'report_id', r.report_id)
    from delivery_reports r where r.email_id = d.email_id and r.ordinal = d.ordinal
    order by array_position('{${REPORT_OUTCOMES.join(',')}}', r.outcome) desc, r.reported_at desc, r.report_id
    limit 1
  )`;

const READ_EMAIL = statement(
  'read-email',
  `select ${SUMMARY}, e.account_id, e.thread_id, e.customer_id, e.customer_source, e.company_id,
    e.company_source, e.cc_addresses, e.bcc_addresses,
    e.html_body, e.in_reply_to, e.reference_ids, e.relay_message_id, e.state, e.state_detail, e.placement_rule,
    e.placement_message_id, e.raw_size_bytes, e.reply_text, e.sender_address, e.reply_to_addresses, e.defects,
    e.automatic, e.new_participant, e.created_at,
    exists (select from unread_emails u where u.email_id = e.id) as unread, e.received_by,
    coalesce((
      select json_agg(json_build_object('id', v.id, 'received_at', v.received_at, 'received_by', v.received_by,
        'is_sent_copy', v.is_sent_copy, 'raw_size_bytes', v.raw_size_bytes,
        'content_digest', encode(v.content_digest, 'hex')) order by v.received_at, v.id)
      from email_variants v where v.email_id = e.id
    ), '[]') as variants,
    coalesce((select r.messages from email_variants_refused r where r.email_id = e.id), 0) as refused_variants,
    coalesce((
      select json_agg(json_build_object('address', d.address, 'state', d.state, 'code', d.reply_code,
        'status', d.reply_status, 'text', d.reply_text, 'report', ${DELIVERY_REPORT}) order by d.ordinal)
      from email_deliveries d where d.email_id = e.id
    ), '[]') as deliveries,
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
    case when q.owner is null then q.due_at end as next_attempt_at,
    case when q.owner is null or q.lease_until is not null then q.give_up_at end as give_up_at,
    q.owner is not null and q.lease_until is null as claim_lost
  from emails e left join send_queue q on q.email_id = e.id where e.id = ${EMAIL_ID}`,
).narrow<DetailColumns>();

const READ_RAW = statement(
  'read-raw',
  `select raw, raw_path, raw_size_bytes from emails where id = ${EMAIL_ID}`,
);

const READ_VARIANT = statement(
  'read-variant',
  `select id, received_at, received_by, is_sent_copy, raw_size_bytes, text_body,
          encode(content_digest, 'hex') as content_digest
        from email_variants where id = $variantId and email_id = ${EMAIL_ID}`,
).narrow<{ content_digest: string }>();

const READ_VARIANT_RAW = statement(
  'read-variant-raw',
  `select raw, raw_path, raw_size_bytes from email_variants where id = $variantId and email_id = ${EMAIL_ID}`,
);

const READ_ATTACHMENT = statement(
  'read-attachment',
  `select id, filename, content_type, size_bytes, storage_path, sha256 from email_attachments where id = $id`,
);
