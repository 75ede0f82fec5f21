/** The files of drafts: each draft has its own copy, whatever becomes of the upload or of the email that it came from. */
import { ServiceError } from '../../core/errors.ts';
import type { IdSource } from '../../platform/base/basics.ts';
import type { StoredAttachment } from '../../platform/files/stored-attachment.ts';
import { prepareAttachments, type AttachmentInput } from '../emails/prepare-attachments.ts';
import { sizeOf, type ContentPorts } from '../../platform/files/content.ts';
import type { BlobStore, SpoolFolder } from '../../platform/files/file-ports.ts';
import {
  copyReferenced,
  findReferences,
  isReference,
  missingReference,
  type FileFinder,
  type FileReference,
  type ReferencedFile,
  type SendAttachment,
} from '../send/take-references.ts';
import type { DraftAccount, DraftStore } from './draft-ports.ts';
import type { DraftChange, DraftFileInput } from './use-cases.ts';
import { copyStored } from '../../platform/files/open-stored.ts';

export interface DraftFilePorts extends ContentPorts {
  readonly drafts: Pick<DraftStore, 'accountOf'>;
  readonly files: FileFinder;
  readonly blobs: Pick<BlobStore, 'get' | 'put'>;
  readonly ids: IdSource;
  readonly defaultAccountId: string;
}

/** The place where a change stores its files. */
export interface FileTarget {
  /** The folder for copies of files. */
  readonly folder: SpoolFolder;
  /** Paths of new files, each added as soon as it is stored. */
  readonly stored: string[];
}

/**
 * Returns all files that the draft has from now on; new ones are stored. Nothing is copied or stored when one of them is
 * missing, or when together they are too large.
 */
export async function toFiles(
  ports: DraftFilePorts,
  account: DraftAccount,
  old: readonly StoredAttachment[],
  { files = [], maxFileBytes, maxFiles }: DraftChange,
  { folder, stored }: FileTarget,
): Promise<readonly StoredAttachment[]> {
  const tooLarge = () => new ServiceError('attachments_too_large', { values: { limit: maxFileBytes } });
  if (files.length > maxFiles) throw tooLarge();
  const find = await findNamed(ports, account, files);
  const kept = new Map(old.map((file) => [file.id, file]));
  const sources = files.map((file, index) => toSource(file, index, kept, find));
  if (sources.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) > maxFileBytes) throw tooLarge();

  const all: StoredAttachment[] = [];
  for (const source of sources) {
    if (source.kind === 'kept') {
      all.push(source.file);
      continue;
    }
    const input =
      source.kind === 'given'
        ? source.input
        : await copyReferenced(ports, source.attachment, source.file, folder);
    // A separate folder: a file that is kept may have the same name.
    const [prepared] = await prepareAttachments(ports, ports.defaultAccountId, ports.ids.uuid(), [input]);
    if (prepared === undefined) throw new Error('a file of a draft was not prepared');
    await ports.blobs.put(prepared.stored.storagePath, prepared.content, prepared.stored.contentType);
    stored.push(prepared.stored.storagePath);
    all.push(prepared.stored);
  }
  return all;
}

/** Copies files through the spool, never through memory. Throws `content_missing`. */
export async function fetchFiles(
  { blobs }: Pick<DraftFilePorts, 'blobs'>,
  files: readonly StoredAttachment[],
  folder: SpoolFolder,
): Promise<readonly AttachmentInput[]> {
  const fetched: AttachmentInput[] = [];
  for (const { storagePath, filename, contentType, contentId, inline } of files) {
    const content = await copyStored(blobs, storagePath, folder);
    fetched.push({ filename, contentType, contentId, inline, content });
  }
  return fetched;
}

/** The source of the bytes of a file. */
type Source = { readonly sizeBytes: number } & (
  | { readonly kind: 'kept'; readonly file: StoredAttachment }
  | { readonly kind: 'given'; readonly input: AttachmentInput }
  | { readonly kind: 'named'; readonly attachment: SendAttachment; readonly file: ReferencedFile }
);

type FindReference = (reference: FileReference) => ReferencedFile | undefined;

/**
 * Throws `draft_file_not_found`, `upload_not_found`, `attachment_not_found`; `details` is the field that named the file.
 */
function toSource(
  file: DraftFileInput,
  index: number,
  kept: Map<string, StoredAttachment>,
  find: FindReference,
): Source {
  if (isKept(file)) {
    const known = kept.get(file.keptId);
    if (known === undefined) {
      throw new ServiceError('draft_file_not_found', { values: { value: file.keptId } });
    }
    // A file named twice would be one file with two rows.
    kept.delete(file.keptId);
    return { kind: 'kept', file: known, sizeBytes: known.sizeBytes };
  }
  const { content, filename } = file;
  if (!isReference(content)) {
    const input = { ...file, content, filename: filename ?? '' };
    return { kind: 'given', input, sizeBytes: sizeOf(content) };
  }
  const found = find(content);
  if (found === undefined) throw missingReference(content, `attachments[${index}].${content.kind}_id`);
  return { kind: 'named', attachment: file, file: found, sizeBytes: found.sizeBytes };
}

/** The attachments of the account that would send the draft. If no file is named, the database is not asked. */
async function findNamed(
  ports: DraftFilePorts,
  account: DraftAccount,
  files: readonly DraftFileInput[],
): Promise<FindReference> {
  const references = files.flatMap((file) =>
    !isKept(file) && isReference(file.content) ? [file.content] : [],
  );
  if (references.length === 0) return () => undefined;
  return findReferences(ports, await ports.drafts.accountOf(account), references);
}

const isKept = (file: DraftFileInput): file is { readonly keptId: string } => 'keptId' in file;
