/**
 * What the use cases need from the outside. Adapters implement these; tests may inject faults behind them.
 */
import type { Readable } from 'node:stream';
import type { Address } from '../core/address/address.ts';
import type { MessageId } from '../core/message/message-id.ts';
import type { PlacementFacts, PlacementQuery } from '../core/thread/place-outbound.ts';
import type { QueuedSend, QueuePlace } from '../core/delivery/priority.ts';
import type { CompanySource, CustomerSource } from '../core/customer/link-thread.ts';
import type { AutomaticMail } from '../core/delivery/automatic.ts';
import type { AutoSubmitted } from '../core/delivery/loop-guard.ts';
import type { Bounce } from '../core/delivery/bounce.ts';
import type { DeliveryReport } from '../core/delivery/delivery-report.ts';
import type { EmailState, RecipientOutcome, RecordedAttempt, Reply } from '../core/delivery/states.ts';
import type { LinkRule } from '../core/thread/place-inbound.ts';
import type { MailSource, VariantDetail, VariantView } from './variant-view.ts';

/** Bytes in memory (small) or in a file of the spool (large). Never changed once made. */
export type Content =
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  | { readonly kind: 'file'; readonly path: string; readonly sizeBytes: number };

/** The time now. Injected, so that tests decide it. */
export type Clock = () => Date;

export interface IdSource {
  /** A new UUID, time-ordered (version 7, RFC 9562), lower-case. */
  uuid(): string;
  /** Bytes nobody can guess. */
  randomBytes(length: number): Buffer;
}

/** Structured log; a field named `err` is written with its stack and causes. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** A configured mail identity. */
export interface Account {
  /** Stable short name, `[a-z0-9][a-z0-9_-]{0,62}`; the first part of storage paths. */
  readonly id: string;
  /** What From says. */
  readonly from: Address;
  /** Replies without references join an email of the same subject and counterparty within so many days; null: never. */
  readonly joinBySubjectDays?: number | null;
}

// ---------------------------------------------------------------- sending

/** SMTP only (RFC 5321 §2.3.1). Bcc recipients stand here and nowhere else. Addresses are `local@domain`. */
export interface Envelope {
  /** null for the null sender `<>`. */
  readonly mailFrom: string | null;
  /** Without repeats. */
  readonly rcptTo: readonly string[];
  /**
   * ENVID (RFC 3461 §4.4), which delivery reports give back also when the message is not returned, or its Message-ID was
   * replaced on the way: our Message-ID. Left out when a report is of no use.
   */
  readonly envelopeId?: string;
}

/**
 * How one hand-over ended.
 * - `accepted`: the server answered 2xx after the message, so at least one recipient is taken.
 * - `refused`: certainly not taken for anybody; `temporary` says whether a later try may succeed.
 * - `unknown`: the line broke after the end of DATA could have reached the server; nobody knows.
 */
export type TransportResult = {
  /** One for each of `rcptTo`, same order. */
  readonly recipients: readonly RecipientOutcome[];
  /** The reply that decided; null when there was none. */
  readonly reply: Reply | null;
  /** English, for the record and for `details`; never contains a secret. */
  readonly detail: string;
  /** The Message-ID that the relay says it gave the message instead of ours; null when it kept ours. */
  readonly relayMessageId: MessageId | null;
} & (
  | { readonly kind: 'accepted' }
  | { readonly kind: 'refused'; readonly temporary: boolean }
  | { readonly kind: 'unknown' }
);

/** Hands messages to the next mail server. Never throws for what the server or the network does. */
export interface Transport {
  /**
   * @param beforeFirstByte awaited when a connection is ready, right before anything of the message goes out. When it
   *   throws, nothing was handed over, and `send` throws the same.
   */
  send(envelope: Envelope, raw: Content, beforeFirstByte?: () => Promise<void>): Promise<TransportResult>;
  /** Connects and authenticates without sending; throws when that fails. */
  verify(): Promise<void>;
  /** Waits for the sends under way, then closes idle connections. */
  close(): Promise<void>;
}

// ---------------------------------------------------------------- files

/** A scratch folder of one request for what is too large for memory. */
export interface SpoolFolder {
  /** Writes a stream to a new file, without fsync. Throws `ServiceError('disk_full')` when there is no room. */
  write(source: AsyncIterable<Buffer>): Promise<Extract<Content, { kind: 'file' }>>;
  /** Deletes everything in it; a second call does nothing. */
  remove(): Promise<void>;
}

export interface Spool {
  /** The folder appears on disk with its first file; making one costs nothing. */
  create(): SpoolFolder;
}

/** Byte range, both ends included, zero-based (RFC 9110 §14.1.2). */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Files under a relative path with `/`, such as `<account_id>/<email_id>/<filename>`. */
export interface BlobStore {
  /**
   * Stores a file durably; it is visible whole or not at all. A second put of the same path replaces it.
   * Throws `ServiceError('storage_unavailable' | 'disk_full')`.
   */
  put(path: string, content: Content, contentType: string): Promise<void>;
  /** null when there is no such file. The stream must be read or destroyed. */
  get(path: string, range?: ByteRange): Promise<Readable | null>;
  /** Deletes; does nothing when there is no such file. */
  delete(path: string): Promise<void>;
  /**
   * Every file, in any order; what comes or goes meanwhile may be among them or not. Throws
   * `ServiceError('storage_unavailable')`.
   */
  list(): AsyncIterable<StoredFile>;
  /** Throws when the store can't be reached or written to. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** A file as the store has it. */
export interface StoredFile {
  readonly path: string;
  readonly sizeBytes: number;
  /** When it was put the last time, or later. */
  readonly storedAt: Date;
}

// ---------------------------------------------------------------- recording

/** An attachment as it is stored. */
export interface StoredAttachment {
  readonly id: string;
  /** As the sender named it, for display and download; not a path. */
  readonly filename: string;
  readonly contentType: string;
  readonly sizeBytes: number;
  /** `<account_id>/<email_id>/<filename>`, the last part made safe and unique within the email. */
  readonly storagePath: string;
  /** SHA-256 of the bytes, lower-case hex. */
  readonly sha256: string;
}

/** Everything the database gets of one outbound email, in one piece. */
export interface OutboundRecord extends RecordedOutcome, RecordedRaw {
  readonly id: string;
  readonly accountId: string;
  readonly threadId: string;
  readonly placement: Placement;
  readonly messageId: MessageId;
  readonly inReplyTo: readonly MessageId[];
  readonly references: readonly MessageId[];
  readonly from: Address;
  readonly to: readonly Address[];
  readonly cc: readonly Address[];
  readonly bcc: readonly Address[];
  readonly subject: string;
  /** Never null: HTML-only mail is rendered to text. */
  readonly textBody: string;
  readonly htmlBody: string | null;
  readonly date: Date;
  readonly customerId: string | null;
  readonly companyId: string | null;
  readonly attachments: readonly StoredAttachment[];
  /** null for what a person wrote. */
  readonly autoSubmitted?: AutoSubmitted | null;
  /** The address of the automatic exchange that it is part of, in lower case; null for none. */
  readonly exchangeWith?: string | null;
  /** See subjectKeyOf; only in accounts that join by subject. */
  readonly subjectKey?: string | null;
}

/** What the hand-over adds to a record. */
export interface RecordedOutcome {
  readonly state: EmailState;
  /** English reason of `failed`, `unknown` and `deferred`, and what a `sent` email lacks; null else. */
  readonly stateDetail: string | null;
  readonly deliveries: readonly RecipientOutcome[];
  /** The hand-over; null when none was made yet. */
  readonly attempt: RecordedAttempt | null;
  /** null when nobody is to be tried (again). */
  readonly queue: QueuedSend | null;
  /** What the relay says it gave the message instead of our Message-ID; null when it kept ours. */
  readonly relayMessageId: MessageId | null;
}

export interface RecordedSend {
  /** What claims to be a copy of it was there already; see compareCopies. */
  readonly cameBack: boolean;
  /** Paths of the copy's files, which nothing refers to any more. */
  readonly orphans: readonly string[];
}

/** Where the raw message is: exactly one of `raw` and `rawPath` is set. */
export interface RecordedRaw {
  readonly rawSizeBytes: number;
  /** Small messages stay in the database. */
  readonly raw: Buffer | null;
  /** Large ones are in blob storage. */
  readonly rawPath: string | null;
}

/** Where a stored message is: in one of the two. */
export interface RawPlace {
  readonly bytes: Buffer | null;
  readonly path: string | null;
  readonly sizeBytes: number;
}

/** Why an email is in its thread. */
export interface Placement {
  /**
   * `thread_id`: the sender said so. `decision`: an operator split it off or moved it. `new`: nothing to join. The
   * others: by Message-ID.
   */
  readonly rule: 'thread_id' | 'decision' | 'new' | LinkRule;
  readonly matchedMessageId: MessageId | null;
}

/** One email of a thread, as the spec lists it. */
export interface EmailSummary {
  readonly id: string;
  readonly messageId: MessageId;
  readonly direction: 'inbound' | 'outbound';
  readonly from: AddressView;
  readonly to: readonly AddressView[];
  readonly subject: string;
  readonly textBody: string;
  readonly date: Date;
  readonly attachments: readonly AttachmentView[];
}

/**
 * Emails as the API shows them (`toEmailJson`), in JSON with commas between them: made by the database and handed on as it is.
 * What is too large to be held in memory comes in pieces, whose ends mean nothing; each is read when it is asked for, and
 * reading may fail between two of them. An email that is there all the while is in them once.
 */
export type EmailsJson =
  | { readonly kind: 'whole'; readonly json: string }
  | { readonly kind: 'pieces'; readonly pieces: AsyncIterable<string> };

/** A page of a list. */
export interface EmailPage {
  readonly emails: EmailsJson;
  /** Its last email, behind which the next page begins; null when there is none. */
  readonly next: { readonly date: Date; readonly id: string } | null;
}

/** How an address is stored and shown. */
export interface AddressView {
  readonly name: string;
  /** `local@domain`. */
  readonly address: string;
}

export type AttachmentView = Omit<StoredAttachment, 'sha256'>;

/** Everything known about one email. */
export interface EmailDetail extends EmailSummary {
  readonly accountId: string;
  readonly threadId: string;
  readonly customerId: string | null;
  /** Why it is this customer, or none. */
  readonly customerSource: CustomerSource | null;
  readonly companyId: string | null;
  readonly companySource: CompanySource | null;
  readonly cc: readonly AddressView[];
  readonly bcc: readonly AddressView[];
  readonly htmlBody: string | null;
  readonly inReplyTo: readonly MessageId[];
  readonly references: readonly MessageId[];
  readonly relayMessageId: MessageId | null;
  readonly state: EmailState;
  readonly stateDetail: string | null;
  readonly deliveries: readonly DeliveryView[];
  readonly placement: Placement;
  readonly rawSizeBytes: number;
  readonly createdAt: Date;
  /** What a received email reports about sent ones; null when it is no report. */
  readonly bounce: BounceView | null;
  /** The new text, without quotes, of an email that came in or was sent by another program; null for other ones. */
  readonly replyText: string | null;
  /** null for a sent email, and where From says it. */
  readonly sender: AddressView | null;
  readonly replyTo: readonly AddressView[];
  /** What was wrong with a received email, as `ParseDefect` names it, and CONTENT_DIFFERS where it has variants. */
  readonly defects: readonly string[];
  /** By which way its message came; null for an email of ours, and where it is not known. */
  readonly receivedBy: MailSource | null;
  /** The oldest first. */
  readonly variants: readonly VariantView[];
  /** Further ones that are only counted; see MAX_VARIANTS. */
  readonly refusedVariants: number;
  /** How an email shows that no person wrote it; null when it does not. */
  readonly automatic: AutomaticMail | null;
  /** The sender of a received email never took part in its thread before. */
  readonly newParticipant: boolean;
  /** Only what was received can be. */
  readonly isUnread: boolean;
  /** In the order of their numbers. */
  readonly attempts: readonly RecordedAttempt[];
  /** When it is tried next; null when it is not in the queue, or being sent. */
  readonly nextAttemptAt: Date | null;
  /** After this it is not tried again; null when it is not in the queue. */
  readonly giveUpAt: Date | null;
  /** The queue's process that had it fell silent; when it comes back, it says what became of it, or sends it. */
  readonly claimLost: boolean;
}

export interface DeliveryView extends RecipientOutcome {
  /** The most telling of the reports that came back about it; null when none came. */
  readonly report: DeliveryReport | null;
}

export interface BounceView extends Pick<Bounce, 'kind' | 'format' | 'recipients'> {
  /** The sent email that it is about; null while that is not found, or had none of the recipients. */
  readonly emailId: string | null;
}

export interface CustomerEmailsQuery {
  readonly customerId: string;
  readonly direction: 'inbound' | 'outbound' | null;
  /** Inclusive. */
  readonly since: Date | null;
  /** Exclusive. */
  readonly until: Date | null;
  readonly limit: number;
  /** Where the page before ended; null for the first. */
  readonly after: { readonly date: Date; readonly id: string } | null;
}

/**
 * The database. Throws `ServiceError('database_unavailable')` when it can't be reached or does not answer in time.
 */
export interface MessageStore {
  /** What placing an outbound email needs to know, in one round trip. */
  readPlacementFacts(query: PlacementQuery): Promise<PlacementFacts>;
  /**
   * Records an outbound email once, whole or not at all. A repeat with the same id changes nothing, so that it may
   * be called again after any failure. Calls at the same moment share one commit. What claims to be a copy
   * of it and was recorded before goes up in it: its identifier becomes an alias, its content a variant.
   */
  recordOutbound(record: OutboundRecord): Promise<RecordedSend>;
  /**
   * By `date`, then id, without what certainly did not go out. null when the thread does not exist. A small thread takes
   * one round trip, which reads at the same moment share.
   */
  readThread(threadId: string): Promise<EmailsJson | null>;
  /** Newest first, at most `limit`. */
  listCustomerEmails(query: CustomerEmailsQuery): Promise<EmailPage>;
  readEmail(id: string): Promise<EmailDetail | null>;
  /** Where the raw message is. */
  readRaw(id: string): Promise<RawPlace | null>;
  /** null when the email has no such variant. */
  readVariant(emailId: string, id: string): Promise<VariantDetail | null>;
  readVariantRaw(emailId: string, id: string): Promise<RawPlace | null>;
  readAttachment(id: string): Promise<StoredAttachment | null>;
  /** Throws when the database can't be reached. */
  check(): Promise<void>;
}

// ---------------------------------------------------------------- journal

/**
 * What the journal keeps of a send: everything the record needs but the outcome. Binary parts that are small stand
 * in it; large ones are files of the spool folder, which the journal keeps until the entry is removed.
 */
export interface JournalEntry {
  readonly record: Omit<OutboundRecord, keyof RecordedOutcome | keyof RecordedRaw>;
  readonly envelope: Envelope;
  readonly raw: Content;
  /** Same order as `record.attachments`. */
  readonly attachments: readonly Content[];
  /** Where recipients that are put off stand in the queue. */
  readonly queue: QueuePlace;
  readonly startedAt: Date;
  /** null until SMTP answered. An entry found without one after a crash has the outcome `unknown`. */
  readonly result: SettledResult | null;
}

/** A result and when it was known. */
export type SettledResult = TransportResult & { readonly endedAt: Date };

/** Durable local memory of sends that the database does not have yet. Keyed by email id. */
export interface Journal {
  /**
   * Returns when the entry, and every spool file it names, is on the disk (group commit). The folder is kept until
   * `remove`. Throws `ServiceError('disk_full')`.
   */
  prepare(entry: JournalEntry, folder: SpoolFolder): Promise<void>;
  /** Adds the outcome. Survives a killed process at once, and a power cut when `flush` has resolved. */
  settle(id: string, result: SettledResult): { readonly flush: () => Promise<void> };
  /** Forgets an entry that the database has, and deletes its spool folder. */
  remove(id: string): Promise<void>;
  /** True from `prepare` to `remove`, also for an entry that can't be read. */
  has(id: string): boolean;
  /** Entries, oldest first. */
  entries(): AsyncIterable<JournalEntry>;
  close(): Promise<void>;
}
