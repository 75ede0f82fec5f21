/**
 * The operations that copies in the Sent mailbox need from outside. A copy is due as soon as its email is `sent`: the
 * statement that records this also creates the job, for emails that were sent to be kept in Sent
 * (`OutboundRecord.keepsCopy`).
 */
import type { MessageId } from '../../core/message/message-id.ts';
import type { SentCopyView } from '../../core/sent-copies/sent-copy.ts';

/** A copy that only this process is to store. */
export interface ClaimedCopy {
  readonly emailId: string;
  readonly messageId: MessageId;
  /** When the mail server took the email; the date of the copy. */
  readonly sentAt: Date;
  /** The location of the raw message: exactly one of `raw` and `rawPath` is set. */
  readonly raw: Buffer | null;
  readonly rawPath: string | null;
  readonly sizeBytes: number;
  /** Tries that have failed so far. */
  readonly tries: number;
}

/** The location of a copy. UIDs are null if the server did not report them (RFC 4315). */
export interface StoredCopy {
  readonly path: string;
  readonly uidValidity: number | null;
  readonly uid: number | null;
  /** It already existed: from an earlier try, or the mail server itself keeps one. */
  readonly wasThere: boolean;
}

export interface SentCopyClaim {
  readonly accountId: string;
  /** A new UUID: every later call for the claimed copies names it. */
  readonly claimId: string;
  readonly limit: number;
  readonly leaseMs: number;
}

export interface FailedCopy {
  readonly emailId: string;
  /** English, without a secret. */
  readonly reason: string;
  readonly retryMs: number;
}

/** All throw `ServiceError('database_unavailable')`. */
export interface SentCopyQueue {
  /** Those of the accounts that have copies due. */
  dueAccounts(accountIds: readonly string[]): Promise<readonly string[]>;
  /** Claims due copies, the oldest first; they are due again for others when the lease runs out. */
  claim(claim: SentCopyClaim): Promise<readonly ClaimedCopy[]>;
  /**
   * Renews the leases of the claim; false when this copy is no longer claimed, or was deleted: then it must not be
   * stored.
   */
  renew(claimId: string, emailId: string, leaseMs: number): Promise<boolean>;
  /** Does nothing when the claim no longer stands. */
  stored(claimId: string, emailId: string, copy: StoredCopy): Promise<void>;
  /** The same. A copy whose time to give up has passed becomes `failed`. */
  failed(claimId: string, failed: FailedCopy): Promise<void>;
  /** Gives the claimed copies back, except one. They are due, and none of them failed. */
  release(claimId: string, exceptEmailId: string | null): Promise<void>;
  /**
   * Nothing of the account can be stored for now: its due copies become due after `delayMs`; copies whose time to give up
   * has passed become `failed`.
   */
  putOff(accountId: string, delayMs: number, reason: string): Promise<void>;
  /** Copies of these accounts become `failed`, except those that a process is working on. Returns how many. */
  giveUp(accountIds: readonly string[], reason: string): Promise<number>;
}

/**
 * The Sent mailbox of one account over one connection. Not for concurrent use, except `close`. Every method throws
 * `MailboxError`; one with `kind: 'connection'` ends the session, and leaves open whether an `append` was carried out;
 * any other means that it was not.
 */
export interface SentMailbox {
  /** As the server names it. */
  readonly path: string;
  /** The UID of the message with this Message-ID; null when there is none now. */
  find(messageId: MessageId): Promise<{ readonly uidValidity: number; readonly uid: number } | null>;
  /** Stores a message, marked as seen, with the given date. */
  append(raw: Buffer, date: Date): Promise<Omit<StoredCopy, 'path' | 'wasThere'>>;
  close(): Promise<void>;
}

export interface SentMailboxes {
  /**
   * Connects, and finds the Sent mailbox; creates one when none exists and the server supports special uses (RFC 6154
   * §3). Throws `MailboxError`.
   */
  openSent(accountId: string, signal: AbortSignal): Promise<SentMailbox>;
}

export interface SentCopyStore {
  /** Makes the copy due now, with its full time to give up again. `refused`: it is stored, or the email has none. */
  retry(emailId: string): Promise<SentCopyView | 'refused' | 'not_found'>;
}
