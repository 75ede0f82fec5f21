/** The known facts about why an email is in its thread. */
import type { Tie } from '../../core/thread/link-chain.ts';
import type { Placement } from '../emails/email-ports.ts';
import type { RefusedMerge } from './refused-merge-store.ts';

export interface PlacementFact extends Placement {
  readonly emailId: string;
  readonly messageId: string;
  readonly accountId: string;
  readonly threadId: string;
  /** The thread that has the matched Message-ID now; null when none decided. */
  readonly matchedThreadId: string | null;
  /** Emails of the account that have the matched Message-ID, oldest first, at most 10; empty when none was seen. */
  readonly matchedEmails: readonly PlacedEmail[];
  /** The first recorded email of the thread among those that name the matched Message-ID; null for none. */
  readonly firstNamedBy: PlacedEmail | null;
  /**
   * The ties from the email to the first one of its thread; empty for that one itself. null when nothing ties them any
   * more, or when the thread is too long to search.
   */
  readonly chain: readonly Tie[] | null;
  /** Threads that were merged into this one, the newest first, at most 100. */
  readonly merges: readonly { readonly threadId: string; readonly mergedAt: Date }[];
  /** Decisions about the email or its thread, the newest first, at most 100. */
  readonly decisions: readonly PlacementDecision[];
  /** The Message-IDs of other customers' threads that it names, the newest first, at most 100. */
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
  /** The new thread of a split, the merged thread of a merge; null for a move. */
  readonly otherThreadId: string | null;
  /** True: the decision named this email, which left its thread. */
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
  /** null when the email does not exist. */
  readPlacement(emailId: string): Promise<PlacementFact | null>;
}
