/** Attachments of emails: the statements that read them, and their mapping to the types of the use cases. */
import type { AttachmentView } from './email-ports.ts';
import type { StoredAttachment } from '../../platform/files/stored-attachment.ts';
import { columnsOf, jsonObject, type JsonOf } from '../../platform/db/json.ts';
import { statement, type RowOf } from '../../platform/db/statement.ts';

const VIEW = ['id', 'filename', 'content_type', 'size_bytes', 'storage_path', 'content_id', 'inline'];

/** The attachments of an email `e`, in their order, for toAttachmentView. */
const ATTACHMENT = jsonObject('attachment-json', {
  from: 'email_attachments a',
  columns: columnsOf('a', ...VIEW),
});
export const ATTACHMENTS = ATTACHMENT.array('where a.email_id = e.id', 'a.ordinal');
export type AttachmentJson = JsonOf<typeof ATTACHMENT>;

/** The same with their hash, for toStoredAttachment. */
const STORED_ATTACHMENT = jsonObject('stored-attachment-json', {
  from: 'email_attachments a',
  columns: {
    ...columnsOf('a', ...VIEW),
    sha256: "encode(a.sha256, 'hex')",
  },
}).narrow<{ sha256: string }>();
export const STORED_ATTACHMENTS = STORED_ATTACHMENT.array('where a.email_id = e.id', 'a.ordinal');
export type StoredAttachmentJson = JsonOf<typeof STORED_ATTACHMENT>;

export const READ_ATTACHMENT = statement(
  'read-attachment',
  `select id, filename, content_type, size_bytes, storage_path, sha256, content_id, inline
  from email_attachments where id = $id`,
);
type ViewRow = Omit<RowOf<typeof READ_ATTACHMENT>, 'sha256'> | AttachmentJson;

export function toAttachmentView(row: ViewRow): AttachmentView {
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

export function toStoredAttachment(row: ViewRow & { readonly sha256: Buffer | string }): StoredAttachment {
  const { sha256 } = row;
  return { ...toAttachmentView(row), sha256: typeof sha256 === 'string' ? sha256 : sha256.toString('hex') };
}
