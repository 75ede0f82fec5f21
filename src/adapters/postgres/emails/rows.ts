/** Rows of the reads, and their mapping to the types of the use cases. */
import type { AttachmentView, StoredAttachment } from '../../../app/emails/email-ports.ts';
import type { MailSource, VariantView } from '../../../app/emails/variant-view.ts';
import type { MessageId } from '../../../core/message/message-id.ts';
import type { Parent } from '../../../core/thread/place-outbound.ts';

export interface AttachmentRow {
  id: string;
  filename: string;
  content_type: string;
  /** `pg` gives bigint as text, JSON as a number. */
  size_bytes: string | number;
  storage_path: string;
  content_id: string | null;
  inline: boolean;
}

/**
 * `StoredAttachment`s as JSON, `[]` for none.
 * @param from of the files `f`
 * @param sha256 their hash in hexadecimal
 */
export const storedFiles = (from: string, sha256: string): string => `coalesce((
      select json_agg(json_build_object('id', f.id, 'filename', f.filename, 'contentType', f.content_type,
        'sizeBytes', f.size_bytes, 'storagePath', f.storage_path, 'sha256', ${sha256}, 'contentId', f.content_id,
        'inline', f.inline) order by f.ordinal)
      ${from}
    ), '[]')`;

/** From JSON where it stands among others, hence the time as text. */
export interface VariantRow {
  id: string;
  received_at: string | Date;
  received_by: MailSource | null;
  is_sent_copy: boolean;
  raw_size_bytes: string | number;
  content_digest: string;
}

/** From JSON. */
export interface ParentRow {
  message_id: string;
  in_reply_to: string[];
  reference_ids: string[];
  /** Base64. */
  thread_index: string | null;
  /** Addresses; null when a person wrote it. */
  automatic_from: string[] | null;
}

/** The database's domain `message_id` holds nothing else; this is the one place where its text becomes a MessageId. */
export const toMessageId = (text: string) => text as MessageId;

export function toParent(row: ParentRow | null): Parent | null {
  if (row === null) return null;
  // RFC 5322 §3.6.4: a parent without References lends its In-Reply-To, if that is a single one.
  const references =
    row.reference_ids.length > 0 ? row.reference_ids : row.in_reply_to.length === 1 ? row.in_reply_to : [];
  return {
    messageId: toMessageId(row.message_id),
    references: references.map(toMessageId),
    threadIndex: row.thread_index,
    automaticFrom: row.automatic_from ?? [],
  };
}

export function toVariant(row: VariantRow): VariantView {
  return {
    id: row.id,
    receivedAt: new Date(row.received_at),
    source: row.received_by,
    isSentCopy: row.is_sent_copy,
    rawSizeBytes: Number(row.raw_size_bytes),
    contentDigest: row.content_digest,
  };
}

export function toAttachmentView(row: AttachmentRow): AttachmentView {
  return {
    id: row.id,
    filename: row.filename,
    contentType: row.content_type,
    sizeBytes: Number(row.size_bytes),
    storagePath: row.storage_path,
    contentId: row.content_id,
    inline: row.inline,
  };
}

export function toStoredAttachment(row: AttachmentRow & { sha256: Buffer }): StoredAttachment {
  return { ...toAttachmentView(row), sha256: row.sha256.toString('hex') };
}
