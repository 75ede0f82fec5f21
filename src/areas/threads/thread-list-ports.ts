/** The list of threads that the use cases need, and its entries. */
import type { AutomaticMail } from '../../core/delivery/automatic.ts';
import type { AccountFilter } from '../../platform/base/account-filter.ts';
import type { EmailsJson } from '../../platform/db/emails-json.ts';
import type { AuthVerdict } from '../../core/message/authentication.ts';
import type { SearchQuery } from '../../core/search/query.ts';
import type { ThreadStatus } from '../../core/thread/thread-work.ts';
import type { AddressView } from '../../core/address/address-view.ts';
import type { Place } from '../../platform/base/paging.ts';

/** Recipients of the newest email that the list shows: an email may have thousands. */
export const MAX_SHOWN_RECIPIENTS = 10;

/** Selects threads; null: any. */
export interface ThreadFilter extends AccountFilter {
  /** UUIDs, lower-case. */
  readonly customerId: string | null;
  readonly companyId: string | null;
  /** The direction of the newest email. */
  readonly direction: 'inbound' | 'outbound' | null;
  readonly unread: boolean | null;
  /** The newest email that a person wrote is inbound. */
  readonly unanswered: boolean | null;
  readonly status: ThreadStatus | null;
  /** The id of the assignee; `isAssigned` only asks whether there is one. */
  readonly assignee: string | null;
  readonly isAssigned: boolean | null;
  readonly label: string | null;
  /** Something of it was not delivered, and that was not dealt with. */
  readonly undelivered: boolean | null;
  readonly hasAttachments: boolean | null;
  /** The time of the last activity: from `activeSince` on, and before `activeUntil`. */
  readonly activeSince: Date | null;
  readonly activeUntil: Date | null;
}

export interface ThreadsQuery extends ThreadFilter {
  /** The words that one of their emails must contain; null: any. */
  readonly search: SearchQuery | null;
  readonly limit: number;
  /** Where the previous page ended; null for the first. */
  readonly after: Place | null;
}

export interface ThreadListing {
  readonly id: string;
  readonly accountId: string;
  /** The subject of the first email. */
  readonly subject: string;
  readonly customerId: string | null;
  readonly companyId: string | null;
  /** From the newest emails, senders first; each address once. */
  readonly participants: readonly AddressView[];
  readonly emailCount: number;
  readonly unreadCount: number;
  readonly hasAttachments: boolean;
  readonly unanswered: boolean;
  /** Sends that were not delivered, or perhaps not, and that were not dealt with. */
  readonly undelivered: number;
  readonly status: ThreadStatus;
  /** The id of a key; null: not assigned. */
  readonly assignee: string | null;
  readonly assigneeName: string | null;
  /** Sorted. */
  readonly labels: readonly string[];
  readonly lastActivityAt: Date;
  readonly newestEmail: EmailPreview;
}

export interface EmailPreview {
  readonly id: string;
  readonly direction: 'inbound' | 'outbound';
  readonly from: AddressView;
  /** The check of a received email's sender; null: no trusted source reports anything. */
  readonly verdict: AuthVerdict | null;
  /** The first MAX_SHOWN_RECIPIENTS. */
  readonly to: readonly AddressView[];
  readonly automatic: AutomaticMail['kind'] | null;
  readonly date: Date;
  /** The beginning of the new text, with white space collapsed to single spaces. */
  readonly snippet: string;
}

/** Threads with at least one email that is listed, or that was not delivered. Throws `ServiceError('database_unavailable')`. */
export interface ThreadList {
  /** Newest activity first, at most `limit`; in one round trip. */
  listThreads(query: ThreadsQuery): Promise<readonly ThreadListing[]>;
  /**
   * Marks all received emails that the thread has now. Returns the thread's id (an alias leads to another one) and the
   * number of its unread emails; null when the thread does not exist.
   */
  markThread(threadId: string, mark: Mark, keyId?: string | null): Promise<ThreadMark | null>;
}

export type Mark = 'read' | 'unread';

export interface ThreadMark {
  readonly threadId: string;
  readonly unreadCount: number;
}

/** The emails of a thread as they are at one moment. */
export interface ThreadEmails {
  /**
   * Digits. It changes whenever the emails look different: equal versions are equal answers, from any process on the same
   * database. A thread without emails has `0`.
   */
  readonly version: string;
  /** By `date`, then id, without emails that certainly did not go out; null when the caller already has this version. */
  readonly emails: EmailsJson | null;
}

/** Throws `ServiceError('database_unavailable')`. */
export interface ThreadReader {
  /**
   * null when the thread does not exist. A small thread takes one round trip, which reads at the same moment share.
   *
   * @param known the version of the emails that the caller has; null: none
   */
  readThread(threadId: string, known: string | null): Promise<ThreadEmails | null>;
}
