/** The use cases of mailboxes that the edges call. */
import type { AccountFilter } from '../base/account-filter.ts';
import type { PageRequest } from '../base/paging.ts';
import type { QuarantinedMessage, ReadingStatus, SentCopyCounts } from './mailbox-status-ports.ts';
import type { Address } from '../../core/address/address.ts';

export interface AccountStatus extends ReadingStatus {
  /** null: this process does not know the account. */
  readonly from: Address | null;
  /** This process is configured to read its mailboxes. */
  readonly hasMailbox: boolean;
  /** This process reads them. */
  readonly isOwnedHere: boolean;
  readonly sentCopies: SentCopiesStatus;
  /** Why it will stop working unless an operator acts; English, null when all is well. */
  readonly warning: string | null;
}

/** Sent emails in the Sent mailbox of their account. */
export interface SentCopiesStatus extends Omit<SentCopyCounts, 'accountId'> {
  /** This process is configured to store them. */
  readonly areKept: boolean;
  /** Why they are not stored, although the account asks for it; English, null when there is nothing to report. */
  readonly note: string | null;
}

export interface QuarantineRequest extends PageRequest, AccountFilter {}

export interface QuarantinePage {
  readonly messages: readonly QuarantinedMessage[];
  /** null on the last page. */
  readonly nextCursor: string | null;
}

export interface MailboxUseCases {
  /** Every account that is configured here or read by another process, with the state of its mailboxes. */
  listAccounts(): Promise<readonly AccountStatus[]>;
  /** Messages of mailboxes that are set aside, the newest first. Throws `invalid_cursor`, `unknown_account`. */
  listQuarantine(request: QuarantineRequest): Promise<QuarantinePage>;
  /** Has a message that is set aside tried now. Throws `quarantined_not_found`. */
  retryQuarantined(id: string): Promise<QuarantinedMessage>;
}
