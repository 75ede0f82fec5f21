/** The use cases of threads that the edges call. */
import type { SearchParts } from '../../core/search/query.ts';
import type { PageRequest } from '../../platform/base/paging.ts';
import type { ExplainedPlacement } from './placement-facts.ts';
import type { AccountFilter } from '../../platform/base/account-filter.ts';
import type { RefusedMerge } from './refused-merge-store.ts';
import type { ThreadChange, ThreadChanges, ThreadEmail, ThreadRecord } from './thread-record-ports.ts';
import type { Mark, ThreadEmails, ThreadFilter, ThreadListing, ThreadMark } from './thread-list-ports.ts';

export interface ThreadsRequest extends ThreadFilter, PageRequest {
  /** The search in their emails as a person typed it, see core/search/query.ts; null: any. */
  readonly q: string | null;
  /** The same for certain parts of an email only. */
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
  /** For older emails; null when there are none. */
  readonly nextCursor: string | null;
}

export interface ThreadUseCases extends Pick<ThreadChanges, 'changeAndMark'> {
  /**
   * The record of a thread, and its newest emails with everything that a page shows. Throws `thread_not_found`,
   * `invalid_cursor`.
   */
  readThreadPage(request: ThreadPageRequest): Promise<ThreadPageResult>;
  /**
   * Changes the fields that people set on a thread; returns its record afterwards. Throws the errors of
   * `ThreadChanges.changeThread`.
   */
  changeThread(threadId: string, change: ThreadChange, keyId: string | null): Promise<ThreadRecord>;
  /**
   * Throws `thread_not_found`.
   *
   * @param known the version of the emails that the caller has; null: none
   */
  readThread(threadId: string, known: string | null): Promise<ThreadEmails>;
  /** Newest activity first. Throws `invalid_cursor`, `unknown_account`. */
  listThreads(request: ThreadsRequest): Promise<ThreadsPage>;
  /** Marks the received emails that a thread has now. Throws `thread_not_found`. */
  markThread(threadId: string, mark: Mark, keyId: string | null): Promise<ThreadMark>;
  /** Refused merges, newest first. Throws `invalid_cursor`, `unknown_account`. */
  listRefusedMerges(request: RefusedMergesRequest): Promise<RefusedMergesPage>;
  /** Throws `email_not_found`. */
  explainPlacement(emailId: string): Promise<ExplainedPlacement>;
}
