/** Files that must exist in the store. */
import type { Readable } from 'node:stream';
import { ServiceError } from '../../core/errors.ts';
import type { BlobStore, ByteRange, SpoolFolder, SpoolFile } from './file-ports.ts';

type Blobs = Pick<BlobStore, 'get'>;

/** The stream must be read or destroyed. Throws `content_missing`. */
export async function openStored(blobs: Blobs, path: string | null, range?: ByteRange): Promise<Readable> {
  const stream = path === null ? null : await blobs.get(path, range);
  if (stream === null) throw new ServiceError('content_missing', { cause: new Error(`no file ${path}`) });
  return stream;
}

/** A copy in `folder`, never made through memory. Throws `content_missing`. */
export async function copyStored(blobs: Blobs, path: string, folder: SpoolFolder): Promise<SpoolFile> {
  return await folder.write(await openStored(blobs, path));
}
