/**
 * Writes outbound emails: any number of them in one statement, so that one round trip and one commit serve many.
 * A row that is there already is left as it is, which makes every repeat harmless.
 */
import { CompiledQuery, type Transaction } from 'kysely';
import type { Pool } from 'pg';
import { addrSpec, type Address } from '../../../core/address/address.ts';
import { sentAutomatic } from '../../../core/delivery/automatic.ts';
import { PRIORITIES } from '../../../core/delivery/priority.ts';
import type { OutboundRecord } from '../../../app/send/outbound-ports.ts';
import type { RecordedAttempt } from '../../../core/delivery/states.ts';
import type { Database } from '../db/database.ts';
import { counterparties, linkColumns, linkJoins } from '../customers/match-customer.ts';
import { learnAddresses } from '../customers/customer-addresses.ts';
import { markToRelink } from '../customers/customer-links.ts';
import { makeThreads } from '../emails/thread-rows.ts';
import { tieMessageIds } from '../threads/message-ids.ts';
import { RULES_ARE_FRESH } from '../customers/rules-lock.ts';
import { settleCustomersOf } from '../customers/settle-customers.ts';

/**
 * Emails that start a conversation, in one statement and a commit of its own. Named, because planning it takes longer
 * than carrying it out for one email.
 *
 * Returns the ids of those whose Message-ID is known to the account already (they were recorded before, or an answer or
 * a copy came first), or of whose second there is an email that another program sent, which could be a copy. They are not
 * inserted; they have to be linked.
 */
export async function insertEmails(
  pool: Pool,
  records: readonly OutboundRecord[],
): Promise<ReadonlySet<string>> {
  const { rows } = await pool.query<{ id: string }>({
    name: 'insert-emails',
    text: INSERT_NEW_EMAILS,
    values: [toJson(records)],
  });
  return new Set(rows.map(({ id }) => id));
}

/**
 * One email whose thread and Message-IDs are there already, the thread locked, as a part of a transaction. False when it
 * is there, too.
 */
export async function insertEmail(
  trx: Transaction<Database>,
  record: OutboundRecord,
  link: StoredLink,
): Promise<boolean> {
  const query = CompiledQuery.raw(INSERT_LINKED_EMAIL, [toJson([{ ...record, link }])]) as CompiledQuery<{
    decides: boolean;
  }>;
  const [row] = (await trx.executeQuery(query)).rows;
  if (row?.decides === true) await settleCustomersOf(trx, [record]);
  return row !== undefined;
}

/** What its sender said about its thread; see migrations/0001_schema/emails.ts. */
export interface StoredLink {
  readonly anchorId: string | null;
  readonly ignoredIds: readonly string[];
  readonly partyId: string | null;
}

type LinkedRecord = OutboundRecord & { readonly link?: StoredLink };

const toJson = (records: readonly LinkedRecord[]) => JSON.stringify(records.map(toRow));

/** How an address is stored and shown. */
const toView = (address: Address) => ({ name: address.name, address: addrSpec(address) });

function toRow(record: LinkedRecord) {
  return {
    id: record.id,
    account_id: record.accountId,
    thread_id: record.threadId,
    message_id: record.messageId,
    relay_message_id: record.relayMessageId,
    in_reply_to: record.inReplyTo,
    reference_ids: record.references,
    from_address: toView(record.from),
    to_addresses: record.to.map(toView),
    cc_addresses: record.cc.map(toView),
    bcc_addresses: record.bcc.map(toView),
    subject: record.subject,
    subject_key: record.subjectKey ?? null,
    text_body: record.textBody,
    html_body: record.htmlBody,
    date: record.date,
    customer_id: record.customerId,
    company_id: record.companyId,
    state: record.state,
    state_detail: record.stateDetail,
    placement_rule: record.placement.rule,
    placement_message_id: record.placement.matchedMessageId,
    anchor_id: record.link?.anchorId ?? null,
    ignored_ids: record.link?.ignoredIds ?? [],
    // For the first email of a thread it is the customer that this email names.
    party_id: record.link === undefined ? record.customerId : record.link.partyId,
    raw_size_bytes: record.rawSizeBytes,
    raw: record.raw?.toString('base64') ?? null,
    raw_path: record.rawPath,
    automatic: record.autoSubmitted ? sentAutomatic(record.autoSubmitted) : null,
    exchange_with: record.exchangeWith ?? null,
    deliveries: record.deliveries.map((delivery) => ({
      address: delivery.address,
      state: delivery.state,
      reply_code: delivery.reply?.code ?? null,
      reply_status: delivery.reply?.enhancedStatus ?? null,
      reply_text: delivery.reply?.text ?? null,
    })),
    attempts: record.attempt === null ? [] : [toAttemptRow(record.attempt)],
    lane: record.queue?.lane ?? null,
    priority: record.queue === null ? null : PRIORITIES.indexOf(record.queue.priority),
    due_at: record.queue?.dueAt ?? null,
    give_up_at: record.queue?.giveUpAt ?? null,
    attachments: record.attachments.map((attachment) => ({
      id: attachment.id,
      filename: attachment.filename,
      content_type: attachment.contentType,
      size_bytes: attachment.sizeBytes,
      storage_path: attachment.storagePath,
      sha256: attachment.sha256,
    })),
  };
}

function toAttemptRow({ number, startedAt, endedAt, outcome, reply, detail }: RecordedAttempt) {
  return {
    attempt: number,
    started_at: startedAt,
    ended_at: endedAt,
    outcome,
    reply_code: reply?.code ?? null,
    reply_status: reply?.enhancedStatus ?? null,
    reply_text: reply?.text ?? null,
    detail,
  };
}

const RECIPIENTS = '(r.to_addresses || r.cc_addresses || r.bcc_addresses)';
const COUNTERPARTIES = counterparties(`'outbound'`, 'r.from_address', RECIPIENTS);

/** `decides`: the email decides the customer of its thread, which existed before. */
const INPUT = `
    rules as materialized (
      select ${RULES_ARE_FRESH} as are_fresh
    ), input as materialized (
      select r.*, ${linkColumns('r.customer_id', 'r.company_id')},
        t.id is not null and (
          (r.customer_id is not null and t.customer_source is distinct from 'explicit')
          or (r.company_id is not null and t.company_source is distinct from 'explicit')
          or (t.customer_id is null and m.customer_id is not null)
        ) as decides
      from jsonb_to_recordset($1::jsonb) as r (
        id uuid, account_id text, thread_id uuid, message_id text, relay_message_id text, in_reply_to text[],
        reference_ids text[], subject_key text, from_address jsonb, to_addresses jsonb, cc_addresses jsonb, bcc_addresses jsonb,
        subject text, text_body text, html_body text, date timestamptz, customer_id uuid, company_id uuid, state text,
        state_detail text, placement_rule text, placement_message_id text, raw_size_bytes bigint, raw text,
        raw_path text, deliveries jsonb, attachments jsonb, attempts jsonb, lane text, priority smallint,
        due_at timestamptz, give_up_at timestamptz, automatic jsonb, exchange_with text, anchor_id uuid,
        ignored_ids text[], party_id uuid
      )
      left join email_threads t on t.id = r.thread_id
      ${linkJoins('r.customer_id', COUNTERPARTIES)}
    )`;

/** Known from its Sent copy alone; the index emails_sent_elsewhere has them. */
export const SENT_ELSEWHERE = `e.direction = 'outbound' and e.identity_key is not null`;

/**
 * A transaction that records sends of an account and has searched for earlier copies holds it, shared, until its sends
 * are visible. A process that recorded such a copy waits for it once and then searches for sends, so one of the two sees
 * the other.
 */
export const SENDS_LOCK = (account: string) =>
  `pg_advisory_xact_lock_shared(${0x73656e64}, hashtext(${account}))`;
export const AWAIT_SENDS = `select pg_advisory_xact_lock(${0x73656e64}, hashtext($1))`;

/** `fresh`: those not known yet. Message-IDs alone tell, so that a transaction that links the same at this moment waits. */
const LINK_FRESH = `
    locks as materialized (
      select ${SENDS_LOCK('a.account_id')} from (select distinct account_id from input) a
    ), new_ids as (
      ${tieMessageIds(`
        select account_id, message_id, thread_id from input
        union
        select account_id, relay_message_id, thread_id from input where relay_message_id is not null`)}
    ), fresh as materialized (
      select i.* from input i
      where (select count(*) from locks) > 0 and (i.account_id, i.message_id) in (select account_id, message_id from new_ids)
        and (i.relay_message_id is null
          or (i.account_id, i.relay_message_id) in (select account_id, message_id from new_ids))
        and not exists (
          select from emails e where e.account_id = i.account_id and e.date = i.date and ${SENT_ELSEWHERE}
        )
    ), new_threads as (
      -- A new thread takes its customer and company from its first email.
      ${makeThreads(`
        select i.thread_id, i.account_id, f.link_customer, nullif(f.link_customer_source, 'ambiguous'), f.link_company,
          f.link_company_source
        from input i left join fresh f on f.id = i.id
        where i.thread_id in (select thread_id from new_ids)`)}
    )`;

/** @param source `input` or `fresh` */
const insertFrom = (source: string) => `
    new_emails as (
      insert into emails (
        id, account_id, thread_id, direction, message_id, relay_message_id, in_reply_to, reference_ids, from_address,
        to_addresses, cc_addresses, bcc_addresses, subject, text_body, html_body, date, customer_id, customer_source,
        company_id, company_source, state, state_detail, placement_rule, placement_message_id, raw_size_bytes, raw,
        raw_path, automatic, exchange_with, subject_key, anchor_id, ignored_ids, party_id
      )
      select
        id, account_id, thread_id, 'outbound', message_id, relay_message_id, in_reply_to, reference_ids, from_address,
        to_addresses, cc_addresses, bcc_addresses, subject, text_body, html_body, date, link_customer,
        link_customer_source, link_company, link_company_source, state, state_detail, placement_rule,
        placement_message_id, raw_size_bytes, decode(raw, 'base64'), raw_path, automatic, exchange_with, subject_key,
        anchor_id, ignored_ids, party_id
      from ${source}
      on conflict (id) do nothing
      returning id
    ), new_attempts as (
      insert into delivery_attempts (
        email_id, attempt, started_at, ended_at, outcome, reply_code, reply_status, reply_text, detail
      )
      select i.id, a.* from ${source} i, jsonb_to_recordset(i.attempts) as a (
        attempt int, started_at timestamptz, ended_at timestamptz, outcome text, reply_code int, reply_status text,
        reply_text text, detail text
      )
      where i.attempts <> '[]'
      on conflict (email_id, attempt) do nothing
    ), new_queue as (
      -- Only together with its email: a repeat must not queue again what was sent meanwhile.
      insert into send_queue (email_id, account_id, lane, priority, due_at, give_up_at, attempts)
      select i.id, i.account_id, i.lane, i.priority, coalesce(i.due_at, now()), i.give_up_at,
        jsonb_array_length(i.attempts)
      from ${source} i join new_emails n on n.id = i.id
      where i.lane is not null
      on conflict (email_id) do nothing
    ), new_deliveries as (
      insert into email_deliveries (email_id, ordinal, address, state, reply_code, reply_status, reply_text)
      select i.id, d.ordinality - 1, d.address, d.state, d.reply_code, d.reply_status, d.reply_text
      from ${source} i, rows from (
        jsonb_to_recordset(i.deliveries)
          as (address text, state text, reply_code int, reply_status text, reply_text text)
      ) with ordinality as d (address, state, reply_code, reply_status, reply_text, ordinality)
      on conflict (email_id, ordinal) do nothing
    ), new_attachments as (
      insert into email_attachments (id, email_id, ordinal, filename, content_type, size_bytes, storage_path, sha256)
      select a.id, i.id, a.ordinality - 1, a.filename, a.content_type, a.size_bytes, a.storage_path,
        decode(a.sha256, 'hex')
      from ${source} i, rows from (
        jsonb_to_recordset(i.attachments)
          as (id uuid, filename text, content_type text, size_bytes bigint, storage_path text, sha256 text)
      ) with ordinality as a (id, filename, content_type, size_bytes, storage_path, sha256, ordinality)
      where i.attachments <> '[]'
      on conflict do nothing
    ), learned as (
      ${learnAddresses(
        `select i.customer_id, i.to_addresses from rules, ${source} i where i.customer_id is not null and rules.are_fresh`,
      )}
    ), relinks as (
      ${markToRelink(`select i.id from rules, ${source} i where not rules.are_fresh`)}
    )`;

const INSERT_NEW_EMAILS = `
    with ${INPUT}, ${LINK_FRESH}, ${insertFrom('fresh')}
    select id from input where id not in (select id from fresh)`;

const INSERT_LINKED_EMAIL = `
    with ${INPUT}, ${insertFrom('input')}
    select i.decides from input i join new_emails n on n.id = i.id`;
