/** The removal of what the rules of an account leave out, as it is stored: see migrations/0001_schema/capture.ts. */
import type { LeftOutReason } from '../../core/mailbox/capture.ts';
import type { JudgedTo } from './judge-account.ts';

/** The first two are under way. */
export const REMOVAL_STATES = ['counting', 'removing', 'done', 'refused', 'stopped'] as const;
export type RemovalState = (typeof REMOVAL_STATES)[number];

export interface Removal {
  readonly id: string;
  readonly accountId: string;
  readonly state: RemovalState;
  readonly requestedAt: Date;
  /** The author of the request. */
  readonly requestedBy: string;
  /** null while it is under way. */
  readonly finishedAt: Date | null;
  /** Emails that the operator confirmed, that were judged so far, and found to be removed. */
  readonly confirmed: number;
  readonly judged: number;
  readonly found: number;
  readonly removed: Readonly<Record<LeftOutReason, number>>;
  /** Listed emails that were no longer to be removed when their turn came, or were gone. */
  readonly kept: number;
}

export interface RemovalRequest {
  readonly id: string;
  readonly accountId: string;
  readonly requestedBy: string;
  /** null: no key requests it. */
  readonly authorKey: string | null;
  readonly rulesDigest: Buffer;
  readonly confirmed: number;
}

/** A removal that this process works on, until its lease ends. */
export interface ClaimedRemoval {
  readonly id: string;
  readonly owner: string;
  readonly accountId: string;
  readonly authorKey: string | null;
  readonly rulesDigest: Buffer;
  readonly confirmed: number;
}

export interface RemovalProgress {
  readonly state: 'counting' | 'removing';
  readonly judgedTo: JudgedTo | null;
  readonly found: number;
}

export interface RemovedEmail {
  readonly id: string;
  readonly reason: LeftOutReason;
  /** null: it has none. */
  readonly messageId: string | null;
}

/** Each step is one transaction. Throws `ServiceError('database_unavailable')`; steps of a claimed one throw LeaseEnded when it ended, or another process took over. */
export interface RemovalStore {
  /** null: one of the account is under way. */
  request(request: RemovalRequest): Promise<Removal | null>;
  /** The newest of the account; null: there was none. */
  read(accountId: string): Promise<Removal | null>;
  /** Ends one that is under way. @param keyId the key that stops it; null: none */
  stop(accountId: string, keyId: string | null): Promise<Removal | null>;
  /** One of these accounts that no process works on; null: none. */
  claim(owner: string, accountIds: readonly string[]): Promise<ClaimedRemoval | null>;
  /** Renews the lease. */
  progress(removal: ClaimedRemoval): Promise<RemovalProgress>;
  /** Lists emails to be removed. @param next null: all emails of the account are judged, so that it may begin to remove. */
  noteJudged(
    removal: ClaimedRemoval,
    step: { readonly judged: number; readonly ids: readonly string[]; readonly next: JudgedTo | null },
  ): Promise<void>;
  /** Some of the listed emails. */
  listed(removal: ClaimedRemoval, limit: number): Promise<readonly string[]>;
  /**
   * Deletes emails as `DeletionStore` does, notes their messages as left out, and takes them and those to be kept off the list. False: nothing
   * was done, since one of the emails has to be kept now.
   */
  remove(
    removal: ClaimedRemoval,
    step: { readonly removed: readonly RemovedEmail[]; readonly kept: readonly string[] },
  ): Promise<boolean>;
  end(removal: ClaimedRemoval, state: Exclude<RemovalState, 'counting' | 'removing'>): Promise<void>;
  /** Another process, or this one, may continue at once. */
  release(removal: ClaimedRemoval): Promise<void>;
}

export class LeaseEnded extends Error {}
