/** What the edges ask of threads. */
import type { SearchParts } from '../../core/search/query.ts';
import type { PageRequest } from '../base/paging.ts';
import type { ExplainedPlacement } from './placement-facts.ts';
import type { AccountFilter } from '../base/account-filter.ts';
import type { RefusedMerge } from './refused-merge-ports.ts';
import type { DecisionResult, MergeRequest, MoveRequest, SplitRequest } from './thread-decisions.ts';
import type { FolderCounts, FolderCountsQuery } from './folder-counts-ports.ts';
import type { ThreadChange, ThreadEmail, ThreadRecord } from './thread-record-ports.ts';
import type { ThreadEmails, ThreadFilter, ThreadListing, ThreadMark } from './thread-list-ports.ts';

export interface ThreadsRequest extends ThreadFilter, PageRequest {
  /** What a person typed to search for in their emails, see core/search/query.ts; null: any. */
  readonly q: string | null;
  /** The same for parts of an email alone. */
  readonly searchIn?: SearchParts;
}

export interface ThreadsPage {
  readonly threads: readonly ThreadListing[];
  /** null on the last page. */
  readonly nextCursor: string | null;
}

export interface RefusedMergesRequest extends PageRequest, AccountFilter {}

export interface RefusedMergesPage {
  readonly refusedMerges: readonly RefusedMerge[];
  readonly nextCursor: string | null;
}

export interface ThreadPageRequest extends PageRequest {
  /** UUID, lower-case. */
  readonly threadId: string;
  readonly withHtml: boolean;
}

export interface ThreadPageResult {
  readonly thread: ThreadRecord;
  /** Newest first. */
  readonly emails: readonly ThreadEmail[];
  /** For older ones; null when there are none. */
  readonly nextCursor: string | null;
}

export interface ThreadUseCases {
  /** The record of a thread, and its newest emails with everything that a page shows. Throws `thread_not_found`, `invalid_cursor`. */
  readThreadPage(request: ThreadPageRequest): Promise<ThreadPageResult>;
  /** Changes what people say of a thread; its record after that. Throws what `ThreadChanges.changeThread` throws. */
  changeThread(threadId: string, change: ThreadChange): Promise<ThreadRecord>;
  /**
   * Throws `thread_not_found`.
   *
   * @param known a version that the caller has the emails of; null: none
   */
  readThread(threadId: string, known: string | null): Promise<ThreadEmails>;
  /** Newest activity first. Throws `invalid_cursor`, `unknown_account`. */
  listThreads(request: ThreadsRequest): Promise<ThreadsPage>;
  /** How much is in what a page shows as folders. Throws `unknown_account`. */
  countFolders(query: FolderCountsQuery): Promise<FolderCounts>;
  /** Marks the received emails that a thread has now. Throws `thread_not_found`. */
  markThread(threadId: string, mark: 'read' | 'unread', keyId?: string | null): Promise<ThreadMark>;
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
}
