/**
 * Merges of threads that received mail requested and that were refused: sends named the threads for different customers.
 */
import type { LinkRule } from '../../core/thread/place-inbound.ts';
import type { AccountFilter } from '../base/account-filter.ts';
import type { Place } from '../base/paging.ts';

/**
 * An email names a Message-ID of another customer's thread. It is listed until the two are one thread, or nothing ties
 * them.
 */
export interface RefusedMerge {
  readonly id: string;
  readonly accountId: string;
  readonly emailId: string;
  /** The thread of the email. */
  readonly threadId: string;
  readonly customerId: string | null;
  /** The thread of the Message-ID. */
  readonly otherThreadId: string;
  readonly otherCustomerId: string | null;
  readonly rule: LinkRule;
  readonly messageId: string;
  readonly refusedAt: Date;
}

export interface RefusedMergeStore {
  /** Newest first. Throws `ServiceError('database_unavailable')`. */
  list(
    request: AccountFilter & { readonly after: Place | null; readonly limit: number },
  ): Promise<readonly RefusedMerge[]>;
}
