/** Writes received emails and Sent copies whose threads exist and are locked: any number of them in one statement. */
import { sql, type Transaction } from 'kysely';
import type { Database } from '../db/database.ts';
import { insertReport } from './delivery-reports.ts';
import type { PlacedRecord, ReceivedLink } from './link-received.ts';
import { RecordedMeanwhile } from '../db/linking-transaction.ts';
import { longText, type LongTexts } from '../emails/long-texts.ts';
import { toReadColumns, toTextColumns } from './received-columns.ts';
import { clean } from '../emails/received-values.ts';
import { SENT_COPY_DETAIL, takersOf } from './sent-copies.ts';
import { markToRelink } from '../customers/customer-links.ts';
import { settleCustomersOf } from '../customers/settle-customers.ts';

/**
 * Throws RecordedMeanwhile when one of them is there.
 *
 * @param links of each, in their order
 * @param long texts of the first email that were sent ahead; it is the only one then
 */
export async function insertReceived(
  trx: Transaction<Database>,
  emails: readonly PlacedRecord[],
  links: readonly ReceivedLink[],
  long: LongTexts = {},
): Promise<void> {
  const rows = emails.map((email, index) => toRow(email, links[index] as ReceivedLink, long));
  const read = emails.filter(({ record }) => record.isRead).map(({ record }) => record.id);
  const { rows: counts } = await sql<{ inserted: string }>`
    with read as materialized (
      -- For the trigger that marks received emails as unread (emails_after_insert).
      select set_config('email_worker.read_emails', ${`{${read.join()}}`}, true)
    ), input as materialized (select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (${sql.raw(COLUMNS)}))
    ${sql.raw(INSERT)}`.execute(trx);
  if (Number(counts[0]?.inserted) !== emails.length) throw new RecordedMeanwhile();

  for (const { record } of emails) {
    if (!record.isSentCopy && record.report !== null) {
      await insertReport(trx, record.id, record.accountId, record.report);
    }
  }
  const deciding = emails.filter((_, index) => links[index]?.decides === true);
  await settleCustomersOf(
    trx,
    deciding.map(({ record, threadId }) => ({ id: record.id, threadId })),
  );
}

export const directionOf = ({ isSentCopy }: { readonly isSentCopy: boolean }) =>
  isSentCopy ? 'outbound' : 'inbound';
export const stateOf = ({ isSentCopy }: { readonly isSentCopy: boolean }) =>
  isSentCopy ? 'sent' : 'received';

function toRow({ record, threadId, placement }: PlacedRecord, link: ReceivedLink, long: LongTexts) {
  const texts = Object.entries(toTextColumns(record)).map(([column, text]) => [
    column,
    column in long || text === null ? null : clean(text),
  ]);
  return {
    ...toReadColumns(record),
    ...(Object.fromEntries(texts) as Readonly<Record<string, string | null>>),
    long_texts: long,
    id: record.id,
    relay_message_id: record.otherMessageId,
    account_id: record.accountId,
    thread_id: threadId,
    direction: directionOf(record),
    date: record.date,
    customer_id: link.customerId,
    customer_source: link.customerSource,
    company_id: link.companyId,
    company_source: link.companySource,
    state: stateOf(record),
    state_detail: record.isSentCopy ? SENT_COPY_DETAIL : null,
    placement_rule: placement.rule,
    placement_message_id: placement.matchedMessageId,
    subject_key: record.bySubject?.key ?? null,
    raw_size_bytes: record.rawSizeBytes,
    raw: record.raw?.toString('base64') ?? null,
    raw_path: record.rawPath,
    identity_key: record.identityKey,
    content_digest: record.contentDigest,
    received_by: record.receivedBy,
    new_participant: link.isNewParticipant,
    own_customer: link.isOnlyNamed,
    is_fresh: link.isFresh,
    takers: record.isSentCopy ? takersOf(record) : [],
    attachments: record.attachments.map((attachment) => ({
      id: attachment.id,
      filename: clean(attachment.filename),
      content_type: attachment.contentType,
      size_bytes: attachment.sizeBytes,
      storage_path: attachment.storagePath,
      sha256: attachment.sha256,
    })),
  };
}

/** Addresses, and `automatic`, are JSON as text. */
const COLUMNS = `
  id uuid, account_id text, thread_id uuid, direction text, message_id text,
  written_message_id text, relay_message_id text, in_reply_to text[], reference_ids text[],
  bounced_message_id text, from_address text, sender_address text, reply_to_addresses text, to_addresses text,
  cc_addresses text, bcc_addresses text, subject text, text_body text, html_body text, reply_text text, long_texts jsonb, defects text[],
  automatic text, date timestamptz, customer_id uuid, customer_source text, company_id uuid, company_source text,
  state text, state_detail text, placement_rule text, placement_message_id text, subject_key text,
  raw_size_bytes bigint, raw text, raw_path text, identity_key text, content_digest text, received_by jsonb,
  new_participant boolean, own_customer boolean, is_fresh boolean,
  takers text[], attachments jsonb`;

const TEXT_COLUMNS = ['text_body', 'html_body', 'reply_text']
  .map(
    (column) =>
      `case when long_texts ? '${column}' then ${longText('input.id', `long_texts ->> '${column}'`)} else ${column} end`,
  )
  .join(', ');

const INSERT = `
  , new_emails as (
    insert into emails (
      id, account_id, thread_id, direction, message_id, written_message_id, relay_message_id, in_reply_to,
      reference_ids, bounced_message_id, from_address, sender_address, reply_to_addresses, to_addresses, cc_addresses, bcc_addresses, subject, text_body, html_body,
      reply_text, defects, automatic, date, customer_id, customer_source, company_id, company_source, state,
      state_detail, placement_rule, placement_message_id, subject_key, raw_size_bytes, raw, raw_path, identity_key,
      content_digest, received_by, new_participant, own_customer
    )
    select
      id, account_id, thread_id, direction, message_id, written_message_id, relay_message_id, in_reply_to,
      reference_ids, bounced_message_id, from_address::jsonb, sender_address::jsonb, reply_to_addresses::jsonb, to_addresses::jsonb, cc_addresses::jsonb,
      bcc_addresses::jsonb, subject, ${TEXT_COLUMNS}, defects, automatic::jsonb, date, customer_id,
      customer_source, company_id, company_source, state, state_detail, placement_rule, placement_message_id,
      subject_key, raw_size_bytes, decode(raw, 'base64'), raw_path, decode(identity_key, 'hex'),
      decode(content_digest, 'hex'), received_by, new_participant, own_customer
    from input
    on conflict (account_id, identity_key) where identity_key is not null do nothing
    returning id
  ), new_attachments as (
    insert into email_attachments (id, email_id, ordinal, filename, content_type, size_bytes, storage_path, sha256)
    select a.id, i.id, a.ordinality - 1, a.filename, a.content_type, a.size_bytes, a.storage_path,
      decode(a.sha256, 'hex')
    from input i join new_emails n on n.id = i.id, rows from (
      jsonb_to_recordset(i.attachments)
        as (id uuid, filename text, content_type text, size_bytes bigint, storage_path text, sha256 text)
    ) with ordinality as a (id, filename, content_type, size_bytes, storage_path, sha256, ordinality)
    where i.attachments <> '[]'
  ), new_deliveries as (
    insert into email_deliveries (email_id, ordinal, address, state)
    select i.id, t.ordinality - 1, t.address, 'accepted'
    from input i join new_emails n on n.id = i.id, unnest(i.takers) with ordinality as t (address, ordinality)
  ), relinks as (
    ${markToRelink('select i.id from input i join new_emails n on n.id = i.id where not i.is_fresh')}
  )
  select (select count(*) from new_emails) as inserted from read`;
