/** `MessageStore` on PostgreSQL: each read but that of a large thread is one statement, prepared once per connection. */
import type { Kysely } from 'kysely';
import type { Pool } from 'pg';
import { REPORT_OUTCOMES } from '../../core/delivery/delivery-report.ts';
import type {
  CustomerEmailsQuery,
  EmailDetail,
  EmailPage,
  MessageStore,
  RawPlace,
  StoredAttachment,
} from '../../app/ports.ts';
import { normaliseMessageId } from '../../core/message/message-id.ts';
import type { PlacementFacts } from '../../core/thread/place-outbound.ts';
import type { Database } from './database.ts';
import { EMAIL } from './email-json.ts';
import { selectPage, toPage, type PageRow } from './email-pages.ts';
import { LISTED } from './listed.ts';
import { createNamedQuery } from './named-query.ts';
import { createThreadReader } from './read-thread.ts';
import { createOutboundRecorder } from './record-outbound.ts';
import {
  toDetail,
  toParent,
  toStoredAttachment,
  toVariant,
  type AttachmentRow,
  type DetailRow,
  type FactsRow,
  type VariantRow,
} from './rows.ts';

export function createMessageStore(pool: Pool, db: Kysely<Database>): MessageStore {
  const query = createNamedQuery(pool);

  return {
    recordOutbound: createOutboundRecorder(pool, db),

    async readPlacementFacts(request): Promise<PlacementFacts> {
      const [row] = await query<FactsRow>('placement-facts', PLACEMENT_FACTS, [
        request.threadId,
        request.inReplyTo === null ? null : normaliseMessageId(request.inReplyTo),
        request.accountId,
        request.defaultAccountId,
      ]);
      const parent = toParent(row?.parent ?? null);
      return {
        thread:
          row === undefined || row.thread_id === null || row.thread_account_id === null
            ? null
            : { id: row.thread_id, accountId: row.thread_account_id },
        newest: toParent(row?.newest ?? null),
        inReplyToWritten: parent?.messageId ?? null,
        inReplyToThreadId: row?.in_reply_to_thread_id ?? null,
        inReplyToReferences: parent?.references ?? [],
        inReplyToAutomaticFrom: parent?.automaticFrom ?? [],
      };
    },

    readThread: createThreadReader(pool),

    async listCustomerEmails(request): Promise<EmailPage> {
      const { name, text, values } = customerEmails(request);
      return toPage(query, EMAIL, await query<PageRow>(name, text, values), request.limit);
    },

    async readEmail(id): Promise<EmailDetail | null> {
      const [row] = await query<DetailRow>('read-email', READ_EMAIL, [id]);
      return row === undefined ? null : toDetail(row);
    },

    async readRaw(id) {
      const [row] = await query<RawRow>(
        'read-raw',
        `select raw, raw_path, raw_size_bytes from emails where id = ${EMAIL_ID}`,
        [id],
      );
      return row === undefined ? null : toRawPlace(row);
    },

    async readVariant(emailId, id) {
      const [row] = await query<VariantRow & { text_body: string }>(
        'read-variant',
        `select id, received_at, received_by, is_sent_copy, raw_size_bytes, text_body,
          encode(content_digest, 'hex') as content_digest
        from email_variants where id = $2 and email_id = ${EMAIL_ID}`,
        [emailId, id],
      );
      return row === undefined ? null : { ...toVariant(row), textBody: row.text_body };
    },

    async readVariantRaw(emailId, id) {
      const [row] = await query<RawRow>(
        'read-variant-raw',
        `select raw, raw_path, raw_size_bytes from email_variants where id = $2 and email_id = ${EMAIL_ID}`,
        [emailId, id],
      );
      return row === undefined ? null : toRawPlace(row);
    },

    async readAttachment(id): Promise<StoredAttachment | null> {
      const [row] = await query<AttachmentRow & { sha256: Buffer }>(
        'read-attachment',
        `select id, filename, content_type, size_bytes, storage_path, sha256 from email_attachments where id = $1`,
        [id],
      );
      return row === undefined ? null : toStoredAttachment(row);
    },

    async check() {
      await query('check', 'select 1', []);
    },
  };
}

interface RawRow {
  raw: Buffer | null;
  raw_path: string | null;
  raw_size_bytes: string;
}

const toRawPlace = (row: RawRow): RawPlace => ({
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

const THREAD = `coalesce((select thread_id from thread_aliases where id = $1::uuid), $1::uuid)`;

/** The record of a copy may have gone up in that of the sent email. */
const EMAIL_ID = `coalesce((select email_id from email_aliases where id = $1::uuid), $1::uuid)`;

/**
 * The text holds only the conditions that are asked for, and each such text is a statement of its own: a general one,
 * with `$5 is null or …`, is soon planned for every case, and then reads all pages before the wanted one.
 */
function customerEmails({ customerId, direction, since, until, after, limit }: CustomerEmailsQuery): {
  name: string;
  text: string;
  values: unknown[];
} {
  const values: unknown[] = [customerId, limit + 1];
  const parameter = (value: unknown) => `$${values.push(value)}`;
  const conditions = [
    ...(since === null ? [] : [`e.date >= ${parameter(since)}`]),
    ...(until === null ? [] : [`e.date < ${parameter(until)}`]),
    ...(after === null ? [] : [`(e.date, e.id) < (${parameter(after.date)}, ${parameter(after.id)}::uuid)`]),
  ];
  const asked = [since, until, after].map((value) => (value === null ? '0' : '1')).join('');
  const order = 'order by e.date desc, e.id desc limit $2';
  // The index has the direction before the date: one that a large customer has none of is found as fast as the other.
  const pieces = (direction === null ? ['inbound', 'outbound'] : [direction]).map(
    (one) => `(
      select e.* from emails e
      where ${[`e.customer_id = $1 and e.direction = '${one}' and ${LISTED}`, ...conditions].join(' and ')} ${order}
    )`,
  );
  return {
    name: `customer-emails-${direction ?? 'all'}-${asked}`,
    text: selectPage(EMAIL, `(${pieces.join(' union all ')}) e`, '$2'),
    values,
  };
}

/** The most telling one about a delivery `d`, whatever the order in which they came. */
const DELIVERY_REPORT = `(
    select json_build_object('outcome', r.outcome, 'status', r.status, 'diagnostic', r.diagnostic,
      'reported_at', r.reported_at, 'report_id', r.report_id)
    from delivery_reports r where r.email_id = d.email_id and r.ordinal = d.ordinal
    order by array_position('{${REPORT_OUTCOMES.join(',')}}', r.outcome) desc, r.reported_at desc, r.report_id
    limit 1
  )`;

const READ_EMAIL = `
  select ${SUMMARY}, e.account_id, e.thread_id, e.customer_id, e.customer_source, e.company_id,
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
  from emails e left join send_queue q on q.email_id = e.id where e.id = ${EMAIL_ID}`;

/** People write to mailing lists, too. */
const PARENT = (alias: string) =>
  `case when ${alias}.id is null then null else json_build_object('message_id', coalesce(${alias}.written_message_id, ${alias}.message_id),
    'in_reply_to', ${alias}.in_reply_to, 'reference_ids', ${alias}.reference_ids,
    'automatic_from', case when ${alias}.direction = 'inbound' and ${alias}.automatic ->> 'kind' <> 'list' then (
      select json_agg(a ->> 'address')
      from jsonb_array_elements(jsonb_build_array(${alias}.from_address) || ${alias}.reply_to_addresses) a
    ) end) end`;

/** $1 thread, $2 Message-ID, $3 account named by the caller, $4 default account. */
const PLACEMENT_FACTS = `
  select t.id as thread_id, t.account_id as thread_account_id, ${PARENT('n')} as newest,
    m.thread_id as in_reply_to_thread_id, ${PARENT('p')} as parent
  from (select 1) one
  left join email_threads t on t.id = ${THREAD}
  left join lateral (
    select * from emails e where e.thread_id = t.id and ${LISTED} order by e.date desc, e.id desc limit 1
  ) n on true
  left join thread_message_ids m on m.message_id = $2 and m.account_id = coalesce($3, t.account_id, $4)
  left join lateral (
    select * from emails e
    where e.account_id = coalesce($3, t.account_id, $4) and (e.message_id = $2 or e.relay_message_id = $2)
    order by e.date, e.id limit 1
  ) p on true`;
