/** The recorded emails of an account, as the rules of its mailboxes judge them. */
import type { AddressView } from '../../core/address/address-view.ts';
import type { LeftOutReason } from '../../core/mailbox/capture.ts';

/** An email among those of its account: by thread, and in each thread by date. */
export interface RecordedPlace {
  readonly threadId: string;
  /** null: behind all emails of the thread. */
  readonly email: { readonly date: Date; readonly id: string } | null;
}

/**
 * Why an email stays although the rules leave it out: it is part of what people did here. `answered`: the service sent an email in its thread.
 * `drafted`: a draft is in its thread, or answers it. `handled`: its thread has labels, an assignee, a chosen customer or company, or a
 * decision. `report`: it reports about a sent email.
 */
export const STAY_REASONS = ['answered', 'drafted', 'handled', 'report'] as const;
export type StayReason = (typeof STAY_REASONS)[number];

export interface RecordedEmail {
  readonly id: string;
  readonly threadId: string;
  readonly date: Date;
  readonly from: AddressView;
  readonly subject: string;
  readonly sizeBytes: number;
  /** It was read from a mailbox, and came by no other way; only such emails are subject to rules. */
  readonly isFromMailbox: boolean;
  /** Where its message begins; null for one that is not from a mailbox. */
  readonly message: { readonly header: Buffer } | { readonly path: string } | null;
  /** null: nothing keeps it. */
  readonly stays: StayReason | null;
}

export interface RecordedPage {
  readonly emails: readonly RecordedEmail[];
  /** null: there are no more. */
  readonly next: RecordedPlace | null;
}

/** All throw `ServiceError('database_unavailable')`. */
export interface RecordedEmails {
  /** At most `limit` emails behind a place; null: the first ones. */
  page(accountId: string, after: RecordedPlace | null, limit: number): Promise<RecordedPage>;
  /** Those of the emails that exist, in any order. */
  byIds(ids: readonly string[]): Promise<readonly RecordedEmail[]>;
  /** Messages in the account's mailboxes that are left out now. */
  countLeftOut(accountId: string): Promise<Readonly<Record<LeftOutReason, number>>>;
}
