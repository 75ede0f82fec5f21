/** The counts of the folders that a page shows. */
import type { AccountFilter } from '../base/account-filter.ts';

/** Each count ends here: it then means "this many or more", and costs the same however much there is. */
export const MAX_FOLDER_COUNT = 1000;

/** Labels and accounts that are counted, in alphabetical order; each costs an index lookup. */
export const MAX_COUNTED_LABELS = 100;
export const MAX_COUNTED_ACCOUNTS = 50;

export interface FolderCountsQuery extends AccountFilter {
  /** The assignee whose threads are counted as `mine`; null: none are counted. */
  readonly assignee: string | null;
}

interface OpenThreads {
  readonly open: number;
  /** Open threads with unread emails, and those that wait for an answer. */
  readonly unread: number;
  readonly unanswered: number;
}

export interface FolderCounts {
  readonly threads: OpenThreads & {
    /** Threads with something that was not delivered. */
    readonly undelivered: number;
    readonly done: number;
    /** Open threads. */
    readonly mine: number;
    readonly unassigned: number;
  };
  readonly emails: {
    readonly received: number;
    readonly sent: number;
    /** Emails to be sent at a later time. */
    readonly scheduled: number;
    /** Emails in the queue, including scheduled ones. */
    readonly queued: number;
    readonly deferred: number;
    readonly failed: number;
    readonly unknown: number;
  };
  /** Emails that are being written. */
  readonly drafts: number;
  /** Open threads by label. */
  readonly labels: readonly { readonly label: string; readonly open: number }[];
  /** Empty when one account is requested. */
  readonly accounts: readonly ({ readonly accountId: string } & OpenThreads)[];
}

/** Throws `ServiceError('database_unavailable')`. */
export interface FolderCounter {
  /** In one round trip. */
  countFolders(query: FolderCountsQuery): Promise<FolderCounts>;
}
