/** The things that nearly every use case needs: the time, identifiers, the log, and accounts. */
import type { OutOfOffice } from '../../core/absence/out-of-office.ts';
import type { ClosingText, Footer } from '../../core/accounts/closing.ts';
import type { SenderAddress } from '../../core/accounts/sender-addresses.ts';
import type { Address } from '../../core/address/address.ts';
import type { DkimSigning } from '../../core/mime/compose/dkim-signature.ts';

/** The time now. Injected, so that tests decide it. */
export type Clock = () => Date;

export interface IdSource {
  /** A new UUID, time-ordered (version 7, RFC 9562), lower-case. */
  uuid(): string;
  /** Unguessable bytes. */
  randomBytes(length: number): Buffer;
}

/** Structured log; a field named `err` is written with its stack and causes. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** The form of an account's id; the database checks it too. */
export const ACCOUNT_ID = /^[a-z0-9][a-z0-9_-]{0,62}$/;

/** A configured mail identity. */
export interface Account {
  /** Stable short name, see ACCOUNT_ID; the first part of storage paths. */
  readonly id: string;
  /** The value of the From header field. */
  readonly from: Address;
  /** Those that it sends as besides `from`. Default: none. */
  readonly addresses?: readonly SenderAddress[];
  /** Of sends that ask for it. Default: none. */
  readonly signature?: ClosingText | null;
  /** Of all that it sends. Default: none. */
  readonly footer?: Footer | null;
  /** What it answers by itself while its people are away. Default: nothing. */
  readonly outOfOffice?: OutOfOffice | null;
  /** Replies without references join an email of the same subject and counterparty within this many days; null: never. */
  readonly joinBySubjectDays?: number | null;
  /** Servers whose Authentication-Results count, lower-case; `*` for the topmost field. Default: none. */
  readonly trustedAuthservIds?: readonly string[];
  /** Mail to its address arrives here, by a mailbox or a listener. Default: not, as far as is known. */
  readonly receives?: boolean;
  /** Its sent emails are put into its Sent mailbox. Default: they are not. */
  readonly keepsSentCopies?: boolean;
  /** Default: this service does not sign its mail. */
  readonly dkim?: DkimSigning;
  /** Why nothing is sent: an operator paused it, or its settings can't be used here. Default: it sends. */
  readonly halt?: 'paused' | 'unavailable';
}
