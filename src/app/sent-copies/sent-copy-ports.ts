/**
 * What copies in the Sent mailbox need from outside. A copy is due as soon as its email is `sent`: the database makes the job in
 * the statement that says so, for emails that were sent to be kept in Sent (`OutboundRecord.keepsCopy`).
 */
import type { MessageId } from '../../core/message/message-id.ts';
import type { SentCopyView } from '../../core/sent-copies/sent-copy.ts';

/** A copy that this process, and no other, is to store. */
export interface ClaimedCopy {
  readonly emailId: string;
  readonly messageId: MessageId;
  /** When the mail server took the email; what the copy is dated. */
  readonly sentAt: Date;
  /** Where the raw message is: exactly one of `raw` and `rawPath` is set. */
  readonly raw: Buffer | null;
  readonly rawPath: string | null;
  readonly sizeBytes: number;
  /** Failed so far. */
  readonly tries: number;
}

/** Where a copy is. UIDs are null where the server did not say (RFC 4315). */
export interface StoredCopy {
  readonly path: string;
  readonly uidValidity: number | null;
  readonly uid: number | null;
  /** It was there already: from an earlier try, or the mail server keeps one by itself. */
  readonly wasThere: boolean;
}

export interface SentCopyClaim {
  readonly accountId: string;
  /** A new UUID: whatever is done with the claimed copies is tied to it. */
  readonly claimId: string;
  readonly limit: number;
  readonly leaseMs: number;
}

export interface FailedCopy {
  readonly emailId: string;
  /** English, without a secret. */
  readonly reason: string;
  /** null: it is never tried again by itself. */
  readonly retryMs: number | null;
}

/** All throw `ServiceError('database_unavailable')`. */
export interface SentCopyQueue {
  /** Those of the accounts that have something due. */
  dueAccounts(accountIds: readonly string[]): Promise<readonly string[]>;
  /** Takes what is due, the oldest first; it is due again for others when the lease runs out. */
  claim(claim: SentCopyClaim): Promise<readonly ClaimedCopy[]>;
  /** Renews the leases of the claim; false when this copy is no longer claimed, or was deleted: then it must not be stored. */
  renew(claimId: string, emailId: string, leaseMs: number): Promise<boolean>;
  /** Does nothing when the claim does not stand any more. */
  stored(claimId: string, emailId: string, copy: StoredCopy): Promise<void>;
  /** The same. A copy whose time to give up has come becomes `failed`. */
  failed(claimId: string, failed: FailedCopy): Promise<void>;
  /** Gives the claimed copies back, but for one. They are due, and none of them failed. */
  release(claimId: string, exceptEmailId: string | null): Promise<void>;
  /**
   * Nothing of the account can be stored for now: what is due of it is due after `delayMs`; what its time to give up has come for
   * becomes `failed`.
   */
  putOff(accountId: string, delayMs: number, reason: string): Promise<void>;
  /** Copies of these accounts become `failed`, but for those that a process has in hand. How many. */
  giveUp(accountIds: readonly string[], reason: string): Promise<number>;
}

/**
 * The Sent mailbox of one account over one connection. Not for concurrent use, except `close`. Every method throws `MailboxError`;
 * one with `kind: 'connection'` ends the session, and leaves open whether an `append` was carried out; any other says that it was not.
 */
export interface SentMailbox {
  /** As the server names it. */
  readonly path: string;
  /** The UID of the message with this Message-ID; null when there is none now. */
  find(messageId: MessageId): Promise<{ readonly uidValidity: number; readonly uid: number } | null>;
  /** Stores a message, seen, with the given date. */
  append(raw: Buffer, date: Date): Promise<Omit<StoredCopy, 'path' | 'wasThere'>>;
  close(): Promise<void>;
}

export interface SentMailboxes {
  /**
   * Connects, and finds the Sent mailbox; makes one where there is none and the server knows special uses (RFC 6154 §3). Throws
   * `MailboxError`.
   */
  openSent(accountId: string, signal: AbortSignal): Promise<SentMailbox>;
}

export interface SentCopyStore {
  /** Due now, with all its time before it again. `refused`: it is stored, or the email has none. */
  retry(emailId: string): Promise<SentCopyView | 'refused' | 'not_found'>;
}
