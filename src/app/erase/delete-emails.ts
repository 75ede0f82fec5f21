/**
 * Deletes emails and threads. The database deletes them in one transaction for each step; their files follow at once or,
 * when that fails or the process dies, by the loop of worker/file-eraser.ts.
 */
import { ServiceError } from '../../core/errors.ts';
import type { DeletionStore } from './delete-ports.ts';
import type { EraseUseCases } from './use-cases.ts';

/** Emails deleted in one transaction: it holds the locks of their thread. */
export const AT_ONCE = 100;

export interface DeleteEmailsPorts {
  readonly deletions: DeletionStore;
  /** See deleteDeletedFiles; never throws. */
  readonly deleteFiles: () => Promise<void>;
}

export function createDeletions({ deletions, deleteFiles }: DeleteEmailsPorts): EraseUseCases {
  return {
    async deleteEmail(id, keyId = null) {
      const result = await deletions.deleteEmail(id, keyId);
      if (result === 'absent') throw new ServiceError('email_not_found');
      if (result === 'kept') throw new ServiceError('not_deletable');
      await deleteFiles();
    },

    async deleteThread(id, keyId = null) {
      let total = 0;
      for (;;) {
        const deleted = await deletions.deleteSomeOfThread(id, AT_ONCE, keyId);
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
