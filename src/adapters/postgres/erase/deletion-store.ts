/** `DeletionStore` and `DeletedFiles` on PostgreSQL. */
import type { Pool } from 'pg';
import type { DeletedFiles, DeletionStore } from '../../../app/erase/delete-ports.ts';
import type { EmailState } from '../../../core/delivery/states.ts';
import { inLinkingTransaction } from '../db/linking-transaction.ts';
import { run, statement } from '../db/statement.ts';
import { filesToDelete, forgetFiles } from '../emails/deleted-emails.ts';
import { EMAIL_ID } from '../emails/email-aliases.ts';
import { deleteEmails, NotDeletable } from './delete-emails.ts';

/** These are, or may be, sent yet: an operator cancels or resolves them first. */
const UNSETTLED: readonly EmailState[] = ['queued', 'sending', 'deferred', 'unknown'];

const isSettled = ({ state }: { readonly state: EmailState }): boolean => !UNSETTLED.includes(state);

export function createDeletionStore(pool: Pool): DeletionStore {
  const remove = (ids: readonly string[]): Promise<number | 'kept'> =>
    inLinkingTransaction(pool, async (trx) => (await deleteEmails(trx, ids, isSettled)).emails).catch(
      (error: unknown) => {
        if (error instanceof NotDeletable) return 'kept';
        throw error;
      },
    );

  return {
    async deleteEmail(id) {
      const [email] = await run(pool, RESOLVE_EMAIL, { id });
      if (email === undefined) return 'absent';
      const deleted = await remove([email.id]);
      return deleted === 'kept' ? 'kept' : deleted === 0 ? 'absent' : 'deleted';
    },

    async deleteSomeOfThread(id, limit) {
      const [thread] = await run(pool, READ_THREAD, { id, limit, unsettled: UNSETTLED });
      if (thread === undefined || thread.ids.length === 0) return 'absent';
      return thread.is_unsettled ? 'kept' : await remove(thread.ids);
    },
  };
}

export function createDeletedFiles(pool: Pool): DeletedFiles {
  return {
    filesToDelete: (limit) => filesToDelete(pool, limit),
    forgetFiles: (paths) => forgetFiles(pool, paths),
  };
}

const RESOLVE_EMAIL = statement('resolve-email-to-delete', `select id from emails where id = ${EMAIL_ID}`);

const READ_THREAD = statement(
  'read-thread-to-delete',
  `select
    array(select e.id from emails e where e.thread_id = t.id order by e.date desc, e.id desc limit $limit::int) as ids,
    exists (select from emails e where e.thread_id = t.id and e.state = any ($unsettled::text[])) as is_unsettled
  from email_threads t
  where t.id = coalesce((select thread_id from thread_aliases where id = $id::uuid), $id::uuid)`,
).narrow<{ ids: string[]; is_unsettled: boolean }>();
