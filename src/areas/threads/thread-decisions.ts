/** Operators' decisions about threads: split one, merge two, move emails from one into another. */

/** UUIDs are lower-case. */
export interface SplitRequest {
  readonly threadId: string;
  /** The emails that leave; at least one, at most MAX_DECISION_EMAILS. */
  readonly emailIds: readonly string[];
  readonly reason: string | null;
  /** The key that decides; null: none. */
  readonly authorKeyId?: string | null;
}

export interface MoveRequest {
  /** The thread that the emails move to. */
  readonly threadId: string;
  readonly emailIds: readonly string[];
  readonly reason: string | null;
  /** The key that decides; null: none. */
  readonly authorKeyId?: string | null;
}

export interface MergeRequest {
  /** The thread that stays. */
  readonly threadId: string;
  /** The thread that is merged into it, of the same account. */
  readonly otherThreadId: string;
  readonly reason: string | null;
  /** True: the threads stay two, and the result has no decision. */
  readonly dryRun?: boolean;
  /** The key that decides; null: none. */
  readonly authorKeyId?: string | null;
}

export interface DecisionResult {
  /** The thread of the emails now: the new thread of a split, otherwise the thread of the request. */
  readonly threadId: string;
  /** False for a repeat: nothing had to change. */
  readonly changed: boolean;
  /** The decision that put the emails there, for a repeat the earlier one; null when none was needed. */
  readonly decision: { readonly id: string; readonly decidedAt: Date } | null;
}

/** Identifiers for a decision and the thread that it creates. */
export interface DecisionIds {
  readonly decisionId: string;
  readonly newThreadId: string;
}

/**
 * The decisions as the database stores them. Each is one transaction, one after the other with all merging of the
 * account; a repeat changes nothing. Throws `thread_not_found`, `email_not_found`, `different_accounts`,
 * `database_unavailable`.
 */
export interface ThreadDecisions {
  /** Also throws `email_not_in_thread`, `thread_would_be_empty`. */
  split(request: SplitRequest, ids: DecisionIds): Promise<DecisionResult>;
  merge(request: MergeRequest, ids: DecisionIds): Promise<DecisionResult>;
  move(request: MoveRequest, ids: DecisionIds): Promise<DecisionResult>;
}

/** Emails that one decision may name. Their rows are locked and rewritten in one transaction. */
export const MAX_DECISION_EMAILS = 1000;
/** Characters of a reason. */
export const MAX_REASON_CHARS = 1000;
