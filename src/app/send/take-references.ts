/** Files of a send that are here already: uploads, and attachments of recorded emails. */
import { ServiceError } from '../../core/errors.ts';
import { isContentType } from '../../core/mime/compose/content-type.ts';
import { MAX_SENT_FILE_BYTES } from '../base/limits.ts';
import type { AttachmentInput } from '../emails/prepare-attachments.ts';
import { sizeOf } from '../files/content.ts';
import type { BlobStore, Content, SpoolFolder } from '../files/file-ports.ts';

/** A file by what names it; `id` is a UUID in lower case. */
export interface FileReference {
  readonly kind: 'upload' | 'attachment';
  readonly id: string;
}

/** An attachment as a caller gives it: with its bytes, or by name. */
export interface SendAttachment extends Omit<AttachmentInput, 'filename' | 'content'> {
  /** null: that of the file which is named. */
  readonly filename: string | null;
  readonly content: Content | FileReference;
}

export interface ReferencedFile extends FileReference {
  readonly filename: string;
  readonly contentType: string;
  readonly sizeBytes: number;
  readonly storagePath: string;
}

export interface FileFinder {
  /**
   * Those of an account alone, in one round trip; an upload that expired is not among them. Throws
   * `ServiceError('database_unavailable')`.
   */
  findFiles(accountId: string, references: readonly FileReference[]): Promise<readonly ReferencedFile[]>;
}

interface ReferencePorts {
  readonly files: FileFinder;
  readonly blobs: Pick<BlobStore, 'get'>;
}

export const isReference = (content: SendAttachment['content']): content is FileReference =>
  content.kind === 'upload' || content.kind === 'attachment';

/**
 * Copies what is named into `folder`, never through memory: the email has files of its own, whatever becomes of the others.
 * Throws `upload_not_found`, `attachment_not_found`, `attachments_too_large` (before anything is copied), `content_missing`.
 */
export async function takeReferences(
  { files, blobs }: ReferencePorts,
  accountId: string,
  attachments: readonly SendAttachment[],
  folder: SpoolFolder,
): Promise<readonly AttachmentInput[]> {
  const references = attachments.flatMap(({ content }) => (isReference(content) ? [content] : []));
  const found = references.length === 0 ? [] : await files.findFiles(accountId, references);
  const byName = new Map(found.map((file) => [nameOf(file), file]));
  const fileOf = (reference: FileReference) => {
    const file = byName.get(nameOf(reference));
    if (file !== undefined) return file;
    throw new ServiceError(reference.kind === 'upload' ? 'upload_not_found' : 'attachment_not_found');
  };
  const sizes = attachments.map(({ content }) =>
    isReference(content) ? fileOf(content).sizeBytes : sizeOf(content),
  );
  if (references.length > 0 && sizes.reduce((sum, bytes) => sum + bytes, 0) > MAX_SENT_FILE_BYTES) {
    throw new ServiceError('attachments_too_large', { values: { limit: MAX_SENT_FILE_BYTES } });
  }
  const taken: AttachmentInput[] = [];
  for (const { content, filename, contentType, ...rest } of attachments) {
    if (!isReference(content)) {
      taken.push({ ...rest, content, filename: filename ?? '', contentType });
      continue;
    }
    const file = fileOf(content);
    const stream = await blobs.get(file.storagePath);
    if (stream === null) {
      throw new ServiceError('content_missing', { cause: new Error(`no file ${file.storagePath}`) });
    }
    taken.push({
      ...rest,
      content: await folder.write(stream),
      filename: filename ?? (file.filename.trim() === '' ? NAMELESS : file.filename),
      // A received part may say anything of its type.
      contentType: contentType ?? (isContentType(file.contentType) ? file.contentType : null),
    });
  }
  return taken;
}

/** What a file is called that came without a name. */
const NAMELESS = 'attachment';

const nameOf = ({ kind, id }: FileReference) => `${kind}:${id}`;
