/** How much is in what a page shows as folders. */
import type { AccountFilter } from '../base/account-filter.ts';

/** Each is counted up to here: then it says "so many or more", and costs the same however much there is. */
export const MAX_FOLDER_COUNT = 1000;

/** Labels and accounts that are counted, in alphabetical order; each costs a look at an index. */
export const MAX_COUNTED_LABELS = 100;
export const MAX_COUNTED_ACCOUNTS = 50;

export interface FolderCountsQuery extends AccountFilter {
  /** Whose threads are counted as `mine`; null: none are. */
  readonly assignee: string | null;
}

interface OpenThreads {
  readonly open: number;
  /** Open ones with unread emails, and those that wait for an answer. */
  readonly unread: number;
  readonly unanswered: number;
}

export interface FolderCounts {
  readonly threads: OpenThreads & {
    readonly done: number;
    /** Open ones. */
    readonly mine: number;
    readonly unassigned: number;
  };
  readonly emails: {
    readonly received: number;
    readonly sent: number;
    /** Waiting for a moment that has not come. */
    readonly scheduled: number;
    /** In the queue, those that are scheduled included. */
    readonly queued: number;
    readonly deferred: number;
    readonly failed: number;
    readonly unknown: number;
  };
  /** Emails that are being written. */
  readonly drafts: number;
  /** Open threads by label. */
  readonly labels: readonly { readonly label: string; readonly open: number }[];
  /** Empty when one account is asked for. */
  readonly accounts: readonly ({ readonly accountId: string } & OpenThreads)[];
}

/** Throws `ServiceError('database_unavailable')`. */
export interface FolderCounter {
  /** In one round trip. */
  countFolders(query: FolderCountsQuery): Promise<FolderCounts>;
}
