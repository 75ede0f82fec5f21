/** One thread with a page of its emails, and what people may say of it. */
import type { AddressView, AttachmentView, DeliveryView } from '../emails/email-ports.ts';
import type { Place } from '../base/paging.ts';
import type { AutomaticMail } from '../../core/delivery/automatic.ts';
import type { KeyAuthor } from '../../core/keys/author.ts';
import type { AuthVerdict } from '../../core/message/authentication.ts';
import type { MessageId } from '../../core/message/message-id.ts';
import type { Metadata } from '../../core/message/tags.ts';
import type { EmailState } from '../../core/delivery/states.ts';
import type { LinkRule } from '../../core/thread/place-inbound.ts';

export const THREAD_STATUSES = ['open', 'done'] as const;
export type ThreadStatus = (typeof THREAD_STATUSES)[number];

/** Labels of a thread, as a person sets them; each is a row that the list walks. */
export const MAX_THREAD_LABELS = 20;
/** Characters of a label. */
export const MAX_LABEL_CHARS = 64;
/** Characters of the name of a thread's assignee. */
export const MAX_ASSIGNEE_CHARS = 200;

/** Why a thread has its customer or company. `operator`: it was chosen by hand. `explicit`: a send named it. */
export const THREAD_CUSTOMER_SOURCES = ['operator', 'explicit', 'address', 'domain'] as const;
export const THREAD_COMPANY_SOURCES = ['operator', 'explicit', 'registration'] as const;

export interface ThreadRecord {
  readonly id: string;
  readonly accountId: string;
  /** Of the first email. */
  readonly subject: string;
  readonly customerId: string | null;
  readonly customerSource: (typeof THREAD_CUSTOMER_SOURCES)[number] | null;
  readonly companyId: string | null;
  readonly companySource: (typeof THREAD_COMPANY_SOURCES)[number] | null;
  /** Of the newest emails, senders first; each address once. */
  readonly participants: readonly AddressView[];
  /** Without what certainly did not go out. */
  readonly emailCount: number;
  readonly unreadCount: number;
  readonly unanswered: boolean;
  readonly hasAttachments: boolean;
  readonly status: ThreadStatus;
  readonly assignee: string | null;
  /** Sorted. */
  readonly labels: readonly string[];
  readonly firstActivityAt: Date;
  readonly lastActivityAt: Date;
  /** Another one whenever status, assignee, labels, customer or company are others. */
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
  /** When it is sent or tried next; null when it is not in the queue, or being sent. */
  readonly nextAttemptAt: Date | null;
  readonly deliveries: readonly DeliveryView[];
  readonly snippet: string;
  readonly textBody: string;
  readonly replyText: string | null;
  readonly hasHtml: boolean;
  /** null also where it was not asked for, and where it is too long. */
  readonly htmlBody: string | null;
  /** A text was too long for a page and was cut, or the HTML left out. */
  readonly isTruncated: boolean;
  readonly attachments: readonly AttachmentView[];
  readonly placement: 'thread_id' | 'decision' | 'new' | LinkRule;
  readonly automatic: AutomaticMail['kind'] | null;
  readonly newParticipant: boolean;
  /** As its send gave them. */
  readonly tags: readonly string[];
  readonly metadata: Metadata;
  /** The key that sent it; null: none. */
  readonly author: KeyAuthor | null;
  /** Whether a received email is from whom it says; null: nothing that is trusted says anything. */
  readonly verdict: AuthVerdict | null;
  readonly isUnread: boolean;
}

export interface ThreadPageQuery {
  readonly threadId: string;
  readonly withHtml: boolean;
  readonly limit: number;
  /** Where the page before ended; null for the newest emails. */
  readonly after: Place | null;
}

export interface ThreadPage {
  readonly thread: ThreadRecord;
  /** Newest first; also those that did not go out. */
  readonly emails: readonly ThreadEmail[];
  /** Older ones follow. */
  readonly hasMore: boolean;
}

/** Throws `ServiceError('database_unavailable')`. */
export interface ThreadPages {
  /** In one round trip. An alias leads to the thread that it was merged into; null when there is none. */
  readThreadPage(query: ThreadPageQuery): Promise<ThreadPage | null>;
}

/** What is to be changed; undefined: stays as it is. */
export interface ThreadChange {
  /** The change is refused when the thread has another version; null: whatever it is. */
  readonly version: number | null;
  /** null: no longer chosen by hand, so what sends named and the rules say counts. */
  readonly customerId: string | null | undefined;
  readonly companyId: string | null | undefined;
  readonly status: ThreadStatus | undefined;
  readonly assignee: string | null | undefined;
  /** All that it is to have; then `addLabels`, then `removeLabels`. */
  readonly labels: readonly string[] | undefined;
  readonly addLabels: readonly string[];
  readonly removeLabels: readonly string[];
  /** The key that changes it, as events tell it; null: none. */
  readonly authorKeyId?: string | null;
}

export interface ThreadChanges {
  /**
   * In one transaction; a change that changes nothing leaves the version. Returns the thread's id, another one for an alias.
   * Throws `thread_not_found`, `thread_changed`, `too_many_entries`, `database_unavailable`.
   */
  changeThread(threadId: string, change: ThreadChange): Promise<string>;
}
