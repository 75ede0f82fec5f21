/**
 * Finds files in storage that no record refers to, and deletes them. They are left by a crash between storing the files
 * of an email and recording it, and by deletes that failed.
 *
 * Only old files are checked: younger ones may belong to an email that is about to be recorded. A send that waits in a
 * journal stores its files again before it is recorded, so that they are young then. Files whose names do not follow the
 * service's scheme are left alone.
 */
import type { BlobStore, StoredFile } from './file-ports.ts';
import type { Clock } from '../base/basics.ts';
import type { RequireTime } from '../base/clock-guard.ts';

export interface CleanFilesPorts {
  readonly blobs: Pick<BlobStore, 'list' | 'delete'>;
  readonly references: FileReferences;
  readonly clock: Clock;
  readonly requireTime: RequireTime;
}

/** The references to files in the database. */
export interface FileReferences {
  /** The paths of those files that an email refers to. Throws `ServiceError('database_unavailable')`. */
  findReferenced(files: readonly EmailFile[]): Promise<ReadonlySet<string>>;
}

export interface EmailFile {
  readonly path: string;
  /** The email that its name contains. */
  readonly emailId: string;
}

export interface CleanFilesOptions {
  readonly olderThanMs: number;
  /** Emails whose files are left alone: sends that are not recorded yet. */
  readonly keep: ReadonlySet<string>;
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
  /** Called with each file that nothing refers to, after it was deleted. */
  readonly onFile: (file: StoredFile) => void;
}

export interface CleanFilesResult {
  /** All files that were checked. */
  readonly files: number;
  readonly unreferenced: number;
  readonly unreferencedBytes: number;
  /** Files whose names do not follow the service's scheme. */
  readonly foreign: number;
}

/** Files whose references are looked up together. */
const AT_ONCE = 500;
/** `<account>/<email id>/<name>` and `_raw/<account>/<id of the email or the variant>.eml`. */
const FILE_OF_EMAIL =
  /^(?:[a-z0-9][a-z0-9_-]{0,62}\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/[^/]+|_raw\/[a-z0-9][a-z0-9_-]{0,62}\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.eml)$/;

export async function cleanFiles(
  ports: CleanFilesPorts,
  { olderThanMs, keep, dryRun, signal, onFile }: CleanFilesOptions,
): Promise<CleanFilesResult> {
  const result = { files: 0, unreferenced: 0, unreferencedBytes: 0, foreign: 0 };
  const storedBefore = ports.clock().getTime() - olderThanMs;
  const clean = async (files: readonly (StoredFile & EmailFile)[]) => {
    const referenced = await ports.references.findReferenced(files);
    if (!dryRun) await ports.requireTime();
    for (const file of files) {
      if (referenced.has(file.path)) continue;
      if (!dryRun) await ports.blobs.delete(file.path);
      result.unreferenced += 1;
      result.unreferencedBytes += file.sizeBytes;
      onFile(file);
    }
  };
  let batch: (StoredFile & EmailFile)[] = [];
  for await (const file of ports.blobs.list()) {
    if (signal.aborted) return result;
    result.files += 1;
    const [, ofAttachment, ofRaw] = FILE_OF_EMAIL.exec(file.path) ?? [];
    const emailId = ofAttachment ?? ofRaw;
    if (emailId === undefined) result.foreign += 1;
    else if (file.storedAt.getTime() < storedBefore && !keep.has(emailId)) batch.push({ ...file, emailId });
    if (batch.length < AT_ONCE) continue;
    await clean(batch);
    batch = [];
  }
  if (batch.length > 0 && !signal.aborted) await clean(batch);
  return result;
}
