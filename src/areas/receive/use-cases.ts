/** The use cases of receiving that the edges call. */
import type { MailSource } from '../../core/message/mail-source.ts';
import type { Content, SpoolFolder } from '../../platform/files/file-ports.ts';
import type { AuthResults } from '../../core/message/authentication.ts';
import type { MessageId } from '../../core/message/message-id.ts';

/** One message as it came in. */
export interface ReceiveRequest {
  /** As received, RFC 5322, broken or not. */
  readonly raw: Content;
  /** null: the default account. */
  readonly accountId: string | null;
  /** The sender of the envelope, null for `<>`; undefined when it is not known. */
  readonly mailFrom?: string | null;
  /** When its mailbox got it: replaces a missing Date. Default: the time in the topmost Received, else `foundAt`. */
  readonly receivedAt?: Date;
  /** Replaces a missing Date of a message without Received. Default: now. */
  readonly foundAt?: Date;
  /** When it arrived here, or in its mailbox: the start of the time that recording takes. Default: now. */
  readonly cameAt?: Date;
  /**
   * The place of the message, such as the Sent mailbox, shows that it was sent from the account. It is recorded as
   * outbound, unless it is a copy of an email that this service sent. Never decided by the content of the message: any
   * sender can write the account's address into From. Default: false.
   */
  readonly isSentCopy?: boolean;
  /** It was read before it came here, so it is not unread. Has no effect on an email that is recorded already. Default: false. */
  readonly isRead?: boolean;
  /** False: a delivery report in it suppresses no address, since that would concern all accounts. Default: true. */
  readonly suppresses?: boolean;
  /** How it arrived. Default: not known. */
  readonly source?: MailSource;
  /**
   * The results of this service's own check of its sender. They count alone if they are whole; else they complete the
   * results of a trusted server in the header. Default: the header counts alone.
   */
  readonly authentication?: { readonly found: AuthResults; readonly isWhole: boolean };
  /** The key that posted it; null or absent: it arrived by itself, or a secret posted it. */
  readonly authorKeyId?: string | null;
  /** Records it again if it was deleted. Default: false. */
  readonly restores?: boolean;
}

/**
 * `duplicate`: the email was recorded before, or it was sent from here; nothing was added, except that an email recorded
 * as received becomes a sent one when its Sent copy comes, and that a message with other bytes is kept as a variant of
 * the record. `deleted`: the email was recorded and deleted since; nothing was added, and its identifiers lead nowhere.
 */
export interface ReceiveResult {
  readonly kind: 'received' | 'duplicate' | 'deleted';
  readonly id: string;
  readonly messageId: MessageId;
  readonly threadId: string;
}

export interface ReceiveUseCases {
  /**
   * Records one received email, or one that was sent by another program, once however often it comes; returns when the
   * record is durable. Takes over `folder`, which holds a large message. Bad mail is recorded with its defects. Throws
   * `unknown_account`, `busy`, `database_unavailable`, `storage_unavailable`, `reading_unavailable` and `disk_full`; the
   * email may be recorded nevertheless, and the caller should repeat the request.
   */
  receiveMessage(request: ReceiveRequest, folder: SpoolFolder): Promise<ReceiveResult>;
}
