/** What the edges ask of receiving. */
import type { MailSource } from '../emails/variant-view.ts';
import type { Content, SpoolFolder } from '../files/file-ports.ts';
import type { MessageId } from '../../core/message/message-id.ts';

/** One message as it came in. */
export interface ReceiveRequest {
  /** As received, RFC 5322, broken or not. */
  readonly raw: Content;
  /** null: the default account. */
  readonly accountId: string | null;
  /** The sender of the envelope, null for `<>`; undefined when nobody knows. */
  readonly mailFrom?: string | null;
  /** Stands for a missing Date; never in the future. Default: now. */
  readonly receivedAt?: Date;
  /**
   * It is known from where it lies that somebody sent it from the account, such as in the Sent mailbox: unless it is
   * an email that this service sent, it is recorded as an outbound one. Never decided by what the message says: anybody
   * can write the account's address into From. Default: false.
   */
  readonly isSentCopy?: boolean;
  /** Somebody has read it already: it is no unread email. Says nothing of one that is recorded. Default: false. */
  readonly isRead?: boolean;
  /** By which way it came. Default: not known. */
  readonly source?: MailSource;
}

/**
 * `duplicate`: the email was recorded before, or it was sent from here; nothing was added, but that an email recorded
 * as received turns into a sent one when its Sent copy comes, and that a message which says something else is kept as a
 * variant of the record.
 */
export interface ReceiveResult {
  readonly kind: 'received' | 'duplicate';
  readonly id: string;
  readonly messageId: MessageId;
  readonly threadId: string;
}

export interface ReceiveUseCases {
  /**
   * Records one received email, or one that was sent by another program, once however often it comes; returns when the record is durable. Takes over `folder`,
   * which holds a large message. Bad mail is recorded with its defects. Throws `unknown_account`,
   * `busy`, `database_unavailable`, `storage_unavailable`, `reading_unavailable` and `disk_full`; it may then be recorded nevertheless, and should be
   * given again.
   */
  receiveMessage(request: ReceiveRequest, folder: SpoolFolder): Promise<ReceiveResult>;
}
