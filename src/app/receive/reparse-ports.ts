/** The database operations that reading stored messages again needs. */
import type { AutomaticMail } from '../../core/delivery/automatic.ts';
import type { MessageIdentity } from '../../core/message/identity.ts';
import type { InboundRecord } from './inbound-ports.ts';
import type { StoredAttachment } from '../emails/email-ports.ts';

/** Selects emails that were read from a raw message; null: any. */
export interface ReparseFilter {
  readonly emailId: string | null;
  readonly accountId: string | null;
  /** One of its defects. */
  readonly defect: string | null;
  /** By the time when it was recorded. */
  readonly since: Date | null;
}

/** The earlier reading, as far as it decides how the message is read again. */
export interface ReadEmail {
  readonly id: string;
  readonly accountId: string;
  readonly date: Date;
  readonly automatic: AutomaticMail | null;
  /** See `InboundRecord`. */
  readonly identityKey: string;
  readonly attachments: readonly StoredAttachment[];
}

/** The current reading of a message. */
export type Reading = Omit<
  InboundRecord,
  | 'id'
  | 'accountId'
  | 'isSentCopy'
  | 'isRead'
  | 'newThreadId'
  | 'bySubject'
  | 'raw'
  | 'rawPath'
  | 'rawSizeBytes'
  | 'receivedBy'
  | 'authentication'
> & { readonly identity: MessageIdentity };

/**
 * `changed`: `fields` names the differences. `same_as`: with the current parser, the message is that of another record;
 * nothing was changed. `gone`: the email no longer exists.
 */
export type ReplaceResult =
  | { readonly kind: 'unchanged' | 'gone' }
  | { readonly kind: 'changed'; readonly fields: readonly string[] }
  | { readonly kind: 'same_as'; readonly emailId: string };

/** Throws `ServiceError('database_unavailable')`. */
export interface ReparseStore {
  /** In the order of their ids, beginning after `after`. */
  list(filter: ReparseFilter, after: string | null, limit: number): Promise<readonly string[]>;
  /** null when it does not exist. */
  read(id: string): Promise<ReadEmail | null>;
  /**
   * Replaces the earlier reading by the current one, whole or not at all, and links the email by the Message-IDs that it
   * names. Links are only added. With `dryRun` it only reports.
   */
  replace(email: ReadEmail, reading: Reading, dryRun: boolean): Promise<ReplaceResult>;
}
