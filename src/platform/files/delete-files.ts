/** Deletes files that nothing refers to. */
import type { BlobStore } from './file-ports.ts';
import type { Logger } from '../base/basics.ts';

/** A file that can't be deleted stays; it does no harm. */
export async function deleteFiles(
  { blobs, logger }: { readonly blobs: Pick<BlobStore, 'delete'>; readonly logger: Pick<Logger, 'warn'> },
  paths: readonly string[],
): Promise<void> {
  for (const path of paths) {
    await blobs.delete(path).catch((err: unknown) => {
      logger.warn({ err, path }, 'an unreferenced file could not be deleted');
    });
  }
}
