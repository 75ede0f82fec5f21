/** The database reads behind the operators' view of mailboxes. All throw `ServiceError('database_unavailable')`. */
import type { AccountFailure } from '../../core/mailbox/retry.ts';
import type { LeftOutReason } from '../../core/mailbox/capture.ts';
import type { Uid } from './mailbox-ports.ts';
import type { AccountFilter } from '../../platform/base/account-filter.ts';
import type { AddressView } from '../../core/address/address-view.ts';

/** The number of messages of a mailbox that were seen, and what became of them. */
export interface MailboxCounts {
  /** All that were ever seen, except those under another UIDVALIDITY, unless they were expunged since. */
  readonly messages: number;
  /** Messages that have an email. */
  readonly recorded: number;
  /** Neither recorded nor set aside yet. */
  readonly waiting: number;
  /** Set aside. */
  readonly quarantined: number;
  /** Messages that are no longer in the mailbox, recorded or not. */
  readonly expunged: number;
  /** Left out by the rules of the account; see CaptureRules. */
  readonly leftOut: Readonly<Record<LeftOutReason, number>>;
}

/** A message that a rule left out. */
export interface LeftOutMessage {
  readonly accountId: string;
  readonly path: string;
  readonly reason: LeftOutReason;
  readonly at: Date;
}

export interface MailboxStatus {
  readonly path: string;
  readonly specialUse: string | null;
  /** Everything in the mailbox at that time is recorded or set aside; null: not yet. */
  readonly lastSuccessAt: Date | null;
  /** The time since then, by the database's clock. */
  readonly lagMs: number | null;
  readonly lastError: { readonly reason: string; readonly at: Date } | null;
  /** When the service stopped reading it; null: it is read. */
  readonly leftAt: Date | null;
  readonly counts: MailboxCounts;
}

export interface ReadingStatus {
  readonly accountId: string;
  /** The instance that reads it; null: none. */
  readonly owner: string | null;
  readonly lastAttemptAt: Date | null;
  /** The time of the next attempt after a failure; null: it is being read. */
  readonly nextAttemptAt: Date | null;
  readonly lastError: { readonly kind: AccountFailure; readonly reason: string; readonly at: Date } | null;
  readonly mailboxes: readonly MailboxStatus[];
}

/** One account's sent emails that are to be put into its Sent mailbox. */
export interface SentCopyCounts {
  readonly accountId: string;
  readonly pending: number;
  readonly failed: number;
  /** The latest error of a copy that is not stored. */
  readonly lastError: { readonly reason: string; readonly at: Date } | null;
}

export interface QuarantinedMessage {
  readonly id: string;
  readonly accountId: string;
  readonly path: string;
  readonly uidValidity: number;
  readonly uid: Uid;
  /** The subject in its header; null when that could not be read, or was not read yet. */
  readonly subject: string | null;
  readonly from: AddressView | null;
  readonly date: Date | null;
  /** As the mail server reports it. */
  readonly sizeBytes: number | null;
  readonly reason: string;
  readonly tries: number;
  readonly firstSeenAt: Date;
  readonly quarantinedAt: Date;
  readonly nextTryAt: Date;
}

export interface QuarantineQuery extends AccountFilter {
  readonly after: { readonly date: Date; readonly id: string } | null;
  readonly limit: number;
}

export interface MailboxStatusStore {
  /** By account. @param accountId null: of all accounts */
  readStatus(accountId: string | null): Promise<readonly ReadingStatus[]>;
  /** Accounts with copies that are to be stored, or that failed. @param accountId as above */
  countSentCopies(accountId: string | null): Promise<readonly SentCopyCounts[]>;
  /** The newest first. */
  listQuarantine(query: QuarantineQuery): Promise<readonly QuarantinedMessage[]>;
  /** Has it tried now, and its delays begin anew; returns it, or null when nothing with that id is set aside. */
  retryQuarantined(id: string): Promise<QuarantinedMessage | null>;
  /** Within 30 days, the newest first, at most 100. */
  findLeftOut(
    query: AccountFilter & { readonly messageIds: readonly string[] },
  ): Promise<readonly LeftOutMessage[]>;
  /** Has every mailbox of the account compared with its server again, and what was left out judged again, by a new connection. */
  resync(accountId: string): Promise<void>;
}
