/**
 * The database operations that reading mailboxes needs: which process reads which account, how far each mailbox was read,
 * and what became of each of its messages.
 *
 * A message is one (mailbox, UIDVALIDITY, UID). It is `waiting` until it has an email, is left out by a rule, is set aside (quarantined) or
 * is known to be gone. Every write names its owner. When another process has the account's lease by then, it changes nothing
 * and throws `LeaseLost`. All throw `ServiceError('database_unavailable')`.
 */
import type { MessageIdentity } from '../../core/message/identity.ts';
import type { CaptureFacts, CaptureRules, LeftOutReason } from '../../core/mailbox/capture.ts';
import type { HeaderSummary } from '../../core/mailbox/header-summary.ts';
import type { AccountFailure, MessageRetry, MessageTries } from '../../core/mailbox/retry.ts';
import type { Reader } from '../../core/mailbox/spread.ts';
import type { MailboxProgress } from '../../core/mailbox/sync-plan.ts';
import type { UidSet } from '../../core/mailbox/uid-set.ts';
import type { KnownEmail } from '../emails/find-recorded.ts';
import type { MailboxInfo, Uid } from './mailbox-ports.ts';

/** This process no longer holds the lease of the account: the caller stops at once. */
export class LeaseLost extends Error {
  constructor(accountId: string) {
    super(`the mailboxes of account ${accountId} are read by another process now`);
    this.name = 'LeaseLost';
  }
}

/** A mailbox in the database. */
export interface KnownMailboxRecord {
  /** Our key. */
  readonly id: string;
  readonly path: string;
  readonly specialUse: string | null;
  readonly progress: MailboxProgress;
}

export interface WaitingMessage extends MessageTries {
  readonly uid: Uid;
}

/** Identifies a mailbox and its owner. */
export interface MailboxRef {
  readonly owner: string;
  readonly accountId: string;
  readonly mailboxId: string;
}

/** Identifies the generation of UIDs that a write is about. */
export interface GenerationRef extends MailboxRef {
  readonly uidValidity: number;
}

/** A message of a mailbox, by the facts that its server reports without sending it. */
export interface ArrivedMessage {
  readonly identity: MessageIdentity;
  /** See identityKey. */
  readonly key: string;
  /** SHA-256 in hex of its size and of the header fields that show where it came from: the same under every UID. */
  readonly arrival: string;
}

export interface TakenMessage {
  readonly uid: Uid;
  readonly emailId: string;
  /** See `ArrivedMessage`. */
  readonly arrival: string;
}

export interface FailedMessage extends MessageRetry {
  readonly uid: Uid;
  /** English, for the operator. */
  readonly reason: string;
  /** null: its header was not read this time; the known values stay. */
  readonly summary: HeaderSummary | null;
}

export interface LeftOutMessage {
  readonly uid: Uid;
  readonly reason: LeftOutReason;
  /** null: it has none. */
  readonly messageId: string | null;
  /** It answers something that may be recorded later: it is judged again several times within a day. */
  readonly isAnswer: boolean;
}

export interface PassResult {
  /** Messages that wait: neither recorded, nor set aside, nor gone. */
  readonly waiting: number;
  /** ms until the next message may be tried, of those that wait or are set aside; null when there is none. */
  readonly nextTryMs: number | null;
}

export interface ClaimRequest {
  /** The accounts that the owner is configured to read. */
  readonly accountIds: readonly string[];
  /** Those of them to be taken if they are free, or were left by a silent process. */
  readonly take: readonly string[];
  /** How long the owner has its accounts, and counts as a reader, in ms. */
  readonly leaseMs: number;
}

/** The processes that read mailboxes, and their accounts. */
export interface Leases {
  /**
   * All accounts, also those that the owner is not configured to read, with the process that has them; the owner has its
   * own for the next `leaseMs`; null: none.
   */
  readonly holders: ReadonlyMap<string, string | null>;
  /** The owner's accounts in which something may be tried now. */
  readonly due: ReadonlySet<string>;
  /** The other processes that read mailboxes and are not silent. */
  readonly others: readonly Reader[];
}

export interface MailboxRecords {
  /** Registers the owner as a reader of mailboxes, renews the leases that it has, and takes the accounts that it may. */
  claim(owner: string, request: ClaimRequest): Promise<Leases>;
  /** Gives accounts back, for others to take at once. */
  release(owner: string, accountIds: readonly string[]): Promise<void>;
  /** Gives all accounts back: the owner no longer reads mailboxes. */
  leave(owner: string): Promise<void>;
  /** A connection is attempted now, also after the last one could not be made, or broke. */
  noteAttempt(owner: string, accountId: string): Promise<void>;
  noteAccountFailure(
    owner: string,
    accountId: string,
    failure: {
      readonly kind: AccountFailure;
      readonly reason: string;
      readonly retryMs: number;
      /** It counts as failing until INBOX is read to its end again. */
      readonly isLasting: boolean;
    },
  ): Promise<void>;
  /**
   * The mailboxes to read, created if new, in the order given. Other mailboxes of the account are no longer read. What was left out by
   * other rules than `capture` waits again.
   */
  openMailboxes(
    owner: string,
    accountId: string,
    mailboxes: readonly MailboxInfo[],
    capture: CaptureRules | null,
  ): Promise<readonly KnownMailboxRecord[]>;
  /** UIDs of a generation that are not known to be gone. */
  readUids(mailboxId: string, uidValidity: number): Promise<UidSet>;
  /** Adds waiting messages, and marks messages as gone; may be repeated. Messages that came back exist again. */
  recordChanges(mailbox: GenerationRef, changes: { arrived: UidSet; gone: UidSet }): Promise<void>;
  /** Only after everything that led to this progress is recorded. */
  recordProgress(mailbox: GenerationRef, progress: MailboxProgress): Promise<void>;
  /** Messages that may be tried now, the newest first. */
  nextMessages(mailboxId: string, uidValidity: number, limit: number): Promise<readonly WaitingMessage[]>;
  /**
   * The records of messages that were taken from a mailbox of the account before, in their order; null for messages that
   * were not.
   */
  findArrived(
    accountId: string,
    messages: readonly ArrivedMessage[],
  ): Promise<readonly (KnownEmail | null)[]>;
  /** For each, in their order: somebody in it is a customer, or it answers an email of the account. */
  areKnown(accountId: string, messages: readonly CaptureFacts[]): Promise<readonly boolean[]>;
  /** Records the results of messages. */
  conclude(
    mailbox: GenerationRef,
    results: {
      readonly taken: readonly TakenMessage[];
      readonly failed: readonly FailedMessage[];
      readonly leftOut?: readonly LeftOutMessage[];
    },
  ): Promise<void>;
  /**
   * Everything that the mailbox had `ageMs` ago was checked. When nothing waits any more, the pass is a success, and the
   * remaining messages of earlier generations count as gone.
   */
  concludePass(mailbox: GenerationRef, ageMs: number): Promise<PassResult>;
  /** The mailbox itself could not be read. */
  noteMailboxFailure(mailbox: MailboxRef, reason: string): Promise<void>;
}
