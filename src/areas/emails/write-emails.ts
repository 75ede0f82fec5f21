/**
 * Writes rows of `emails` and `email_attachments`; only this module does: emails that were sent, received or imported, and the results of
 * reading a message again. Other changes of a recorded email are made by the modules that docs/architecture.md lists. See email-row.ts for
 * the columns.
 */
import type { AutomaticMail } from '../../core/delivery/automatic.ts';
import type { StoredAttachment } from '../../platform/files/stored-attachment.ts';
import type { MailSource } from '../../core/message/mail-source.ts';
import type { RecordedRaw } from '../../platform/files/file-ports.ts';
import type { Address } from '../../core/address/address.ts';
import type { Writer } from '../../core/delivery/writer.ts';
import type { KeyedContent } from '../../core/message/identity.ts';
import { toStorableJson } from '../../core/storable-text.ts';
import { isUniqueViolation } from '../../platform/db/pool.ts';
import { run, statement, type Executor, type RowOf } from '../../platform/db/statement.ts';
import {
  DIGEST_COLUMNS,
  emailRecords,
  COMPOSED_COLUMNS,
  GIVEN_ATTACHMENTS,
  NEW_COLUMNS,
  partsOfRecords,
  RawMessages,
  READ_COLUMNS,
  textsOf,
  toComposedRow,
  toContentRow,
  type EmailContent,
  type EmailKind,
} from './email-row.ts';
import { lockSummariesOf } from './lock-summaries.ts';
import { dropLongTexts, sendLongTexts, type LongTexts } from './long-texts.ts';
import { toView } from './received-values.ts';

/** The earlier reading, as far as it decides how the message is read again. */
export interface ReadEmail {
  readonly id: string;
  readonly accountId: string;
  readonly date: Date;
  readonly automatic: AutomaticMail | null;
  /** See `InboundRecord` of areas/receive/inbound-ports.ts. */
  readonly identityKey: string;
  readonly attachments: readonly StoredAttachment[];
}

/** The parts that a statement needs. A statement prepares even parts that it has no use for, which takes as long as writing an email. */
export interface EmailParts {
  /** Some of the emails have attachments. */
  readonly files: boolean;
  /** Some of their texts were sent ahead. */
  readonly longTexts: boolean;
}

/**
 * The parts `new_emails` and, with files, `new_attachments` of a statement: `new_emails` has the ids of the emails that were new.
 *
 * Reads messages from a parameter `$raws`; see RawMessages.
 *
 * @param kind of the emails: sends of ours, or messages that were read
 * @param source the rows of emailRecords, perhaps joined
 * @param link the row with link_customer, link_customer_source, link_company, link_company_source
 * @param parameter of the emails
 * @param known for emails that exist: `left` leaves them as they are, which makes every repeat harmless; `refused` makes the statement fail
 */
export const insertEmailRows = (
  kind: EmailKind,
  source: string,
  link: string,
  parameter: string,
  known: 'left' | 'refused',
  { files, longTexts }: EmailParts,
): string => `
  new_emails as (
    insert into emails (
      ${NEW_COLUMNS[kind].map(({ name }) => name).join(', ')}, customer_id, customer_source, company_id, company_source
    )
    select ${NEW_COLUMNS[kind].map(({ value, shortValue }) => (longTexts ? value : (shortValue ?? value))).join(', ')},
      ${link}.link_customer, ${link}.link_customer_source, ${link}.link_company, ${link}.link_company_source
    from ${source}
    ${known === 'left' ? 'on conflict do nothing' : ''}
    returning id
  )${
    files
      ? `, new_attachments as (
    ${insertAttachments(addedOf(parameter, GIVEN_ATTACHMENTS))}
  )`
      : ''
  }`;

/** Rows `r` of the emails that were new, with their ids and some more columns of the JSON. Goes after insertEmailRows. */
export const addedOf = (parameter: string, columns: string): string =>
  `${partsOfRecords(parameter, `id uuid, ${columns}`)} join new_emails n on n.id = r.id`;

/** True for the error of a statement with `refused`. */
export const isEmailKnown = (error: unknown): boolean =>
  isUniqueViolation(error, ['emails_pkey', 'emails_identity']);

/** @param source rows `r` with id, attachments */
function insertAttachments(source: string): string {
  return `
    insert into email_attachments (
      id, email_id, ordinal, filename, content_type, size_bytes, storage_path, sha256, content_id, inline
    )
    select a.id, r.id, a.ordinality - 1, a.filename, a.content_type, a.size_bytes, a.storage_path,
      decode(a.sha256, 'hex'), a.content_id, a.inline
    from ${source}, rows from (
      jsonb_to_recordset(r.attachments)
        as (id uuid, filename text, content_type text, size_bytes bigint, storage_path text, sha256 text,
          content_id text, inline boolean)
    ) with ordinality as a (id, filename, content_type, size_bytes, storage_path, sha256, content_id, inline, ordinality)
    where r.attachments <> '[]'`;
}

/** The result of reading a message again, beside that of the earlier reading. */
export interface Rereading {
  readonly before: RowOf<typeof COMPARE>;
  /** For writeReading: the JSON of its row. */
  readonly row: string;
  readonly long: LongTexts;
}

/**
 * Compares a message with the result of its earlier reading; null when there is no such email. Afterwards its long texts are in the
 * database, until writeReading or forgetReading. Texts are compared there: none of them is fetched for the comparison.
 */
export async function compareReading(
  executor: Executor,
  emailId: string,
  content: EmailContent,
): Promise<Rereading | null> {
  const long = await sendLongTexts(executor, emailId, textsOf(content));
  const row = toStorableJson([toContentRow(emailId, content, long)]);
  const [before] = await run(executor, COMPARE, { row });
  return before === undefined ? null : { before, row, long };
}

/** Keys are only added: who met the email at its points stays with it, also when its account has another address by now, or is gone. */
const ALL_KEYS = `e.meeting_keys || array(select k from unnest(r.meeting_keys) k where k <> all (e.meeting_keys))`;

const REREAD_COLUMNS = READ_COLUMNS.map(({ name, value }) =>
  name === 'meeting_keys' ? { name, value: ALL_KEYS } : { name, value },
);

/** A relay's Message-ID stays when the message has no other one. Times are compared by the milliseconds that a Date has. */
const COMPARED = [
  ...REREAD_COLUMNS.map(({ name, value }) =>
    name === 'date'
      ? { name, value, stored: `date_trunc('milliseconds', e.date)` }
      : { name, value, stored: `e.${name}` },
  ),
  {
    name: 'relay_message_id',
    value: 'coalesce(r.relay_message_id, e.relay_message_id)',
    stored: 'e.relay_message_id',
  },
];

const COMPARE = statement(
  'compare-reading',
  `select e.thread_id, e.direction, e.placement_rule, ${ALL_KEYS} as meeting_keys,
    e.placement_rule = 'thread_id' or exists (select from email_labels l where l.email_id = e.id) as is_decided,
    array_remove(array[
      ${COMPARED.map(({ name, value, stored }) => `case when ${stored} is distinct from ${value} then '${name}' end`).join(', ')}
    ], null) as changed
  from ${emailRecords('$row')} join emails e on e.id = r.id
  where e.identity_key is not null`,
).narrow<{ is_decided: boolean; changed: string[]; meeting_keys: string[] }>();

export const forgetReading = (executor: Executor, emailId: string, { long }: Rereading): Promise<void> =>
  dropLongTexts(executor, emailId, long);

/**
 * Replaces the earlier reading of a message by the new one. All attachments are rewritten, in the new order; those that stay keep their
 * ids. Throws when another process replaced them since they were read, because the files were chosen from the earlier reading.
 */
export async function writeReading(
  executor: Executor,
  { id, attachments }: ReadEmail,
  { row, long }: Rereading,
  hasOtherAttachments: boolean,
): Promise<void> {
  await lockSummariesOf(executor, [id]);
  await lockEmailRow(executor, id);
  if (hasOtherAttachments) {
    const removed = await run(executor, DELETE_ATTACHMENTS, { id });
    const there = new Set(removed.map((attachment) => attachment.id));
    if (there.size !== attachments.length || attachments.some((one) => !there.has(one.id))) {
      throw new Error('its attachments were changed meanwhile; try again');
    }
    await run(executor, ADD_ATTACHMENTS, { row });
  }
  await run(executor, WRITE_READING, { row });
  await dropLongTexts(executor, id, long);
}

/** Until the transaction ends, no other transaction changes the row. */
export async function lockEmailRow(executor: Executor, id: string): Promise<void> {
  await run(executor, LOCK_EMAIL, { id });
}

const LOCK_EMAIL = statement('lock-email', 'select from emails where id = $id for update');

const DELETE_ATTACHMENTS = statement(
  'delete-attachments',
  'delete from email_attachments where email_id = $id returning id, storage_path',
);

const ADD_ATTACHMENTS = statement(
  'add-attachments',
  insertAttachments(partsOfRecords('$row', `id uuid, ${GIVEN_ATTACHMENTS}`)),
);

const WRITE_READING = statement(
  'write-reading',
  `update emails e set ${[
    ...[...REREAD_COLUMNS, ...DIGEST_COLUMNS].map(({ name, value }) => `${name} = ${value}`),
    'relay_message_id = coalesce(r.relay_message_id, e.relay_message_id)',
  ].join(', ')}
  from ${emailRecords('$row')} where e.id = r.id`,
);

/**
 * Replaces the content of a send of ours; it has not left yet, and its row is locked. Returns the files that the email no longer refers to.
 *
 * @param hasOtherFiles the rows of its files are rewritten
 */
export async function replaceComposed(
  executor: Executor,
  email: Parameters<typeof toComposedRow>[0],
  hasOtherFiles: boolean,
): Promise<readonly string[]> {
  const raws = new RawMessages();
  const row = toStorableJson([toComposedRow(email, raws)]);
  const before = await run(executor, RAW_PATH_OF, { id: email.id });
  const paths = before.flatMap(({ raw_path }) => raw_path ?? []);
  if (hasOtherFiles) {
    const removed = await run(executor, DELETE_ATTACHMENTS, { id: email.id });
    paths.push(...removed.map(({ storage_path }) => storage_path));
    await run(executor, ADD_ATTACHMENTS, { row });
  }
  await run(executor, REPLACE_COMPOSED, { row, raws: raws.bytes });
  const kept = new Set(email.attachments.map(({ storagePath }) => storagePath));
  return paths.filter((path) => !kept.has(path));
}

const RAW_PATH_OF = statement('raw-path-of-email', 'select raw_path from emails where id = $id');

const REPLACE_COMPOSED = statement(
  'replace-composed',
  `update emails e set ${COMPOSED_COLUMNS.map(({ name, value }) => `${name} = ${value}`).join(', ')}
  from ${emailRecords('$row')} where e.id = r.id`,
);

/** Stores the message that the email's present reading comes from. */
export async function writeRaw(
  executor: Executor,
  emailId: string,
  content: KeyedContent,
  { raw, rawPath, rawSizeBytes }: RecordedRaw,
  receivedBy: MailSource | null,
): Promise<void> {
  const source = receivedBy === null ? null : toStorableJson(receivedBy);
  const digest = Buffer.from(content.contentDigest, 'hex');
  const answers = content.answers === null ? null : Buffer.from(content.answers, 'hex');
  await run(executor, WRITE_RAW, { emailId, digest, answers, raw, rawPath, rawSizeBytes, source });
}

const WRITE_RAW = statement(
  'write-raw',
  `update emails set raw = $raw, raw_path = $rawPath, raw_size_bytes = $rawSizeBytes, content_digest = $digest,
    answers_digest = $answers, received_by = $source::jsonb
  where id = $emailId`,
);

/**
 * Turns a received email into one that was sent from the account. Only the sender's own copy names the Bcc recipients. Returns its thread;
 * null when it is already a sent email, or gone.
 */
export async function turnIntoSent(
  executor: Executor,
  emailId: string,
  bcc: readonly Address[],
  detail: string,
): Promise<string | null> {
  // Must come before the change, which removes the read mark: marking a thread takes its locks in this order.
  await lockSummariesOf(executor, [emailId]);
  const [row] = await run(executor, TURN, { emailId, detail, bcc: toStorableJson(bcc.map(toView)) });
  return row?.thread_id ?? null;
}

/** Sets the state too, because the schema ties it to the direction. */
const TURN = statement(
  'turn-into-sent',
  `update emails set direction = 'outbound', state = 'sent', state_detail = $detail, took_ms = null, new_participant = false,
    own_customer = false, bcc_addresses = $bcc::jsonb,
    written_by = case when automatic ->> 'sign' = 'machine' then 'machine' else 'person' end
  where id = $emailId and direction = 'inbound'
  returning thread_id`,
);

export async function writeWriter(executor: Executor, emailId: string, writtenBy: Writer): Promise<void> {
  await run(executor, WRITE_WRITER, { emailId, writtenBy });
}

const WRITE_WRITER = statement(
  'write-writer',
  'update emails set written_by = $writtenBy where id = $emailId and written_by <> $writtenBy',
);

/** Deletes emails with all that belongs to them. Call it after lockSummariesOf. Returns their threads, each once. */
export async function deleteEmailRows(
  executor: Executor,
  ids: readonly string[],
): Promise<readonly string[]> {
  const rows = await run(executor, DELETE, { ids });
  return [...new Set(rows.map(({ thread_id }) => thread_id))];
}

const DELETE = statement(
  'delete-emails',
  'delete from emails where id = any($ids::uuid[]) returning thread_id',
);
