/** Files of a send that are already stored: uploads, and attachments of recorded emails. */
import { ServiceError } from '../../core/errors.ts';
import { isContentType } from '../../core/mime/compose/content-type.ts';
import { MAX_SENT_FILE_BYTES } from '../../platform/base/limits.ts';
import type { AttachmentInput } from '../emails/prepare-attachments.ts';
import { sizeOf } from '../../platform/files/content.ts';
import type { BlobStore, Content, SpoolFolder } from '../../platform/files/file-ports.ts';
import { copyStored } from '../../platform/files/open-stored.ts';

/** A reference to a file; `id` is a UUID in lower case. */
export interface FileReference {
  readonly kind: 'upload' | 'attachment';
  readonly id: string;
}

/** An attachment as a caller gives it: with its bytes, or by reference. */
export interface SendAttachment extends Omit<AttachmentInput, 'filename' | 'content'> {
  /** null: the name of the referenced file. */
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
   * Only files of the account, in one round trip; without expired uploads. Throws `ServiceError('database_unavailable')`.
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
 * Looks them up all at once; the returned function finds each, and returns undefined for one that the account does not
 * have.
 */
export async function findReferences(
  { files }: Pick<ReferencePorts, 'files'>,
  accountId: string,
  references: readonly FileReference[],
): Promise<(reference: FileReference) => ReferencedFile | undefined> {
  const found = references.length === 0 ? [] : await files.findFiles(accountId, references);
  const byName = new Map(found.map((file) => [nameOf(file), file]));
  return (reference) => byName.get(nameOf(reference));
}

export const missingReference = ({ kind }: FileReference, details?: string): ServiceError =>
  new ServiceError(
    kind === 'upload' ? 'upload_not_found' : 'attachment_not_found',
    details === undefined ? {} : { details },
  );

/** Copies the file into `folder`, never through memory. Throws `content_missing`. */
export async function copyReferenced(
  { blobs }: Pick<ReferencePorts, 'blobs'>,
  { filename, contentType, content: _content, ...rest }: SendAttachment,
  file: ReferencedFile,
  folder: SpoolFolder,
): Promise<AttachmentInput> {
  return {
    ...rest,
    content: await copyStored(blobs, file.storagePath, folder),
    filename: filename ?? (file.filename.trim() === '' ? NAMELESS : file.filename),
    // A received part may have an invalid type.
    contentType: contentType ?? (isContentType(file.contentType) ? file.contentType : null),
  };
}

/**
 * Copies the referenced files into `folder`: the email has its own files, whatever becomes of the others. Throws
 * `upload_not_found`, `attachment_not_found`, `attachments_too_large` (before anything is copied), `content_missing`.
 */
export async function takeReferences(
  ports: ReferencePorts,
  accountId: string,
  attachments: readonly SendAttachment[],
  folder: SpoolFolder,
): Promise<readonly AttachmentInput[]> {
  const references = attachments.flatMap(({ content }) => (isReference(content) ? [content] : []));
  const find = await findReferences(ports, accountId, references);
  const fileOf = (reference: FileReference) => {
    const file = find(reference);
    if (file === undefined) throw missingReference(reference);
    return file;
  };
  const sizes = attachments.map(({ content }) =>
    isReference(content) ? fileOf(content).sizeBytes : sizeOf(content),
  );
  if (references.length > 0 && sizes.reduce((sum, bytes) => sum + bytes, 0) > MAX_SENT_FILE_BYTES) {
    throw new ServiceError('attachments_too_large', { values: { limit: MAX_SENT_FILE_BYTES } });
  }
  const taken: AttachmentInput[] = [];
  for (const attachment of attachments) {
    const { content, filename } = attachment;
    taken.push(
      isReference(content)
        ? await copyReferenced(ports, attachment, fileOf(content), folder)
        : { ...attachment, content, filename: filename ?? '' },
    );
  }
  return taken;
}

/** The name of a file that came without one. */
const NAMELESS = 'attachment';

const nameOf = ({ kind, id }: FileReference) => `${kind}:${id}`;
