/** `ReparseStore` on PostgreSQL. Emails that this service composed were never read from a raw message: they have no key. */
import { sql, type Kysely, type RawBuilder, type Transaction } from 'kysely';
import type { Pool } from 'pg';
import type { ReadEmail, Reading, ReparseStore, ReplaceResult } from '../../../app/receive/reparse-ports.ts';
import type { StoredAttachment } from '../../../app/emails/email-ports.ts';
import type { AutomaticMail } from '../../../core/delivery/automatic.ts';
import { placeInbound } from '../../../core/thread/place-inbound.ts';
import type { Database } from '../db/database.ts';
import { findRecorded } from '../emails/find-recorded.ts';
import { insertReport } from './delivery-reports.ts';
import { linkThread } from '../threads/link-thread.ts';
import { ownersOf } from '../threads/message-ids.ts';
import { ownIdsOf } from './record-alone.ts';
import { inLinkingTransaction } from '../db/linking-transaction.ts';
import { createNamedQuery } from '../db/named-query.ts';
import { dropLongTexts, sendLongTexts, textOf, type LongTexts } from '../emails/long-texts.ts';
import { insertAttachments, toReadColumns, toTextColumns } from './received-columns.ts';
import { toStoredAttachment, type AttachmentRow } from '../emails/rows.ts';
import { settleCustomers } from '../customers/settle-customers.ts';
import { lockThreadOf } from '../emails/thread-rows.ts';

export function createReparseStore(pool: Pool, db: Kysely<Database>): ReparseStore {
  const query = createNamedQuery(pool);
  return {
    async list({ emailId, accountId, defect, since }, after, limit) {
      const values: unknown[] = [limit];
      const parameter = (value: unknown) => `$${values.push(value)}`;
      const conditions = [
        emailId === null ? '' : `and id = ${parameter(emailId)}::uuid`,
        accountId === null ? '' : `and account_id = ${parameter(accountId)}`,
        defect === null ? '' : `and defects @> array[${parameter(defect)}::text]`,
        since === null ? '' : `and created_at >= ${parameter(since)}`,
        after === null ? '' : `and id > ${parameter(after)}::uuid`,
      ];
      const asked = conditions.map((condition) => (condition === '' ? '0' : '1')).join('');
      const rows = await query<{ id: string }>(
        `reparse-list-${asked}`,
        `select id from emails where identity_key is not null ${conditions.join(' ')} order by id limit $1`,
        values,
      );
      return rows.map(({ id }) => id);
    },

    read: readEmailOf(pool),

    replace: (email, reading, dryRun) =>
      inLinkingTransaction(db, (trx, exclusive) => replaceReading(trx, email, reading, dryRun, exclusive)),
  };
}

/** The function that reads what was read before of an email; see `ReparseStore.read`. */
export function readEmailOf(pool: Pool): ReparseStore['read'] {
  const query = createNamedQuery(pool);
  return async (id) => {
    const [row] = await query<{ account_id: string; date: Date; automatic: AutomaticMail | null }>(
      'reparse-read',
      'select account_id, date, automatic from emails where id = $1 and identity_key is not null',
      [id],
    );
    if (row === undefined) return null;
    const attachments = await query<AttachmentRow & { sha256: Buffer }>(
      'reparse-attachments',
      `select id, filename, content_type, size_bytes, storage_path, sha256 from email_attachments
         where email_id = $1 order by ordinal`,
      [id],
    );
    return {
      id,
      accountId: row.account_id,
      date: row.date,
      automatic: row.automatic,
      attachments: attachments.map(toStoredAttachment),
    };
  };
}

/** See `ReparseStore.replace`. For inLinkingTransaction. */
export async function replaceReading(
  trx: Transaction<Database>,
  email: ReadEmail,
  reading: Reading,
  dryRun: boolean,
  exclusive: boolean,
): Promise<ReplaceResult> {
  const long = await sendLongTexts(trx, email.id, toTextColumns(reading));
  const replaced = await replaceBy(trx, email, reading, toTexts(email.id, reading, long), dryRun, exclusive);
  await dropLongTexts(trx, email.id, long);
  return replaced;
}

async function replaceBy(
  trx: Transaction<Database>,
  email: ReadEmail,
  reading: Reading,
  texts: TextColumns,
  dryRun: boolean,
  exclusive: boolean,
): Promise<ReplaceResult> {
  const before = await readColumns(trx, email.id, texts);
  if (before === undefined) return { kind: 'gone' };
  const columns = {
    ...toReadColumns(reading),
    // Else it may be the one that a relay gave.
    ...(reading.otherMessageId === null ? {} : { relay_message_id: reading.otherMessageId as string }),
  };
  const fields = [
    ...changedColumns(before, columns),
    ...before.changed_texts,
    ...(Number(before.columns.date) === reading.date.getTime() ? [] : ['date']),
    ...(sameAttachments(email.attachments, reading.attachments) ? [] : ['attachments']),
  ];
  if (fields.length === 0) return { kind: 'unchanged' };
  const [known = null] = await findRecorded(trx, [
    { accountId: email.accountId, identity: reading.identity, key: reading.identityKey },
  ]);
  if (known !== null && known.id !== email.id) return { kind: 'same_as', emailId: known.id };
  if (dryRun) return { kind: 'changed', fields };

  // Before the email is locked: a merge locks the threads, then their emails.
  const isLinked = fields.some((field) => LINKING.has(field));
  const isOfOthers = fields.some((field) => PEOPLE.has(field));
  const place: { readonly thread_id?: string } = isLinked
    ? await link(trx, email, reading, before, exclusive)
    : {};
  if (isOfOthers && !isLinked) await lockThreadOf(trx, email.id);
  await replaceAttachments(trx, email, reading.attachments);
  await trx
    .updateTable('emails')
    .set({
      ...columns,
      ...texts,
      identity_key: Buffer.from(reading.identityKey, 'hex'),
      content_digest: Buffer.from(reading.contentDigest, 'hex'),
      date: reading.date,
      ...place,
    })
    .where('id', '=', email.id)
    .execute();
  if (isLinked || isOfOthers) {
    await settleCustomers(trx, [...new Set([before.thread_id, place.thread_id ?? before.thread_id])]);
  }
  if (reading.report !== null && before.direction === 'inbound') {
    await insertReport(trx, email.id, email.accountId, reading.report);
  }
  return { kind: 'changed', fields };
}

/** Changes of these lead to other threads. */
const LINKING: ReadonlySet<string> = new Set([
  'message_id',
  'relay_message_id',
  'in_reply_to',
  'reference_ids',
  'bounced_message_id',
]);

/** Changes of these lead to other customers. */
const PEOPLE: ReadonlySet<string> = new Set([
  'from_address',
  'to_addresses',
  'cc_addresses',
  'bcc_addresses',
]);

/** Where the email is now; an email whose thread an operator decided stays where it is. */
async function link(
  trx: Transaction<Database>,
  { id, accountId }: ReadEmail,
  { identity, otherMessageId, links, date }: Reading,
  before: ColumnsBefore,
  exclusive: boolean,
) {
  const named = links.filter(({ rule }) => rule !== 'message_id');
  const owners = await ownersOf(
    trx,
    accountId,
    named.map(({ messageId }) => messageId),
  );
  const reason = placeInbound(named, owners);
  const { threadId } = await linkThread(trx, {
    accountId,
    threadId: before.thread_id,
    email: {
      id,
      messageIds: ownIdsOf({ identity, otherMessageId }),
      links: named.map(({ messageId }) => messageId),
      date,
      anchorId: null,
    },
    customer: null,
    mayMerge: !before.is_decided,
    exclusive,
  });
  if (before.is_decided) return {};
  const isFirstReason = before.placement_rule === 'new' && reason.rule !== 'new';
  return {
    thread_id: threadId,
    ...(isFirstReason ? { placement_rule: reason.rule, placement_message_id: reason.matchedMessageId } : {}),
  };
}

type Columns = ReturnType<typeof toReadColumns> & { readonly relay_message_id?: string };

interface ColumnsBefore {
  readonly thread_id: string;
  readonly direction: 'inbound' | 'outbound';
  readonly placement_rule: string;
  readonly is_decided: boolean;
  readonly changed_texts: readonly string[];
  /** As `toReadColumns` makes them, in JSON; the date in milliseconds. */
  readonly columns: Readonly<Record<keyof Columns | 'date', unknown>>;
}

type TextColumns = Readonly<Record<'text_body' | 'html_body' | 'reply_text', RawBuilder<string>>>;

function toTexts(id: string, reading: Reading, long: LongTexts): TextColumns {
  const { text_body, html_body, reply_text } = toTextColumns(reading);
  return {
    text_body: textOf(id, 'text_body', text_body, long),
    html_body: textOf(id, 'html_body', html_body, long),
    reply_text: textOf(id, 'reply_text', reply_text, long),
  };
}

/** Texts are compared in the database: none of them is fetched for that. */
async function readColumns(
  trx: Transaction<Database>,
  id: string,
  texts: TextColumns,
): Promise<ColumnsBefore | undefined> {
  const { rows } = await sql<ColumnsBefore>`
    select e.thread_id, e.direction, e.placement_rule,
      e.placement_rule = 'thread_id' or exists (select from email_labels l where l.email_id = e.id) as is_decided,
      json_build_object('message_id', e.message_id, 'written_message_id', e.written_message_id,
        'relay_message_id', e.relay_message_id, 'in_reply_to', e.in_reply_to, 'reference_ids', e.reference_ids,
        'bounced_message_id', e.bounced_message_id, 'from_address', e.from_address,
        'sender_address', e.sender_address, 'reply_to_addresses', e.reply_to_addresses,
        'to_addresses', e.to_addresses, 'cc_addresses', e.cc_addresses, 'bcc_addresses', e.bcc_addresses,
        'subject', e.subject, 'defects', e.defects, 'automatic', e.automatic,
        'date', floor(extract(epoch from e.date) * 1000)) as columns,
      array_remove(array[
        case when e.text_body is distinct from ${texts.text_body} then 'text_body' end,
        case when e.html_body is distinct from ${texts.html_body} then 'html_body' end,
        case when e.reply_text is distinct from ${texts.reply_text} then 'reply_text' end
      ], null) as changed_texts
    from emails e where e.id = ${id} and e.identity_key is not null`.execute(trx);
  return rows[0];
}

/** Columns whose text is JSON. */
const JSON_COLUMNS: ReadonlySet<string> = new Set([
  'from_address',
  'sender_address',
  'reply_to_addresses',
  'to_addresses',
  'cc_addresses',
  'bcc_addresses',
  'automatic',
]);

function changedColumns({ columns }: ColumnsBefore, now: Columns): readonly string[] {
  return Object.entries(now)
    .filter(([name, value]) => {
      const parsed: unknown = JSON_COLUMNS.has(name) && typeof value === 'string' ? JSON.parse(value) : value;
      return canonical(parsed) !== canonical(columns[name as keyof Columns]);
    })
    .map(([name]) => name);
}

/** Equal for equal values: jsonb orders the keys of objects as it likes. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

function sameAttachments(before: readonly StoredAttachment[], now: readonly StoredAttachment[]): boolean {
  const key = ({ id, contentType }: StoredAttachment) => `${id} ${contentType}`;
  return before.map(key).join('\n') === now.map(key).join('\n');
}

/**
 * All of them anew, in today's order; the ids of those that stay are the same. Throws when another process replaced
 * them since they were read, because the files were chosen from what was read.
 */
async function replaceAttachments(
  trx: Transaction<Database>,
  email: ReadEmail,
  now: readonly StoredAttachment[],
): Promise<void> {
  await sql`select from emails where id = ${email.id} for update`.execute(trx);
  if (sameAttachments(email.attachments, now)) return;
  const removed = await trx
    .deleteFrom('email_attachments')
    .where('email_id', '=', email.id)
    .returning('id')
    .execute();
  const there = new Set(removed.map(({ id }) => id));
  if (there.size !== email.attachments.length || email.attachments.some(({ id }) => !there.has(id))) {
    throw new Error('its attachments were changed meanwhile; try again');
  }
  await insertAttachments(trx, email.id, now);
}
