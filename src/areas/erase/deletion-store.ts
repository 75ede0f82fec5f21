/** `DeletionStore` and `DeletedFiles` on PostgreSQL. */
import type { Pool } from 'pg';
import type { EmailState } from '../../core/delivery/states.ts';
import { nameAuthor } from '../../platform/db/name-author.ts';
import { DryRunEnd, withDryRun } from '../../platform/db/dry-run.ts';
import { inLinkingTransaction } from '../../platform/db/linking-transaction.ts';
import { run, statement } from '../../platform/db/statement.ts';
import { deferFile, filesToDelete, forgetFiles, hasFilesToDelete } from '../emails/deleted-emails.ts';
import { EMAIL_ID } from '../emails/email-aliases.ts';
import { requireNewestEmail, threadIdOf } from '../emails/thread-rows.ts';
import { deleteEmails, NotDeletable } from './delete-email-rows.ts';

/** `kept`: it waits to be sent, is being sent, or its outcome is unknown. `absent`: nothing has that identifier. */
export type DeletionResult = 'deleted' | 'kept' | 'absent';

export interface DeletionOptions {
  /** The key that deletes; null: none. */
  readonly keyId?: string | null;
  /** True: the result is that of the deletion, and nothing is deleted. */
  readonly dryRun?: boolean;
  /** Of a thread: `thread_changed` is thrown when another email is its newest. null: any. */
  readonly newestEmailId?: string | null;
}

/** All throw `ServiceError('database_unavailable')`. */
export interface DeletionStore {
  /**
   * Deletes the email with everything in the database that only it left. A digest of its identity is kept, so that it is
   * not recorded again. Files are deleted later, see `DeletedFiles`.
   */
  deleteEmail(id: string, options?: DeletionOptions): Promise<DeletionResult>;
  /**
   * Deletes some of the emails of the thread, as `deleteEmail` does, and with the last one the thread. When one of them
   * has to be kept, nothing is deleted at all.
   *
   * @returns how many were deleted; at most `limit`
   */
  deleteSomeOfThread(
    id: string,
    limit: number,
    options?: DeletionOptions,
  ): Promise<number | 'kept' | 'absent'>;
}

/** The files of deleted emails. Throws `ServiceError('database_unavailable')`. */
export interface DeletedFiles {
  /** Files that are to be deleted now, or some of them. */
  filesToDelete(limit: number): Promise<readonly string[]>;
  /** Call it for a file that could not be deleted: it is tried again later. */
  deferFile(path: string): Promise<void>;
  /** True while a file is still to be deleted, now or later. */
  hasFiles(): Promise<boolean>;
  /** Call it for files that are gone from storage, or that something refers to. */
  forgetFiles(paths: readonly string[]): Promise<void>;
}

/** These are being sent, or may still be: an operator cancels or resolves them first. */
export const UNFINISHED: readonly EmailState[] = ['queued', 'sending', 'deferred', 'unknown'];

export const isFinished = ({ state }: { readonly state: EmailState }): boolean => !UNFINISHED.includes(state);

export function createDeletionStore(pool: Pool): DeletionStore {
  const remove = (
    ids: readonly string[],
    { keyId, dryRun = false, newestEmailId = null }: DeletionOptions,
    threadId: string | null = null,
  ) =>
    unlessKept(
      withDryRun(
        inLinkingTransaction(pool, async (trx) => {
          await nameAuthor(trx, keyId);
          const { emails } = await deleteEmails(trx, ids, isFinished, async () => {
            if (newestEmailId !== null && threadId !== null)
              await requireNewestEmail(trx, threadId, newestEmailId);
            return true;
          });
          if (dryRun) throw new DryRunEnd(emails);
          return emails;
        }),
      ),
    );

  return {
    async deleteEmail(id, options = {}) {
      const [email] = await run(pool, RESOLVE_EMAIL, { id });
      if (email === undefined) return 'absent';
      const deleted = await remove([email.id], options);
      return deleted === 'kept' ? 'kept' : deleted === 0 ? 'absent' : 'deleted';
    },

    async deleteSomeOfThread(id, limit, options = {}) {
      const thread = await readThreadToDelete(pool, id, limit);
      return typeof thread === 'string' ? thread : await remove(thread.ids, options, thread.id);
    },
  };
}

export const unlessKept = <T>(deleted: Promise<T>): Promise<T | 'kept'> =>
  deleted.catch((error: unknown) => {
    if (error instanceof NotDeletable) return 'kept' as const;
    throw error;
  });

/** With some of its emails, at most `limit`. `kept`: one of its emails has to be kept. */
export async function readThreadToDelete(
  pool: Pool,
  id: string,
  limit: number,
): Promise<{ readonly id: string; readonly ids: readonly string[] } | 'kept' | 'absent'> {
  const [thread] = await run(pool, READ_THREAD, { id, limit, unfinished: UNFINISHED });
  if (thread === undefined || thread.ids.length === 0) return 'absent';
  return thread.is_unfinished ? 'kept' : thread;
}

export function createDeletedFiles(pool: Pool): DeletedFiles {
  return {
    filesToDelete: (limit) => filesToDelete(pool, limit),
    deferFile: (path) => deferFile(pool, path),
    hasFiles: () => hasFilesToDelete(pool),
    forgetFiles: (paths) => forgetFiles(pool, paths),
  };
}

const RESOLVE_EMAIL = statement('resolve-email-to-delete', `select id from emails where id = ${EMAIL_ID}`);

const READ_THREAD = statement(
  'read-thread-to-delete',
  `select t.id,
    array(select e.id from emails e where e.thread_id = t.id order by e.date desc, e.id desc limit $limit::int) as ids,
    exists (select from emails e where e.thread_id = t.id and e.state = any ($unfinished::text[])) as is_unfinished
  from email_threads t
  where t.id = ${threadIdOf('$id::uuid')}`,
).narrow<{ ids: string[]; is_unfinished: boolean }>();
