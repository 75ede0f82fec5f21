/**
 * `WaitingSends` on PostgreSQL. A change replaces the row of the queue by another row: a claim whose statement began before the change
 * can't see the new row, and so never has the old recipients with the new message.
 */
import type { Pool } from 'pg';
import { markToRelink } from '../customers/customer-links.ts';
import { nameAuthor } from '../../platform/db/name-author.ts';
import { run, statement, type RowOf } from '../../platform/db/statement.ts';
import { inTransaction } from '../../platform/db/transaction.ts';
import { SEND_VERSION } from '../emails/read-email-detail.ts';
import {
  STORED_ATTACHMENTS,
  toStoredAttachment,
  type StoredAttachmentJson,
} from '../emails/attachment-rows.ts';
import { toMessageId } from '../emails/message-id-column.ts';
import { replaceComposed } from '../emails/write-emails.ts';
import { lockQueueRow, replaceQueueRow, type QueueRow } from './queue-rows.ts';
import { replaceRecipients } from './send-states.ts';
import type { Placement } from '../emails/email-ports.ts';
import type { StoredAttachment } from '../../platform/files/stored-attachment.ts';
import type { AddressView } from '../../core/address/address-view.ts';
import type { RecordedRaw } from '../../platform/files/file-ports.ts';
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
  /** The footer of its account is in it. */
  readonly hasFooter: boolean;
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

export function createWaitingSends(pool: Pool): WaitingSends {
  return {
    async read(emailId) {
      const [row] = await run(pool, READ, { emailId });
      if (row === undefined) return { kind: 'not_found' };
      if (row.version === null || row.due_at === null) return { kind: 'fixed' };
      return { kind: 'waiting', send: toSend(row, row.version, row.due_at) };
    },

    replace: (
      emailId,
      version,
      { record, raw, recipients, hasOtherRecipients, hasOtherFiles, ...due },
      keyId,
    ) =>
      inTransaction(pool, async (client) => {
        await nameAuthor(client, keyId);
        const row = await lockQueueRow(client, emailId);
        const [email] = await run(client, LOCK, { emailId });
        const refused = refusalOf(email, row, version);
        if (refused !== null) return refused;
        const orphans = await replaceComposed(
          client,
          {
            ...record,
            ...raw,
            relayMessageId: null,
            automatic: null,
            exchangeWith: record.exchangeWith ?? null,
            subjectKey: record.subjectKey ?? null,
          },
          hasOtherFiles,
        );
        if (hasOtherRecipients) {
          await replaceRecipients(client, emailId, recipients);
          // Customers follow from the recipients: areas/customers/customer-linker.ts works them out, and learns the addresses.
          await run(client, RELINK, { emailId });
        }
        await replaceQueueRow(client, emailId, due);
        return { kind: 'done', orphans };
      }),
  };
}

function refusalOf(
  email: RowOf<typeof LOCK> | undefined,
  row: QueueRow | undefined,
  version: number,
): ChangeRefusal | null {
  if (email === undefined) return { kind: 'not_found' };
  if (email.state !== 'queued' || row === undefined || row.owner !== null || row.attempts > 0) {
    return { kind: 'fixed' };
  }
  return row.version === version ? null : { kind: 'changed', version: row.version };
}

const LOCK = statement('lock-waiting-send', 'select state from emails where id = $emailId for update');

const RELINK = statement('relink-changed-send', markToRelink('values ($emailId::uuid)'));

const READ = statement(
  'read-waiting-send',
  `select ${SEND_VERSION} as version, q.due_at, e.account_id, e.thread_id, e.placement_rule,
    e.placement_message_id, e.message_id, e.in_reply_to, e.reference_ids, encode(e.thread_index, 'base64') as thread_index,
    e.from_address, e.to_addresses, e.cc_addresses, e.bcc_addresses, e.reply_to_addresses, e.subject, e.text_body,
    e.html_body, e.headers, e.automatic, e.exchange_with, e.unsubscribe_list, e.invitation, e.has_footer,
    ${STORED_ATTACHMENTS} as attachments
  from emails e left join send_queue q on q.email_id = e.id where e.id = $emailId`,
).narrow<{ attachments: StoredAttachmentJson[] }>();

function toSend(row: RowOf<typeof READ>, version: number, dueAt: Date): WaitingSend {
  return {
    version,
    dueAt,
    accountId: row.account_id,
    threadId: row.thread_id,
    placement: {
      rule: row.placement_rule,
      matchedMessageId: row.placement_message_id === null ? null : toMessageId(row.placement_message_id),
    },
    messageId: toMessageId(row.message_id),
    inReplyTo: row.in_reply_to.map(toMessageId),
    references: row.reference_ids.map(toMessageId),
    // PostgreSQL breaks long values into lines.
    threadIndex: row.thread_index?.replaceAll('\n', '') ?? null,
    from: row.from_address,
    to: row.to_addresses,
    cc: row.cc_addresses,
    bcc: row.bcc_addresses,
    replyTo: row.reply_to_addresses,
    subject: row.subject,
    textBody: row.text_body,
    htmlBody: row.html_body,
    headers: row.headers,
    automatic: row.automatic,
    exchangeWith: row.exchange_with,
    invitation: row.invitation,
    unsubscribeList: row.unsubscribe_list,
    hasFooter: row.has_footer,
    attachments: row.attachments.map(toStoredAttachment),
  };
}
