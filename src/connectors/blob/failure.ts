/** Failures of a store, as errors of the service. */
import { lstat } from 'node:fs/promises';
import { ServiceError } from '../../core/errors.ts';

const DISK_FULL: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT']);

/** `disk_full` when the disk has no room, else `storage_unavailable`; a `ServiceError` is returned as it is. */
export function storageFailure(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  return new ServiceError(DISK_FULL.has(codeOf(error)) ? 'disk_full' : 'storage_unavailable', {
    cause: error,
  });
}

/** `code` of a Node error; undefined when it has none. */
export function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** Throws `content_missing` when the file to be stored is gone: trying again would not bring it back. */
export async function requireSource(path: string): Promise<void> {
  try {
    await lstat(path);
  } catch (error) {
    throw codeOf(error) === 'ENOENT' ? new ServiceError('content_missing', { cause: error }) : error;
  }
}
