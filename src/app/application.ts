/**
 * What the service can do, as its edges (HTTP, CLI, listeners) see it. service.ts builds one.
 */
import type { Readable } from 'node:stream';
import type { ByteRange, Content, EmailDetail, EmailsJson, SpoolFolder, StoredAttachment } from './ports.ts';
import type { AmbiguousClaim, CustomerRegistration, Relinked } from './customer-ports.ts';
import type { MailSource, VariantDetail } from './variant-view.ts';
import type { ListedDefect } from './queue-ports.ts';
import type { QuarantinedMessage, ReadingStatus } from './mailbox-status-ports.ts';
import type { ThreadFilter, ThreadListing, ThreadMark } from './thread-list-ports.ts';
import type { ExplainedPlacement } from './placement-facts.ts';
import type { RefusedMerge } from './refused-merge-ports.ts';
import type { DecisionResult, MergeRequest, MoveRequest, SplitRequest } from './thread-decisions.ts';
import type { Address } from '../core/address/address.ts';
import type { AutoSubmitted } from '../core/delivery/loop-guard.ts';
import type { Priority } from '../core/delivery/priority.ts';
import type { EmailState } from '../core/delivery/states.ts';
import type { Suppression, SuppressionReason } from '../core/delivery/suppression.ts';
import type { MessageId } from '../core/message/message-id.ts';

/** One attachment of a send. */
export interface AttachmentInput {
  /** As given; may hold anything a caller can type, paths included. */
  readonly filename: string;
  /** As given, such as `application/pdf`; null means application/octet-stream. */
  readonly contentType: string | null;
  /** Decoded bytes. */
  readonly content: Content;
}

/** A send as the caller asked for it: types are checked, contents are not. */
export interface SendRequest {
  /** RFC 5322 address lists; each string may hold several. */
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly bcc: readonly string[];
  readonly subject: string;
  readonly textBody: string | null;
  readonly htmlBody: string | null;
  /** Message-ID with or without angle brackets. */
  readonly inReplyTo: string | null;
  /** UUIDs, lower-case. */
  readonly threadId: string | null;
  readonly customerId: string | null;
  readonly companyId: string | null;
  /** null: the thread's account, else the default one. */
  readonly accountId: string | null;
  readonly attachments: readonly AttachmentInput[];
  /** True: only put it into the queue, and answer at once. */
  readonly respondAsync: boolean;
  /** Send it then, from the queue; null: now. */
  readonly sendAt: Date | null;
  /** In the queue; null: `normal`. */
  readonly priority: Priority | null;
  /** In the queue; lanes of one priority take turns. null: `reply` when it joins a thread, else `new`. */
  readonly lane: string | null;
  /** For an email that no person wrote; null for any other. */
  readonly autoSubmitted: AutoSubmitted | null;
}

/**
 * `sent`: sent and stored; recipients that were put off are tried again by themselves. `queued`: stored, and sent from
 * the queue. `partial`: sent, and stored by itself as soon as that is possible.
 */
export type SendResult =
  | {
      readonly kind: 'sent' | 'queued';
      readonly id: string;
      readonly messageId: MessageId;
      readonly threadId: string;
    }
  | { readonly kind: 'partial'; readonly messageId: MessageId; readonly error: string };

/** One message as it came in. */
export interface ReceiveRequest {
  /** As received, RFC 5322, broken or not. */
  readonly raw: Content;
  /** null: the default account. */
  readonly accountId: string | null;
  /** The sender of the envelope, null for `<>`; undefined when nobody knows. */
  readonly mailFrom?: string | null;
  /** Stands for a missing Date; never in the future. Default: now. */
  readonly receivedAt?: Date;
  /**
   * It is known from where it lies that somebody sent it from the account, such as in the Sent mailbox: unless it is
   * an email that this service sent, it is recorded as an outbound one. Never decided by what the message says: anybody
   * can write the account's address into From. Default: false.
   */
  readonly isSentCopy?: boolean;
  /** Somebody has read it already: it is no unread email. Says nothing of one that is recorded. Default: false. */
  readonly isRead?: boolean;
  /** By which way it came. Default: not known. */
  readonly source?: MailSource;
}

/**
 * `duplicate`: the email was recorded before, or it was sent from here; nothing was added, but that an email recorded
 * as received turns into a sent one when its Sent copy comes, and that a message which says something else is kept as a
 * variant of the record.
 */
export interface ReceiveResult {
  readonly kind: 'received' | 'duplicate';
  readonly id: string;
  readonly messageId: MessageId;
  readonly threadId: string;
}

/** How a send failed that was tried. */
export interface SendFailure {
  readonly kind: 'failed';
  readonly code: 'send_failed' | 'send_deferred' | 'send_unknown';
  /** English; null when nothing more is known. */
  readonly details: string | null;
}

/** How a send that was tried ended. JSON values only: an idempotency key keeps it. */
export type SendOutcome = SendResult | SendFailure;

export interface SendOnceResult {
  readonly outcome: SendOutcome;
  /** True when an earlier request with the same key sent, or tried to; this one did nothing. */
  readonly replayed: boolean;
}

export interface CustomerEmailsRequest {
  /** UUID, lower-case. */
  readonly customerId: string;
  readonly direction: 'inbound' | 'outbound' | null;
  /** Inclusive. */
  readonly since: Date | null;
  /** Exclusive. */
  readonly until: Date | null;
  /** 1 to 200. */
  readonly limit: number;
  /** `nextCursor` of the page before; null for the first page. */
  readonly cursor: string | null;
}

/** What is to be registered for a customer, as given. */
export interface RegistrationRequest {
  /** UUIDs, lower-case. */
  readonly customerId: string;
  readonly companyId: string | null;
  readonly addresses: readonly string[];
  readonly domains: readonly string[];
}

export interface AmbiguousClaimsPage {
  readonly claims: readonly AmbiguousClaim[];
  /** null on the last page. */
  readonly nextCursor: string | null;
}

export interface AmbiguousEmailsRequest {
  /** As given; at most one of the two. null: all. */
  readonly address: string | null;
  readonly domain: string | null;
  /** 1 to 200. */
  readonly limit: number;
  /** `nextCursor` of the page before; null for the first page. */
  readonly cursor: string | null;
}

export interface EmailsRequest {
  /** What a person typed to search for, see core/search/query.ts; null: any. */
  readonly q: string | null;
  readonly state: EmailState | null;
  readonly defect: ListedDefect | null;
  readonly accountId: string | null;
  /** 1 to 200. */
  readonly limit: number;
  /** `nextCursor` of the page before; null for the first page. */
  readonly cursor: string | null;
}

export interface EmailsPage {
  readonly emails: EmailsJson;
  /** null on the last page. */
  readonly nextCursor: string | null;
}

export interface SuppressionsRequest {
  /** As a caller writes it. */
  readonly address: string | null;
  readonly reason: SuppressionReason | null;
  /** 1 to 200. */
  readonly limit: number;
  /** `nextCursor` of the page before; null for the first page. */
  readonly cursor: string | null;
}

export interface ThreadsRequest extends ThreadFilter {
  /** What a person typed to search for in their emails, see core/search/query.ts; null: any. */
  readonly q: string | null;
  /** 1 to 200. */
  readonly limit: number;
  /** `nextCursor` of the page before; null for the first page. */
  readonly cursor: string | null;
}

export interface RefusedMergesRequest {
  /** null: of all accounts. */
  readonly accountId: string | null;
  readonly limit: number;
  readonly cursor: string | null;
}

export interface RefusedMergesPage {
  readonly refusedMerges: readonly RefusedMerge[];
  readonly nextCursor: string | null;
}

export interface SuppressionsPage {
  readonly suppressions: readonly Suppression[];
  /** null on the last page. */
  readonly nextCursor: string | null;
}

export interface ThreadsPage {
  readonly threads: readonly ThreadListing[];
  /** null on the last page. */
  readonly nextCursor: string | null;
}

export interface AccountStatus extends ReadingStatus {
  /** null: this process does not know the account. */
  readonly from: Address | null;
  /** This process is configured to read its mailboxes. */
  readonly hasMailbox: boolean;
  /** This process reads them. */
  readonly isOwnedHere: boolean;
  /** Why it will stop to work unless somebody acts; English, null when all is well. */
  readonly warning: string | null;
}

export interface QuarantineRequest {
  readonly accountId: string | null;
  /** 1 to 200. */
  readonly limit: number;
  /** `nextCursor` of the page before; null for the first page. */
  readonly cursor: string | null;
}

export interface QuarantinePage {
  readonly messages: readonly QuarantinedMessage[];
  /** null on the last page. */
  readonly nextCursor: string | null;
}

export interface RawMessage {
  readonly sizeBytes: number;
  readonly stream: Readable;
}

export interface Readiness {
  readonly ready: boolean;
  readonly checks: readonly ReadinessCheck[];
}

export interface ReadinessCheck {
  readonly name: 'database' | 'storage' | 'smtp';
  readonly ok: boolean;
  /** English reason; null when ok. */
  readonly detail: string | null;
}

export interface Application {
  /**
   * Sends one email and records it. Takes over `folder`, which holds the large attachments: it is removed when
   * nothing needs it any more. Throws ServiceError, `recipient_suppressed` among them; nothing was sent unless the code is `send_unknown`.
   */
  sendMessage(request: SendRequest, folder: SpoolFolder): Promise<SendResult>;
  /**
   * `sendMessage` for the first request with this key (1 to 256 visible ASCII characters), and its outcome for the
   * repeats, for at least 24 hours. Throws what `sendMessage` throws, and beyond it `idempotency_key_reused`,
   * `idempotency_in_progress` and, with nothing sent, `database_unavailable`.
   */
  sendOnce(key: string, request: SendRequest, folder: SpoolFolder): Promise<SendOnceResult>;
  /**
   * Records one received email, or one that was sent by another program, once however often it comes; returns when the record is durable. Takes over `folder`,
   * which holds a large message. Bad mail is recorded with its defects. Throws `unknown_account`,
   * `busy`, `database_unavailable`, `storage_unavailable`, `reading_unavailable` and `disk_full`; it may then be recorded nevertheless, and should be
   * given again.
   */
  receiveMessage(request: ReceiveRequest, folder: SpoolFolder): Promise<ReceiveResult>;
  /** Throws `thread_not_found`. */
  readThread(threadId: string): Promise<EmailsJson>;
  /** Newest activity first. Throws `invalid_cursor`, `unknown_account`. */
  listThreads(request: ThreadsRequest): Promise<ThreadsPage>;
  /** Marks the received emails that a thread has now. Throws `thread_not_found`. */
  markThread(threadId: string, mark: 'read' | 'unread'): Promise<ThreadMark>;
  /** Throws `invalid_cursor`. */
  listCustomerEmails(request: CustomerEmailsRequest): Promise<EmailsPage>;
  readCustomerRegistration(customerId: string): Promise<CustomerRegistration>;
  /**
   * Replaces all that is registered for a customer and links past mail by it. Throws `invalid_address`,
   * `invalid_domain`, `header_injection`, `public_domain`, `too_many_entries`.
   */
  registerCustomer(
    request: RegistrationRequest,
  ): Promise<{ readonly registration: CustomerRegistration; readonly relinked: Relinked }>;
  /** Addresses and domains that several customers claim. Throws `invalid_cursor`. */
  listAmbiguousClaims(request: {
    readonly limit: number;
    readonly cursor: string | null;
  }): Promise<AmbiguousClaimsPage>;
  /**
   * Emails that have no customer because several claim them, newest first. Throws `invalid_cursor`, `invalid_request`,
   * `invalid_address`, `invalid_domain`, `header_injection`.
   */
  listAmbiguousEmails(request: AmbiguousEmailsRequest): Promise<EmailsPage>;
  /** All threads, newest first. Throws `invalid_cursor`, `unknown_account`. */
  listEmails(request: EmailsRequest): Promise<EmailsPage>;
  /** Takes a send out of the queue; returns its state now. Throws `email_not_found`, `not_cancellable`. */
  cancelSend(id: string): Promise<EmailState>;
  /** Sends to the recipients that were not accepted, now. Throws `email_not_found`, `not_retryable`. */
  retrySend(id: string): Promise<EmailState>;
  /** Says what became of an unknown send. Throws `email_not_found`, `not_unknown`. */
  resolveSend(id: string, outcome: 'sent' | 'failed'): Promise<EmailState>;
  /** Addresses that nothing is sent to, the newest change first. Throws `invalid_address`, `invalid_cursor`. */
  listSuppressions(request: SuppressionsRequest): Promise<SuppressionsPage>;
  /** Throws `invalid_address`, `suppression_not_found`. */
  readSuppression(address: string): Promise<Suppression>;
  /** By hand; `note` is the operator's. Throws `invalid_address`. */
  suppress(address: string, note: string | null): Promise<Suppression>;
  /**
   * Sends to the address again, until something new comes back. Throws `invalid_address`, `suppression_not_found`.
   */
  liftSuppression(address: string): Promise<{ readonly address: string; readonly liftedAt: Date }>;
  /** Throws `email_not_found`. */
  readEmail(id: string): Promise<EmailDetail>;
  /** Merges that mail did not get, newest first. Throws `invalid_cursor`, `unknown_account`. */
  listRefusedMerges(request: RefusedMergesRequest): Promise<RefusedMergesPage>;
  /** Throws `email_not_found`. */
  explainPlacement(emailId: string): Promise<ExplainedPlacement>;
  /** Gives emails of a thread a new one. Throws what `ThreadDecisions.split` throws. */
  splitThread(request: SplitRequest): Promise<DecisionResult>;
  /** Makes one thread of two. Throws what `ThreadDecisions.merge` throws. */
  mergeThreads(request: MergeRequest): Promise<DecisionResult>;
  /** Moves emails into a thread. Throws what `ThreadDecisions.move` throws. */
  moveEmails(request: MoveRequest): Promise<DecisionResult>;
  /** Throws `email_not_found`, `content_missing`. */
  readRaw(id: string): Promise<RawMessage>;
  /** Throws `variant_not_found`. */
  readVariant(emailId: string, id: string): Promise<VariantDetail>;
  /** Throws `variant_not_found`, `content_missing`. */
  readVariantRaw(emailId: string, id: string): Promise<RawMessage>;
  /** Throws `attachment_not_found`. */
  readAttachment(id: string): Promise<StoredAttachment>;
  /** Throws `content_missing`. */
  openAttachment(attachment: StoredAttachment, range?: ByteRange): Promise<Readable>;
  /** Every account, configured here or read by another process, and how its mailboxes are. */
  listAccounts(): Promise<readonly AccountStatus[]>;
  /** Messages of mailboxes that are set aside, the newest first. Throws `invalid_cursor`, `unknown_account`. */
  listQuarantine(request: QuarantineRequest): Promise<QuarantinePage>;
  /** Has a message that is set aside tried now. Throws `quarantined_not_found`. */
  retryQuarantined(id: string): Promise<QuarantinedMessage>;
  /** Asks every dependency, each with a deadline. */
  checkReadiness(): Promise<Readiness>;
}
