/** The operations of the send queue that the use cases need. */
import type { ClaimRef } from './claim.ts';
import type { EndedAttempt } from './journal-ports.ts';
import type { RecordedSend } from './outbound-ports.ts';
import type { Envelope } from './transport-ports.ts';
import type { Conclusion } from '../../core/delivery/conclude.ts';
import type { RateLimit } from '../../core/delivery/rate-window.ts';
import type { RetrySchedule } from '../../core/delivery/retry-schedule.ts';
import type { DeliveryState, EmailState } from '../../core/delivery/states.ts';

/** A send that only this process is to hand over. */
export interface Claim extends ClaimRef {
  readonly accountId: string;
  /** The recipients that are still open; may be empty. */
  readonly envelope: Envelope;
  /**
   * Open recipients that are on the suppression list now, or left the list of the email, and so are not in the envelope.
   */
  readonly suppressed: readonly string[];
  /** The location of the raw message: exactly one of `raw` and `rawPath` is set. */
  readonly raw: Buffer | null;
  readonly rawPath: string | null;
  /** Of the message as it was recorded. */
  readonly rawSizeBytes: number;
}

export interface ClaimRequest {
  readonly accountId: string;
  /** UUID of the claiming instance's journal. */
  readonly owner: string;
  /** 1 to 64. */
  readonly limit: number;
  readonly leaseMs: number;
  /** The lane served last; the next lane in the order has its turn. Empty: from the beginning. */
  readonly afterLane: string;
  readonly rate: RateLimit;
  /** False: only sends whose message is in the database. Default: true. */
  readonly withFiles?: boolean;
}

export interface ClaimedSends {
  /** In the order of hand-over. */
  readonly claims: readonly Claim[];
  /** For the next request. */
  readonly lastLane: string;
  /** Time until the limits of the account let a message through, in ms; 0 when they do now. */
  readonly waitMs: number;
}

/** The facts needed to decide about an email after an attempt. */
export interface Situation {
  /** The states of all recipients, with the attempt's results. */
  readonly states: readonly DeliveryState[];
  /** The time until the email is given up, in ms, by the database's clock. null: that clock is in doubt, so it is not given up now. */
  readonly giveUpInMs: number | null;
}

export interface ReleaseOptions {
  /**
   * Only for a claim that this process has given up itself before the first byte, or that an earlier process left without
   * an attempt in its journal.
   */
  readonly evenBegun: boolean;
}

/** The queue. All throw `ServiceError('database_unavailable')`; a call may then have worked nevertheless. */
export interface SendQueue {
  /** Those of the accounts that have sends due. */
  dueAccounts(accountIds: readonly string[]): Promise<readonly string[]>;
  /** Claims due sends: highest priority first, lanes in turn, as far as the account's limits allow. */
  claim(request: ClaimRequest): Promise<ClaimedSends>;
  /** Renews the leases of those claims that still stand. */
  renew(owner: string, refs: readonly ClaimRef[], leaseMs: number): Promise<void>;
  /**
   * The fence before the first byte: marks a claim that still stands as begun and renews its lease. False when this owner
   * has lost it, or it was declared lost; then nothing may be handed over. May be repeated.
   */
  begin(owner: string, ref: ClaimRef, leaseMs: number): Promise<boolean>;
  /** Makes emails `sending` whose hand-over, begun with these claims, is still under way. */
  showSending(owner: string, refs: readonly ClaimRef[]): Promise<void>;
  /**
   * Stores the outcome of an attempt, whole or not at all; a repeat changes nothing. When this owner has lost the claim,
   * only facts are stored: the attempt, and recipients that were accepted. Afterwards it records the Message-ID that the
   * relay gave, if it differs: threads that contain it are merged, and copies under it are merged into the email; when
   * that fails, a repeat makes up for it.
   */
  settle(
    owner: string,
    attempt: EndedAttempt,
    decide: (situation: Situation) => Conclusion,
  ): Promise<RecordedSend>;
  /**
   * Gives back a claim for which certainly nothing was handed over, and its attempt with it. False, and without effect,
   * when the claim no longer stands, or was begun and `evenBegun` is not set.
   */
  release(owner: string, ref: ClaimRef, options: ReleaseOptions): Promise<boolean>;
  /** Every claim of the owner, including those that were declared lost. */
  claimsOf(owner: string): Promise<readonly ClaimRef[]>;
  /**
   * Declares the claims of other owners lost when their lease has run out: those that were begun become `unknown`, and
   * are returned; the others are free again.
   */
  expire(owner: string): Promise<readonly Pick<ClaimRef, 'emailId' | 'attempt'>[]>;
  /**
   * Makes free sends `failed` when their time to give up has passed and their account is not one of these: no process
   * sends for it any more. Returns how many.
   */
  giveUpOrphans(accountIds: readonly string[]): Promise<number>;
  /**
   * Counts one message of the account against its limits; returns 0. Or returns how long to wait in ms, and counts
   * nothing.
   */
  takeRoom(accountId: string, rate: RateLimit): Promise<number>;
}

/**
 * The operator's acts on a send; each is one transaction. `giveUpAfterMs`: how long it is tried again, in ms. `keyId`: the
 * key that acts; null: none.
 */
export interface SendOperations {
  /** `refused`: its state does not allow it. */
  cancel(emailId: string, keyId?: string | null): Promise<OperationResult>;
  retry(emailId: string, giveUpAfterMs: number, keyId?: string | null): Promise<OperationResult>;
  /** `reason` is English, for the record. */
  resolve(
    emailId: string,
    outcome: 'sent' | 'failed',
    giveUpAfterMs: number,
    reason: string,
    keyId?: string | null,
  ): Promise<OperationResult>;
}

/** `done` with the current state of the email. */
export type OperationResult =
  | { readonly kind: 'done'; readonly state: EmailState }
  | { readonly kind: 'refused' }
  | { readonly kind: 'not_found' };

/** The times at which deferred sends are tried again. */
export interface RetryPolicy {
  readonly schedule: RetrySchedule;
  /** From 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number;
}
