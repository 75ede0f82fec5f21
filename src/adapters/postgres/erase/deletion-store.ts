/** `DeletionStore` and `DeletedFiles` on PostgreSQL. */
import type { Pool } from 'pg';
import type { DeletedFiles, DeletionStore } from '../../../app/erase/delete-ports.ts';
import type { EmailState } from '../../../core/delivery/states.ts';
import { nameAuthor } from '../db/name-author.ts';
import { inLinkingTransaction } from '../db/linking-transaction.ts';
import { run, statement } from '../db/statement.ts';
import { filesToDelete, forgetFiles } from '../emails/deleted-emails.ts';
import { EMAIL_ID } from '../emails/email-aliases.ts';
import { threadIdOf } from '../emails/thread-rows.ts';
import { deleteEmails, NotDeletable } from './delete-emails.ts';

/** These are being sent, or may still be: an operator cancels or resolves them first. */
const UNFINISHED: readonly EmailState[] = ['queued', 'sending', 'deferred', 'unknown'];

const isFinished = ({ state }: { readonly state: EmailState }): boolean => !UNFINISHED.includes(state);

export function createDeletionStore(pool: Pool): DeletionStore {
  const remove = (
    ids: readonly string[],
    quiet: { id: string; since: Date } | null,
    keyId: string | null | undefined,
  ): Promise<number | 'kept'> =>
    inLinkingTransaction(pool, async (trx) => {
      await nameAuthor(trx, keyId);
      const { emails } = await deleteEmails(trx, ids, isFinished);
      // The thread is locked now: no more email comes into it.
      if (quiet !== null && (await run(trx, FIND_LATER, quiet)).length > 0) throw new NotDeletable();
      return emails;
    }).catch((error: unknown) => {
      if (error instanceof NotDeletable) return 'kept';
      throw error;
    });

  return {
    async deleteEmail(id, keyId) {
      const [email] = await run(pool, RESOLVE_EMAIL, { id });
      if (email === undefined) return 'absent';
      const deleted = await remove([email.id], null, keyId);
      return deleted === 'kept' ? 'kept' : deleted === 0 ? 'absent' : 'deleted';
    },

    async deleteSomeOfThread(id, limit, since, keyId) {
      const [thread] = await run(pool, READ_THREAD, { id, limit, unfinished: UNFINISHED });
      if (thread === undefined || thread.ids.length === 0) return 'absent';
      if (thread.is_unfinished) return 'kept';
      return await remove(thread.ids, since === null ? null : { id: thread.id, since }, keyId);
    },

    async findQuiet(accountId, since, limit) {
      const rows = await run(pool, FIND_QUIET, { accountId, since, limit, unfinished: UNFINISHED });
      return rows.map(({ id }) => id);
    },

    async countQuiet(accountId, since) {
      const [row] = await run(pool, COUNT_QUIET, { accountId, since, unfinished: UNFINISHED });
      return { threads: Number(row?.threads ?? 0), emails: Number(row?.emails ?? 0) };
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
  `select t.id,
    array(select e.id from emails e where e.thread_id = t.id order by e.date desc, e.id desc limit $limit::int) as ids,
    exists (select from emails e where e.thread_id = t.id and e.state = any ($unfinished::text[])) as is_unfinished
  from email_threads t
  where t.id = ${threadIdOf('$id::uuid')}`,
).narrow<{ ids: string[]; is_unfinished: boolean }>();

/** Emails by the same time as in thread_summaries. */
const LATER = `exists (select from emails o where o.thread_id = t.id and email_activity_at(o.date, o.created_at) >= $since)`;

const FIND_LATER = statement(
  'find-later-emails',
  `select t.id from email_threads t where t.id = $id and ${LATER}`,
);

/** Threads that the list shows, and threads of which nothing was ever sent. */
const QUIET = `
  select t.id, q.at
  from (
    select thread_id, last_activity_at as at from thread_summaries
    where account_id = $accountId and last_activity_at < $since
    union all
    select e.thread_id, max(e.date) from emails e
    where e.account_id = $accountId and e.state in ('failed', 'cancelled') and e.date < $since
      and not exists (select from thread_summaries s where s.thread_id = e.thread_id)
    group by e.thread_id
  ) q
  join email_threads t on t.id = q.thread_id
  where not ${LATER}
    and not exists (select from emails e where e.thread_id = t.id and e.state = any ($unfinished::text[]))`;

const FIND_QUIET = statement('find-quiet-threads', `${QUIET} order by q.at limit $limit::int`);

const COUNT_QUIET = statement(
  'count-quiet-threads',
  `with quiet as materialized (${QUIET})
  select (select count(*) from quiet) as threads,
    (select count(*) from emails e where e.thread_id in (select id from quiet)) as emails`,
);
