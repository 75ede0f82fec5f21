/** The columns for what was read from a message: the same when it is recorded and when it is read again. */
import type { Transaction } from 'kysely';
import type { StoredAttachment } from '../../../app/emails/email-ports.ts';
import type { Reading } from '../../../app/receive/reparse-ports.ts';
import type { Database } from '../db/database.ts';
import { clean, toView } from '../emails/received-values.ts';

/** Columns of `emails`, but for texts, `date` and `identity_key`. Those of addresses, and `automatic`, are JSON. */
export function toReadColumns(reading: Reading) {
  return {
    message_id: reading.identity.messageId as string,
    written_message_id: reading.writtenMessageId as string | null,
    in_reply_to: [...reading.inReplyTo] as string[],
    reference_ids: [...reading.references] as string[],
    bounced_message_id: reading.links.find(({ rule }) => rule === 'bounce')?.messageId ?? null,
    from_address: toJson(reading.from === null ? { name: '', address: '' } : toView(reading.from)),
    sender_address: reading.sender === null ? null : toJson(toView(reading.sender)),
    reply_to_addresses: toJson(reading.replyTo.map(toView)),
    to_addresses: toJson(reading.to.map(toView)),
    cc_addresses: toJson(reading.cc.map(toView)),
    bcc_addresses: toJson(reading.bcc.map(toView)),
    subject: clean(reading.subject),
    defects: [...reading.defects] as string[],
    automatic: reading.automatic === null ? null : toJson(reading.automatic),
  };
}

/** Its texts as they are: they may be long; see long-texts.ts. */
export const toTextColumns = ({ textBody, htmlBody, replyText }: ReadTexts) => ({
  text_body: textBody,
  html_body: htmlBody,
  reply_text: replyText,
});

type ReadTexts = Pick<Reading, 'textBody' | 'htmlBody' | 'replyText'>;

/** In this order. */
export async function insertAttachments(
  trx: Transaction<Database>,
  emailId: string,
  attachments: readonly StoredAttachment[],
): Promise<void> {
  if (attachments.length === 0) return;
  await trx
    .insertInto('email_attachments')
    .values(
      attachments.map((attachment, ordinal) => ({
        id: attachment.id,
        email_id: emailId,
        ordinal,
        filename: clean(attachment.filename),
        content_type: attachment.contentType,
        size_bytes: String(attachment.sizeBytes),
        storage_path: attachment.storagePath,
        sha256: Buffer.from(attachment.sha256, 'hex'),
      })),
    )
    .execute();
}

const toJson = (value: unknown): string => JSON.stringify(value);
