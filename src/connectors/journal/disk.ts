/** Shared by journal and spool: failures of the disk as our errors, and folders made durable. */
import { open } from 'node:fs/promises';
import { ServiceError } from '../../core/errors.ts';

/** LMDB's own code for a map that cannot grow any further (lmdb.h). */
const MDB_MAP_FULL = -30792;
/** As Node's `code`, and as the bare errno that LMDB passes on. All mean that nothing more can be written here. */
const DISK_FULL: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EIO', 28, 122, 5, MDB_MAP_FULL]);

/** `ServiceError('disk_full')` when the disk is full, otherwise the error itself. */
export function diskFailure(error: unknown): unknown {
  if (error instanceof ServiceError) return error;
  if (error instanceof Error && 'code' in error && DISK_FULL.has(error.code)) {
    return new ServiceError('disk_full', { cause: error });
  }
  return error;
}

/** True if `diskFailure` takes the error for a full disk. */
export function isDiskFull(error: unknown): boolean {
  const failure = diskFailure(error);
  return failure instanceof ServiceError && failure.code === 'disk_full';
}

/** Makes the names in a folder survive a power cut. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
