/** Keeps a file that a caller uploads, and deletes it after a day. */
import { ServiceError } from '../../core/errors.ts';
import { parseContentType } from '../../core/mime/compose/content-type.ts';
import { displayFilename, StorageNames } from '../../core/mime/text/filename.ts';
import { MAX_UPLOADED_BYTES, UPLOAD_LIFE_MS } from '../../platform/base/limits.ts';
import { sha256, sizeOf } from '../../platform/files/content.ts';
import type { RequireCertainty, SpoolFolder } from '../../platform/files/file-ports.ts';
import type { Upload, UploadPorts } from './upload-store.ts';
import type { UploadRequest } from './use-cases.ts';

/** See `UploadUseCases.createUpload`. */
export async function createUpload(
  ports: UploadPorts,
  request: UploadRequest,
  folder: SpoolFolder,
): Promise<Upload> {
  try {
    const upload = await describeUpload(ports, request);
    const expiresAt = await ports.uploads.reserve(upload, UPLOAD_LIFE_MS, MAX_UPLOADED_BYTES);
    if (expiresAt === null) throw new ServiceError('uploads_full');
    try {
      await ports.blobs.put(upload.storagePath, request.content, upload.contentType);
    } catch (error) {
      // A file that can't be removed now expires later.
      await ports.uploads.remove([upload.id]).catch(() => undefined);
      throw error;
    }
    return { ...upload, expiresAt };
  } finally {
    await folder.remove();
  }
}

async function describeUpload(
  ports: UploadPorts,
  request: UploadRequest,
): Promise<Omit<Upload, 'expiresAt'>> {
  const { content, filename, expectedSha256 } = request;
  const contentType = request.contentType ?? 'application/octet-stream';
  parseContentType(contentType, 'content_type');
  if (filename.trim() === '') throw new ServiceError('invalid_filename', { values: { field: 'filename' } });
  const accountId = request.accountId ?? ports.defaultAccountId;
  if (!ports.accounts.has(accountId)) {
    throw new ServiceError('unknown_account', { values: { value: accountId } });
  }
  const digest = await sha256(ports, content);
  if (expectedSha256 !== null && expectedSha256 !== digest) throw new ServiceError('content_digest_mismatch');
  const id = ports.ids.uuid();
  const name = displayFilename(filename);
  return {
    id,
    accountId,
    filename: name,
    contentType,
    sizeBytes: sizeOf(content),
    sha256: digest,
    // Named like the files of emails: clean-files finds what a crash leaves behind.
    storagePath: `${accountId}/${id}/${new StorageNames().add(name)}`,
  };
}

/** A send that is fetching a file may finish fetching it. */
const GRACE_MS = 3_600_000;
const AT_ONCE = 100;

/** Deletes expired uploads, their files first: a row without a file does no harm, and is found again. */
export async function removeExpiredUploads({
  uploads,
  blobs,
  requireCertainty,
}: Pick<UploadPorts, 'uploads' | 'blobs'> & { readonly requireCertainty: RequireCertainty }): Promise<void> {
  for (;;) {
    await requireCertainty();
    const expired = await uploads.listExpired(GRACE_MS, AT_ONCE);
    for (const { storagePath } of expired) await blobs.delete(storagePath);
    await uploads.remove(expired.map(({ id }) => id));
    if (expired.length < AT_ONCE) return;
  }
}
