/** Waiting for LMDB's commits, and the keys under which the journal keeps things. */
import { ServiceError } from '../../core/errors.ts';
import { diskFailure } from './disk.ts';

/** A commit that takes longer has met a dead disk: LMDB gives no answer at all after a failed meta page. */
const COMMIT_TIMEOUT_MS = 30_000;

class CommitTimeout extends Error {}

/** Resolves when all writes are on the disk; throws the cause when they are not. */
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
    // The cause is looked for even after a timeout: unhandled, it would end the process.
    await Promise.race([Promise.all(writes).catch(throwCause), timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** lmdb-js rejects each write with a general error and hands the reason over as a second promise. */
async function throwCause(error: unknown): Promise<never> {
  if (error instanceof Error && 'commitError' in error) await error.commitError;
  throw error;
}

export function asServiceError(error: unknown): unknown {
  return error instanceof CommitTimeout
    ? new ServiceError('disk_full', { cause: error })
    : diskFailure(error);
}

/** True when it is not known whether the commit took effect after all. */
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
