/** The database operations that changing a waiting send needs. */
import type { AddressView, Placement, StoredAttachment } from '../emails/email-ports.ts';
import type { RecordedRaw } from '../files/file-ports.ts';
import type { Invitation } from '../../core/calendar/invitation.ts';
import type { AutomaticMail } from '../../core/delivery/automatic.ts';
import type { CustomHeaders } from '../../core/message/custom-headers.ts';
import type { MessageId } from '../../core/message/message-id.ts';
import type { OutboundRecord } from './outbound-ports.ts';

/** A send that no process has claimed yet: everything that its message was composed from. */
export interface WaitingSend {
  readonly version: number;
  readonly dueAt: Date;
  readonly accountId: string;
  readonly threadId: string;
  readonly placement: Placement;
  readonly messageId: MessageId;
  readonly inReplyTo: readonly MessageId[];
  readonly references: readonly MessageId[];
  /** Base64; null for none. */
  readonly threadIndex: string | null;
  readonly from: AddressView;
  readonly to: readonly AddressView[];
  readonly cc: readonly AddressView[];
  readonly bcc: readonly AddressView[];
  readonly replyTo: readonly AddressView[];
  readonly subject: string;
  readonly textBody: string;
  readonly htmlBody: string | null;
  readonly headers: CustomHeaders;
  readonly automatic: AutomaticMail | null;
  readonly exchangeWith: string | null;
  readonly unsubscribeList: string | null;
  readonly attachments: readonly StoredAttachment[];
  readonly invitation: Invitation | null;
}

/** The new content of a send, which replaces its earlier one. */
export interface Replacement {
  readonly record: Omit<
    OutboundRecord,
    keyof RecordedRaw | 'state' | 'stateDetail' | 'deliveries' | 'attempt' | 'queue' | 'relayMessageId'
  >;
  readonly raw: RecordedRaw;
  /** Recipients of the envelope. */
  readonly recipients: readonly string[];
  /** True if the recipients have changed: customers follow from them. */
  readonly hasOtherRecipients: boolean;
  /** True if the rows of the files are written anew. */
  readonly hasOtherFiles: boolean;
  /** null: now. */
  readonly dueAt: Date | null;
  /** See QueuedSend. */
  readonly giveUpAfterMs: number;
}

/** The reason why a send could not be changed. `fixed`: it is claimed, or was tried, cancelled or sent. */
export type ChangeRefusal =
  | { readonly kind: 'not_found' }
  | { readonly kind: 'fixed' }
  | { readonly kind: 'changed'; readonly version: number };

/** All throw `ServiceError('database_unavailable')`; a replacement may then have been made nevertheless. */
export interface WaitingSends {
  read(emailId: string): Promise<{ readonly kind: 'waiting'; readonly send: WaitingSend } | ChangeRefusal>;
  /**
   * In one transaction, in which no process can claim it: after an earlier claim it is refused, and a later claim gets
   * the whole replacement. Returns the files that nothing refers to any more.
   *
   * @param keyId the key that makes the change; null: none
   */
  replace(
    emailId: string,
    version: number,
    replacement: Replacement,
    keyId: string | null,
  ): Promise<{ readonly kind: 'done'; readonly orphans: readonly string[] } | ChangeRefusal>;
}
