/**
 * Deletes the files of deleted emails from storage. May be interrupted at any point, and run by many processes at once.
 */
import type { Logger } from '../../platform/base/basics.ts';
import type { FileReferences } from '../../platform/files/clean-files.ts';
import type { BlobStore, RequireCertainty } from '../../platform/files/file-ports.ts';
import type { DeletedFiles } from './deletion-store.ts';

export interface DeleteDeletedFilesPorts {
  readonly files: DeletedFiles;
  readonly references: FileReferences;
  readonly blobs: Pick<BlobStore, 'delete'>;
  readonly requireCertainty: RequireCertainty;
  readonly logger: Pick<Logger, 'warn'>;
}

/** Files that are looked up together. */
const AT_ONCE = 100;
/** A storage that refuses so many files one after the other is taken to refuse all. */
const MAX_REFUSED = 5;

/**
 * A file that something still refers to stays. One that the storage refuses waits, longer each time, and holds up no other. Throws what
 * `RequireCertainty` throws, and when the storage refuses several in a row; a later call continues.
 */
export async function deleteDeletedFiles(
  { files, references, blobs, requireCertainty, logger }: DeleteDeletedFilesPorts,
  signal?: AbortSignal,
): Promise<void> {
  let refused = 0;
  for (;;) {
    if (signal?.aborted === true) return;
    const paths = await files.filesToDelete(AT_ONCE);
    if (paths.length === 0) return;
    await requireCertainty();
    const referenced = await references.findReferenced(paths.map((path) => ({ path, emailId: '' })));
    for (const path of paths) {
      try {
        if (!referenced.has(path)) await blobs.delete(path);
      } catch (err) {
        await files.deferFile(path);
        refused += 1;
        if (refused === MAX_REFUSED) throw err;
        logger.warn({ err, path }, 'a file of a deleted email could not be deleted yet');
        continue;
      }
      refused = 0;
      await files.forgetFiles([path]);
    }
  }
}

/** The same; throws while a file is left. */
export async function deleteAllDeletedFiles(
  ports: DeleteDeletedFilesPorts,
  signal: AbortSignal,
): Promise<void> {
  await deleteDeletedFiles(ports, signal);
  if (await ports.files.hasFiles()) throw new Error('files of deleted emails are left');
}
