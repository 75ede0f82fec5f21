/**
 * Deletes emails and threads. The database deletes them in one transaction for each step; their files follow at once or,
 * when that fails or the process dies, by the loop of worker/file-eraser.ts.
 */
import { ServiceError } from '../../core/errors.ts';
import type { RequireCertainty } from '../files/file-ports.ts';
import type { DeletionOptions, DeletionStore } from './delete-ports.ts';
import type { EraseUseCases } from './use-cases.ts';

/** Emails deleted in one transaction: it holds the locks of their thread. */
export const AT_ONCE = 100;

/** Emails of a thread that a dry run deletes and brings back. */
const MAX_CHECKED = 10_000;

export interface DeleteEmailsPorts {
  readonly deletions: DeletionStore;
  readonly requireCertainty: RequireCertainty;
  /** See deleteDeletedFiles; never throws. */
  readonly deleteFiles: () => Promise<void>;
}

export function createDeletions({
  deletions,
  requireCertainty,
  deleteFiles,
}: DeleteEmailsPorts): EraseUseCases {
  async function deleteOne(id: string, options: DeletionOptions): Promise<void> {
    await requireCertainty();
    const result = await deletions.deleteEmail(id, options);
    if (result === 'absent') throw new ServiceError('email_not_found');
    if (result === 'kept') throw new ServiceError('not_deletable');
  }

  return {
    async deleteEmail(id, keyId = null) {
      await deleteOne(id, { keyId });
      await deleteFiles();
    },
    checkDeleteEmail: (id) => deleteOne(id, { dryRun: true }),
    async checkDeleteThread(id) {
      await requireCertainty();
      // In one step: nothing goes, so a second step would find the same emails.
      const emails = await deletions.deleteSomeOfThread(id, MAX_CHECKED, { dryRun: true });
      if (emails === 'kept') throw new ServiceError('not_deletable');
      if (emails === 'absent') throw new ServiceError('thread_not_found');
      return emails;
    },

    async deleteThread(id, keyId = null) {
      let total = 0;
      for (;;) {
        await requireCertainty();
        const deleted = await deletions.deleteSomeOfThread(id, AT_ONCE, { keyId });
        if (deleted === 'kept') throw new ServiceError('not_deletable');
        if (deleted === 'absent') {
          if (total === 0) throw new ServiceError('thread_not_found');
          return total;
        }
        total += deleted;
        await deleteFiles();
        if (deleted < AT_ONCE) return total;
      }
    },
  };
}
