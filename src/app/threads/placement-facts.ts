/** What is known about the reasons why an email is in its thread. */
import type { Tie } from '../../core/thread/link-chain.ts';
import type { Placement } from '../emails/email-ports.ts';
import type { RefusedMerge } from './refused-merge-ports.ts';

export interface PlacementFact extends Placement {
  readonly emailId: string;
  readonly messageId: string;
  readonly accountId: string;
  readonly threadId: string;
  /** Where the matched Message-ID is now; null when none decided. */
  readonly matchedThreadId: string | null;
  /** Emails of the account that have the matched Message-ID, oldest first, at most 10; empty when none was seen. */
  readonly matchedEmails: readonly PlacedEmail[];
  /** The email of the thread that was recorded first of those that name the matched Message-ID; null for none. */
  readonly firstNamedBy: PlacedEmail | null;
  /**
   * What ties the email to the first one of its thread; empty for that one itself. null when nothing does any more, or
   * when the thread is too long to look for it.
   */
  readonly chain: readonly Tie[] | null;
  /** Threads that ended in this one, the newest first, at most 100. */
  readonly merges: readonly { readonly threadId: string; readonly mergedAt: Date }[];
  /** About the email or its thread, the newest first, at most 100. */
  readonly decisions: readonly PlacementDecision[];
  /** What it names of other customers' threads, the newest first, at most 100. */
  readonly refused: readonly RefusedMerge[];
}

export interface PlacedEmail {
  readonly id: string;
  readonly messageId: string;
  readonly direction: 'inbound' | 'outbound';
  readonly date: Date;
}

export interface PlacementDecision {
  readonly id: string;
  readonly kind: 'split' | 'merge' | 'move';
  readonly threadId: string;
  /** The new thread of a split, the one that ended of a merge; null for a move. */
  readonly otherThreadId: string | null;
  /** True: it named this email, which left its thread. */
  readonly namesEmail: boolean;
  readonly reason: string | null;
  readonly decidedAt: Date;
}

export interface ExplainedPlacement extends PlacementFact {
  /** One or two English sentences. */
  readonly explanation: string;
}

/** Throws `ServiceError('database_unavailable')`. */
export interface PlacementStore {
  /** null when there is no such email. */
  readPlacement(emailId: string): Promise<PlacementFact | null>;
}
