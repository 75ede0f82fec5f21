/** Waits for LMDB's commits, and makes the keys of the journal's entries. */
import { ServiceError } from '../../core/errors.ts';
import { diskFailure } from './disk.ts';

/** A commit that takes longer has met a dead disk: LMDB never answers after a failed write of a meta page. */
const COMMIT_TIMEOUT_MS = 30_000;

class CommitTimeout extends Error {}

/** Resolves when all writes are on the disk; otherwise throws the cause. */
export async function committed(writes: readonly Promise<boolean>[]): Promise<void> {
  if (writes.length === 0) return;
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new CommitTimeout(`no commit within ${COMMIT_TIMEOUT_MS} ms`)),
      COMMIT_TIMEOUT_MS,
    );
  });
  try {
    // The cause is looked for even after a timeout: an unhandled rejection would end the process.
    await Promise.race([Promise.all(writes).catch(throwCause), timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** lmdb-js rejects each write with a general error and provides the reason as a second promise. */
async function throwCause(error: unknown): Promise<never> {
  if (error instanceof Error && 'commitError' in error) await error.commitError;
  throw error;
}

export function asServiceError(error: unknown): unknown {
  return error instanceof CommitTimeout
    ? new ServiceError('disk_full', { cause: error })
    : diskFailure(error);
}

/** True when the commit may still have taken effect. */
export function causedByTimeout(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof CommitTimeout;
}

/** The 16 bytes of a UUID: version 7 sorts by time. */
export function toKey(id: string): Buffer {
  const key = Buffer.from(id.replaceAll('-', ''), 'hex');
  if (key.length !== 16) throw new Error(`not a UUID: ${id}`);
  return key;
}

export function fromKey(key: Buffer): string {
  return key.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
