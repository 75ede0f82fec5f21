/**
 * Deletes emails and threads. The database deletes them in one transaction for each step; their files follow at once or,
 * when that fails or the process dies, by the loop of areas/erase/file-eraser.ts.
 */
import { ServiceError } from '../../core/errors.ts';
import { keyIdOf, type Caller } from '../../core/keys/caller.ts';
import type { RequireCertainty } from '../../platform/files/file-ports.ts';
import type { DeletionOptions, DeletionStore } from './deletion-store.ts';

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

export type Deletions = ReturnType<typeof createDeletions>;

/** All throw what `RequireCertainty` throws. */
export function createDeletions({ deletions, requireCertainty, deleteFiles }: DeleteEmailsPorts) {
  async function deleteOne(id: string, options: DeletionOptions): Promise<void> {
    await requireCertainty();
    const result = await deletions.deleteEmail(id, options);
    if (result === 'absent') throw new ServiceError('email_not_found');
    if (result === 'kept') throw new ServiceError('not_deletable');
  }

  return {
    /**
     * Permanently deletes one email: its content, its files, and every trace that only it left; a dry run throws the same errors, and deletes
     * nothing. Throws `email_not_found`, `not_deletable`.
     */
    async email(caller: Caller, id: string, { dryRun }: { readonly dryRun: boolean }): Promise<void> {
      await deleteOne(id, dryRun ? { dryRun } : { keyId: keyIdOf(caller) });
      if (!dryRun) await deleteFiles();
    },

    /** The dry run of `thread`: it throws the same errors. Returns the number of emails. */
    async checkThread(id: string): Promise<number> {
      await requireCertainty();
      // In one step: nothing goes, so a second step would find the same emails.
      const emails = await deletions.deleteSomeOfThread(id, MAX_CHECKED, { dryRun: true });
      if (emails === 'kept') throw new ServiceError('not_deletable');
      if (emails === 'absent') throw new ServiceError('thread_not_found');
      return emails;
    },

    /**
     * Deletes the emails of a thread, as `email` does, and the thread; in several steps if it has many. A repeat
     * finishes a deletion that was interrupted. Throws `thread_not_found`, and `not_deletable` when one of the emails has
     * to be kept. Returns the number of emails deleted.
     *
     * @param newestEmailId with another newest email it throws `thread_changed`; null: whatever it has
     */
    async thread(caller: Caller, id: string, newestEmailId: string | null = null): Promise<number> {
      let total = 0;
      for (;;) {
        await requireCertainty();
        const deleted = await deletions.deleteSomeOfThread(id, AT_ONCE, {
          keyId: keyIdOf(caller),
          // The first step deletes it.
          newestEmailId: total === 0 ? newestEmailId : null,
        });
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
