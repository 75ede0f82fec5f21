/**
 * An email as it is written, whichever way it comes: the row of `emails` and those of its attachments, as JSON that statements read, with
 * the raw message beside the JSON. Each column is named once here, with its type and its expression over the JSON.
 */
import type { Placement } from './email-ports.ts';
import type { StoredAttachment } from '../../platform/files/stored-attachment.ts';
import type { MailSource } from '../../core/message/mail-source.ts';
import type { SuggestedCounterparty } from '../../core/message/suggested-counterparty.ts';
import type { RecordedRaw } from '../../platform/files/file-ports.ts';
import type { Address } from '../../core/address/address.ts';
import type { Invitation } from '../../core/calendar/invitation.ts';
import type { Protection } from '../../core/mime/parse/parsed-message.ts';
import type { AggregateReport } from '../../core/delivery/aggregate-report.ts';
import type { AutomaticMail } from '../../core/delivery/automatic.ts';
import type { Writer } from '../../core/delivery/writer.ts';
import type { EmailState } from '../../core/delivery/states.ts';
import type { CustomHeaders } from '../../core/message/custom-headers.ts';
import type { MailAuthentication } from '../../core/message/authentication.ts';
import type { MessageId } from '../../core/message/message-id.ts';
import { longText, type LongTexts } from './long-texts.ts';
import { toView } from './received-values.ts';

/** The content of a message. */
export interface EmailContent {
  readonly messageId: MessageId;
  /** Another Message-ID of the same email; null for none. */
  readonly relayMessageId: MessageId | null;
  readonly inReplyTo: readonly MessageId[];
  readonly references: readonly MessageId[];
  /** Base64; null for none. */
  readonly threadIndex?: string | null;
  readonly from: Address | null;
  readonly to: readonly Address[];
  readonly cc: readonly Address[];
  readonly bcc: readonly Address[];
  readonly subject: string;
  readonly textBody: string;
  readonly htmlBody: string | null;
  readonly date: Date;
  readonly automatic: AutomaticMail | null;
  readonly attachments: readonly StoredAttachment[];
  /** null or absent: none. */
  readonly invitation?: Invitation | null;
  /** See meetingKeysOf; absent: it needs none. */
  readonly meetingKeys?: readonly string[];
  /** Values that only reading a message yields. */
  readonly read?: {
    readonly writtenMessageId: MessageId | null;
    readonly listId: string | null;
    readonly bouncedMessageId: MessageId | null;
    readonly sender: Address | null;
    readonly replyTo: readonly Address[];
    readonly replyText: string;
    readonly suggestedCounterparty: SuggestedCounterparty | null;
    readonly defects: readonly string[];
    readonly protection: Protection | null;
    readonly aggregate: AggregateReport | null;
    readonly identityKey: string;
    readonly sharedKey: string | null;
    readonly contentDigest: string;
    readonly answers: string | null;
  };
}

/** An email to be recorded. */
export interface NewEmail extends EmailContent, RecordedRaw {
  readonly id: string;
  readonly accountId: string;
  readonly threadId: string;
  readonly direction: 'inbound' | 'outbound';
  readonly writtenBy: Writer;
  readonly state: EmailState;
  readonly stateDetail: string | null;
  /** See docs/schema.sql; null or absent: not known. */
  readonly tookMs?: number | null;
  readonly placement: Placement;
  readonly subjectKey: string | null;
  /** The arrival of a message that was read. */
  readonly arrival?: {
    readonly receivedBy: MailSource | null;
    readonly isNewParticipant: boolean;
    readonly isOnlyNamed: boolean;
    readonly authentication: MailAuthentication | null;
  };
  /** The caller's choices for the email; see docs/schema.sql. */
  readonly choice?: {
    readonly replyTo: readonly Address[];
    readonly headers: CustomHeaders;
    readonly tags: readonly string[];
    readonly metadata: string | null;
    readonly exchangeWith: string | null;
    readonly unsubscribeList: string | null;
    readonly authorKeyId: string | null;
    readonly keepsCopy: boolean;
    readonly isAsWritten: boolean;
    readonly hasFooter: boolean;
    readonly anchorId: string | null;
    readonly ignoredIds: readonly string[];
    readonly partyId: string | null;
  };
}

/** The keys that the columns read: a key that is missing, or that no column reads, does not compile. */
type Row = Readonly<
  Record<KeysOf<EmailColumn['given'] | typeof GIVEN_ATTACHMENTS | typeof LONG_TEXTS>, unknown>
>;

/** The names of columns given as SQL. */
type KeysOf<Given extends string> = Given extends `${infer First}, ${infer Rest}`
  ? KeysOf<First> | KeysOf<Rest>
  : Given extends `${infer Key} ${string}`
    ? Key
    : never;

/**
 * The messages of the emails of a statement, concatenated, for its parameter `$raws`. As Base64 in the JSON a message of 6 kB took
 * PostgreSQL 75 µs instead of 25, and the service 43 instead of 20.
 */
export class RawMessages {
  readonly #raws: Buffer[] = [];
  #length = 0;

  /** Returns the start of the message, counted from 1 as in `substring`. */
  add(raw: Buffer): number {
    const at = this.#length + 1;
    this.#raws.push(raw);
    this.#length += raw.length;
    return at;
  }

  get bytes(): Buffer {
    const [first, ...others] = this.#raws;
    return first !== undefined && others.length === 0 ? first : Buffer.concat(this.#raws, this.#length);
  }
}

/** @param raws the message is added to it @param long texts that were sent ahead */
export const toEmailRow = (email: NewEmail, raws: RawMessages, long: LongTexts = {}): Row =>
  toRow(email, email, raws, long);

/** For the content of an email alone. @param long texts that were sent ahead */
export const toContentRow = (id: string, content: EmailContent, long: LongTexts): Row =>
  toRow(content, { id }, null, long);

/**
 * One literal: objects that are assembled from others take eight times as long to make and to write as JSON. Undefined values are left out
 * of the JSON.
 */
function toRow(
  content: EmailContent,
  email: Partial<NewEmail> & Pick<NewEmail, 'id'>,
  raws: RawMessages | null,
  long: LongTexts,
): Row {
  const { read } = content;
  const { arrival, choice, placement, raw = null } = email;
  const short = (column: EmailColumn['name'], text: string | null | undefined) =>
    column in long ? null : text;
  return {
    message_id: content.messageId,
    relay_message_id: content.relayMessageId,
    in_reply_to: content.inReplyTo,
    reference_ids: content.references,
    meeting_keys: content.meetingKeys,
    thread_index: content.threadIndex,
    from_address: content.from === null ? { name: '', address: '' } : toView(content.from),
    to_addresses: content.to.map(toView),
    cc_addresses: content.cc.map(toView),
    bcc_addresses: content.bcc.map(toView),
    subject: content.subject,
    automatic: content.automatic,
    date: content.date,
    text_body: short('text_body', content.textBody),
    html_body: short('html_body', content.htmlBody),
    long_texts: long,
    attachments: content.attachments.map((attachment) => ({
      id: attachment.id,
      filename: attachment.filename,
      content_type: attachment.contentType,
      size_bytes: attachment.sizeBytes,
      storage_path: attachment.storagePath,
      sha256: attachment.sha256,
      content_id: attachment.contentId,
      inline: attachment.inline,
    })),
    written_message_id: read?.writtenMessageId,
    list_id: read?.listId,
    bounced_message_id: read?.bouncedMessageId,
    sender_address: read?.sender ? toView(read.sender) : undefined,
    suggested_counterparty: read?.suggestedCounterparty ?? undefined,
    reply_to_addresses: (read ?? choice)?.replyTo.map(toView),
    reply_text: read === undefined ? undefined : short('reply_text', read.replyText),
    defects: read?.defects,
    protection: read?.protection,
    invitation: content.invitation ?? undefined,
    aggregate_report: read?.aggregate ?? undefined,
    identity_key: read?.identityKey,
    shared_key: read?.sharedKey ?? undefined,
    content_digest: read?.contentDigest,
    answers_digest: read?.answers ?? undefined,
    id: email.id,
    account_id: email.accountId,
    thread_id: email.threadId,
    direction: email.direction,
    written_by: email.writtenBy,
    state: email.state,
    state_detail: email.stateDetail,
    took_ms: email.tookMs,
    placement_rule: placement?.rule,
    placement_message_id: placement?.matchedMessageId,
    subject_key: email.subjectKey,
    raw_size_bytes: email.rawSizeBytes,
    raw_at: raw === null ? undefined : raws?.add(raw),
    raw_length: raw?.length,
    raw_path: email.rawPath,
    received_by: arrival?.receivedBy,
    new_participant: arrival?.isNewParticipant,
    own_customer: arrival?.isOnlyNamed,
    authentication: arrival?.authentication,
    headers: choice?.headers,
    tags: choice?.tags,
    metadata: choice?.metadata,
    exchange_with: choice?.exchangeWith,
    unsubscribe_list: choice?.unsubscribeList,
    author_key: choice?.authorKeyId,
    keeps_copy: choice?.keepsCopy,
    is_as_written: choice?.isAsWritten,
    has_footer: choice?.hasFooter,
    anchor_id: choice?.anchorId,
    ignored_ids: choice?.ignoredIds,
    party_id: choice?.partyId,
  };
}

/** For a send that is changed before it leaves. */
export const toComposedRow = (
  email: EmailContent &
    RecordedRaw &
    Pick<NewEmail, 'id' | 'subjectKey'> & { readonly exchangeWith: string | null },
  raws: RawMessages,
): Row => ({ ...toRow(email, email, raws, {}), exchange_with: email.exchangeWith });

/** The texts that may be too long for a statement; see long-texts.ts. */
export const textsOf = ({ textBody, htmlBody, read }: EmailContent) => ({
  text_body: textBody,
  html_body: htmlBody,
  reply_text: read?.replyText ?? null,
});

export interface Column<Name extends string = string, Given extends string = string> {
  readonly name: Name;
  /** The column's keys in the JSON, as SQL. */
  readonly given: Given;
  /** The column's value, from a row `r` of the JSON. */
  readonly value: string;
  /** The same value if no text of the row was sent ahead. Default: `value`. */
  readonly shortValue?: string;
}

const column = <Name extends string, Type extends string>(
  name: Name,
  type: Type,
  value = `r.${name}`,
): Column<Name, `${Name} ${Type}`> => ({
  name,
  given: `${name} ${type}`,
  value,
});
const filled = <Name extends string, Type extends string>(name: Name, type: Type, empty: string) =>
  column(name, type, `coalesce(r.${name}, '${empty}')`);
const bytes = <Name extends string>(name: Name, format: 'hex' | 'base64') =>
  column(name, 'text', `decode(r.${name}, '${format}')`);
const text = <Name extends string>(name: Name): Column<Name, `${Name} text`> => ({
  ...column(
    name,
    'text',
    `case when r.long_texts ? '${name}' then ${longText('r.id', `r.long_texts ->> '${name}'`)} else r.${name} end`,
  ),
  shortValue: `r.${name}`,
});

/** Columns that reading a message again may change. */
export const READ_COLUMNS = [
  column('message_id', 'text'),
  bytes('thread_index', 'base64'),
  column('written_message_id', 'text'),
  column('list_id', 'text'),
  column('in_reply_to', 'text[]'),
  column('reference_ids', 'text[]'),
  filled('meeting_keys', 'text[]', '{}'),
  column('bounced_message_id', 'text'),
  column('from_address', 'jsonb'),
  column('sender_address', 'jsonb'),
  column('suggested_counterparty', 'jsonb'),
  filled('reply_to_addresses', 'jsonb', '[]'),
  column('to_addresses', 'jsonb'),
  column('cc_addresses', 'jsonb'),
  column('bcc_addresses', 'jsonb'),
  column('subject', 'text'),
  filled('defects', 'text[]', '{}'),
  column('protection', 'text'),
  column('invitation', 'jsonb'),
  column('aggregate_report', 'jsonb'),
  column('automatic', 'jsonb'),
  text('text_body'),
  text('html_body'),
  text('reply_text'),
  column('date', 'timestamptz'),
];

/** Columns that follow from the content. */
export const DIGEST_COLUMNS = [
  bytes('identity_key', 'hex'),
  bytes('shared_key', 'hex'),
  bytes('content_digest', 'hex'),
  bytes('answers_digest', 'hex'),
];

export const RAW_COLUMNS = [
  column('raw_size_bytes', 'bigint'),
  {
    name: 'raw',
    given: 'raw_at int, raw_length int',
    value: 'substring($raws::bytea from r.raw_at for r.raw_length)',
  } as const,
  column('raw_path', 'text'),
  column('received_by', 'jsonb'),
];

/** The caller's choices. */
const CHOICE_COLUMNS = [
  filled('headers', 'jsonb', '{}'),
  filled('tags', 'text[]', '{}'),
  // As text, so that its numbers keep their notation.
  column('metadata', 'text', 'r.metadata::json'),
  column('exchange_with', 'text'),
  column('unsubscribe_list', 'text'),
  column('author_key', 'text'),
  filled('keeps_copy', 'boolean', 'false'),
  filled('is_as_written', 'boolean', 'false'),
  filled('has_footer', 'boolean', 'false'),
  column('anchor_id', 'uuid'),
  filled('ignored_ids', 'text[]', '{}'),
  column('party_id', 'uuid'),
];

/** All columns but the customer's link, which a statement may find itself. */
const EMAIL_COLUMNS = [
  ...READ_COLUMNS,
  ...DIGEST_COLUMNS,
  ...RAW_COLUMNS,
  column('id', 'uuid'),
  column('account_id', 'text'),
  column('thread_id', 'uuid'),
  column('relay_message_id', 'text'),
  column('direction', 'text'),
  column('written_by', 'text'),
  column('state', 'text'),
  column('state_detail', 'text'),
  column('took_ms', 'int'),
  column('placement_rule', 'text'),
  column('placement_message_id', 'text'),
  column('subject_key', 'text'),
  filled('new_participant', 'boolean', 'false'),
  filled('own_customer', 'boolean', 'false'),
  column('authentication', 'jsonb'),
  ...CHOICE_COLUMNS,
];

type EmailColumn = (typeof EMAIL_COLUMNS)[number];

/** Columns that only reading a message yields, and those of its arrival. */
const ARRIVAL: ReadonlySet<EmailColumn['name']> = new Set([
  'written_message_id',
  'list_id',
  'bounced_message_id',
  'sender_address',
  'suggested_counterparty',
  'defects',
  'protection',
  'aggregate_report',
  'reply_text',
  'identity_key',
  'shared_key',
  'content_digest',
  'answers_digest',
  'received_by',
  'new_participant',
  'own_customer',
  'authentication',
]);

const CHOICE: ReadonlySet<EmailColumn['name']> = new Set(CHOICE_COLUMNS.map(({ name }) => name));

/**
 * The columns that a new email of a kind may have; the others keep their defaults. Each column costs a statement some microseconds, for one
 * email as for many.
 */
export const NEW_COLUMNS: Readonly<Record<EmailKind, readonly Column[]>> = {
  send: EMAIL_COLUMNS.filter(({ name }) => !ARRIVAL.has(name)),
  reading: EMAIL_COLUMNS.filter(({ name }) => !CHOICE.has(name)),
};
export type EmailKind = 'send' | 'reading';

const COMPOSED: ReadonlySet<EmailColumn['name']> = new Set([
  'to_addresses',
  'cc_addresses',
  'bcc_addresses',
  'subject',
  'text_body',
  'html_body',
  'date',
  'raw_size_bytes',
  'raw',
  'raw_path',
  'subject_key',
  'exchange_with',
]);

/** Columns that a change of a waiting send may change. */
export const COMPOSED_COLUMNS = EMAIL_COLUMNS.filter(({ name }) => COMPOSED.has(name));

/** The attachments, which have a table of their own. */
export const GIVEN_ATTACHMENTS = 'attachments jsonb';

/** The texts that were sent ahead. */
export const LONG_TEXTS = ', long_texts jsonb';

/** The rows of a parameter, as `r`. @param more further columns of the JSON, as SQL */
export const emailRecords = (
  parameter: string,
  columns: readonly Column[] = EMAIL_COLUMNS,
  more = LONG_TEXTS,
): string => partsOfRecords(parameter, `${columns.map(({ given }) => given).join(', ')}${more}`);

/**
 * The same with some columns alone. Each part of a statement reads the parameter again for the columns that it needs: handing sixty columns
 * from part to part made a statement a tenth slower, for one email and for sixty.
 */
export const partsOfRecords = (parameter: string, columns: string): string => `
  jsonb_to_recordset(${parameter}::jsonb) as r (${columns})`;
