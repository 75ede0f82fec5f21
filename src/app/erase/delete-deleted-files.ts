/**
 * Deletes the files of deleted emails from storage. May be interrupted at any point, and run by many processes at once.
 */
import type { FileReferences } from '../files/clean-files.ts';
import type { BlobStore, RequireCertainty } from '../files/file-ports.ts';
import type { DeletedFiles } from './delete-ports.ts';

export interface DeleteDeletedFilesPorts {
  readonly files: DeletedFiles;
  readonly references: FileReferences;
  readonly blobs: Pick<BlobStore, 'delete'>;
  readonly requireCertainty: RequireCertainty;
}

/** Files that are looked up together. */
const AT_ONCE = 100;

/**
 * A file that something still refers to stays. Throws what `RequireCertainty`
 * throws; a later call continues.
 */
export async function deleteDeletedFiles(
  { files, references, blobs, requireCertainty }: DeleteDeletedFilesPorts,
  signal?: AbortSignal,
): Promise<void> {
  for (;;) {
    if (signal?.aborted === true) return;
    const paths = await files.filesToDelete(AT_ONCE);
    if (paths.length === 0) return;
    await requireCertainty();
    const referenced = await references.findReferenced(paths.map((path) => ({ path, emailId: '' })));
    for (const path of paths) {
      if (!referenced.has(path)) await blobs.delete(path);
      await files.forgetFiles([path]);
    }
  }
}
