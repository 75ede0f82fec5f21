/** One thread with a page of its emails, and the fields that people may set on it. */
import type { AttachmentView, DeliveryView, InvitationView } from '../emails/email-ports.ts';
import type { AddressView } from '../../core/address/address-view.ts';
import type { Mark } from './thread-list-ports.ts';
import type { Place } from '../../platform/base/paging.ts';
import type { AutomaticMail } from '../../core/delivery/automatic.ts';
import type { Protection } from '../../core/mime/parse/parsed-message.ts';
import type { Writer } from '../../core/delivery/writer.ts';
import type { KeyAuthor } from '../../core/keys/author.ts';
import type { AuthVerdict } from '../../core/message/authentication.ts';
import type { MessageId } from '../../core/message/message-id.ts';
import type { SuggestedCounterparty } from '../../core/message/suggested-counterparty.ts';
import type { Metadata } from '../../core/message/tags.ts';
import type { EmailState } from '../../core/delivery/states.ts';
import type { LinkRule } from '../../core/thread/place-inbound.ts';
import type { ThreadStatus, ThreadWork } from '../../core/thread/thread-work.ts';

/** The reason for the customer or company of a thread. `operator`: it was chosen by hand. `explicit`: a send named it. */
export const THREAD_CUSTOMER_SOURCES = ['operator', 'explicit', 'address', 'domain'] as const;
export const THREAD_COMPANY_SOURCES = ['operator', 'explicit', 'registration'] as const;

/** Why a send waits for a person. */
export const UNDELIVERED_REASONS = ['failed', 'unknown', 'refused', 'bounced'] as const;

export interface ThreadRecord extends ThreadWork {
  readonly id: string;
  readonly accountId: string;
  /** The subject of the first email. */
  readonly subject: string;
  readonly customerId: string | null;
  readonly customerSource: (typeof THREAD_CUSTOMER_SOURCES)[number] | null;
  readonly companyId: string | null;
  readonly companySource: (typeof THREAD_COMPANY_SOURCES)[number] | null;
  /** From the newest emails, senders first; each address once. */
  readonly participants: readonly AddressView[];
  /** Without emails that certainly did not go out. */
  readonly emailCount: number;
  readonly unreadCount: number;
  readonly unanswered: boolean;
  /** Sends that were not delivered, or perhaps not, and that were not dealt with. */
  readonly undelivered: number;
  readonly hasAttachments: boolean;
  readonly firstActivityAt: Date;
  readonly lastActivityAt: Date;
  /** Changes whenever status, assignee, labels, customer or company change. */
  readonly version: number;
}

/** An email as a page shows it. */
export interface ThreadEmail {
  readonly id: string;
  readonly messageId: MessageId;
  readonly direction: 'inbound' | 'outbound';
  readonly from: AddressView;
  readonly to: readonly AddressView[];
  readonly cc: readonly AddressView[];
  readonly bcc: readonly AddressView[];
  readonly replyTo: readonly AddressView[];
  readonly subject: string;
  readonly date: Date;
  readonly createdAt: Date;
  readonly customerId: string | null;
  readonly state: EmailState;
  readonly stateDetail: string | null;
  /** The time of the next attempt; null when it is not in the queue, or is being sent. */
  readonly nextAttemptAt: Date | null;
  readonly deliveries: readonly DeliveryView[];
  readonly snippet: string;
  readonly textBody: string;
  readonly replyText: string | null;
  readonly hasHtml: boolean;
  /** null also when it was not requested, and when it is too long. */
  readonly htmlBody: string | null;
  /** A text was too long for a page and was truncated, or the HTML was left out. */
  readonly isTruncated: boolean;
  readonly attachments: readonly AttachmentView[];
  readonly placement: 'thread_id' | 'decision' | 'new' | LinkRule;
  readonly automatic: AutomaticMail['kind'] | null;
  /** null for a sent email. */
  readonly writtenBy: Writer | null;
  /** null for an email that does not wait for a person. */
  readonly undelivered: (typeof UNDELIVERED_REASONS)[number] | null;
  /** Of a received email that is signed or encrypted; null for any other. */
  readonly protection: Protection | null;
  /** null when it has none. */
  readonly invitation: InvitationView | null;
  readonly newParticipant: boolean;
  /** The tags that its send gave it. */
  readonly tags: readonly string[];
  readonly metadata: Metadata;
  /** The key that sent it; null: none. */
  readonly author: KeyAuthor | null;
  /** The check of a received email's sender; null: no trusted source reports anything. */
  readonly verdict: AuthVerdict | null;
  readonly isUnread: boolean;
  /** See EmailDetail. */
  readonly suggestedCounterparty: SuggestedCounterparty | null;
  readonly variantCount: number;
}

export interface ThreadPageQuery {
  readonly threadId: string;
  readonly withHtml: boolean;
  readonly limit: number;
  /** Where the previous page ended; null for the newest emails. */
  readonly after: Place | null;
}

export interface ThreadPage {
  readonly thread: ThreadRecord;
  /** Newest first; includes those that did not go out. */
  readonly emails: readonly ThreadEmail[];
  /** Older ones follow. */
  readonly hasMore: boolean;
}

/** Throws `ServiceError('database_unavailable')`. */
export interface ThreadPages {
  /** In one round trip. An alias leads to the thread that it was merged into; null when the thread does not exist. */
  readThreadPage(query: ThreadPageQuery): Promise<ThreadPage | null>;
}

/** The changes to make; undefined: unchanged. */
export interface ThreadChange {
  /** The change is refused when the thread has another version; null: any version. */
  readonly version: number | null;
  /** null: no longer chosen by hand, so that sends and rules decide. */
  readonly customerId: string | null | undefined;
  readonly companyId: string | null | undefined;
  readonly status: ThreadStatus | undefined;
  /** A person dealt with what is undelivered; `done` settles it, too. */
  readonly settles: true | undefined;
  /** An id; null: not assigned. Throws `unknown_assignee` for one that may not answer in the account, unless it is assigned already. */
  readonly assignee: string | null | undefined;
  /** All labels that it is to have; then `addLabels`, then `removeLabels`. */
  readonly labels: readonly string[] | undefined;
  readonly addLabels: readonly string[];
  readonly removeLabels: readonly string[];
}

export interface ThreadChanges {
  /**
   * In one transaction; a change without effect keeps the version. Returns the thread's id, another one for an alias.
   * Throws `thread_not_found`, `thread_changed`, `too_many_entries`, `database_unavailable`.
   *
   * @param keyId the key that makes the change, for events; null: none
   */
  changeThread(threadId: string, change: ThreadChange, keyId: string | null): Promise<string>;
  /**
   * The same, and marks its emails, for a request about many threads; a dry run changes nothing and throws the same errors. It throws
   * `thread_changed` when another email than `newestEmailId` is the newest; null: any.
   */
  changeAndMark(
    thread: { readonly id: string; readonly newestEmailId: string | null },
    change: ThreadChange,
    options: MarkOptions,
  ): Promise<ChangedThread>;
}

export interface MarkOptions {
  readonly keyId: string | null;
  /** null: the marks stay. */
  readonly mark: Mark | null;
  readonly dryRun: boolean;
}

export interface ChangedThread {
  /** Another id than the requested one for an alias. */
  readonly id: string;
  /** False when the thread was like that already. */
  readonly isChanged: boolean;
}
