/** Marks the received emails of a thread as read or unread. */
import { run, runCounting, statement, type Executor } from '../../platform/db/statement.ts';
import { LISTED } from '../emails/listed.ts';
import { threadIdOf } from '../emails/thread-rows.ts';
import type { Mark, ThreadMark } from './thread-list-ports.ts';

interface Marked extends Pick<ThreadMark, 'unreadCount'> {
  /** Emails that were not marked so before. */
  readonly marked: number;
}

/** In the transaction of the caller, who has locked the thread and named the author. */
export async function markLockedThread(trx: Executor, thread: string, mark: Mark): Promise<Marked> {
  // A transaction that adds an email at this moment waits for this lock, or this one waits for that transaction.
  await run(trx, LOCK_SUMMARY, { thread });
  const marked = await runCounting(trx, mark === 'read' ? MARK_READ : MARK_UNREAD, { thread });
  await run(trx, REFRESH_SUMMARY, { thread });
  const [summary] = await run(trx, READ_UNREAD_COUNT, { thread });
  return { unreadCount: summary?.unread_count ?? 0, marked };
}

const MARK_READ = statement(
  'mark-thread-read',
  `delete from unread_emails where email_id = any (array(select id from emails where thread_id = $thread))`,
);

const MARK_UNREAD = statement(
  'mark-thread-unread',
  `insert into unread_emails (email_id)
  select e.id from emails e where e.thread_id = $thread and e.direction = 'inbound' and ${LISTED} order by e.id
  on conflict do nothing`,
);

const LOCK_SUMMARY = statement(
  'lock-summary',
  'select from thread_summaries where thread_id = $thread for update',
);

const REFRESH_SUMMARY = statement(
  'refresh-summary',
  'select refresh_thread_summaries(array[$thread::uuid]) as done',
);

const READ_UNREAD_COUNT = statement(
  'unread-count',
  'select unread_count from thread_summaries where thread_id = $thread',
);

/** The thread itself, or the target of an alias. It can't be merged away until the transaction ends. */
export async function holdThread(trx: Executor, id: string): Promise<string | null> {
  const [thread] = await run(trx, HOLD_THREAD, { id });
  if (thread !== undefined) return thread.id;
  // The thread may have become an alias while this waited for the lock.
  const [target] = await run(trx, HOLD_TARGET, { id });
  return target?.id ?? null;
}

const HOLD_THREAD = statement(
  'hold-thread',
  `select id from email_threads
  where id = ${threadIdOf('$id::uuid')}
  for key share`,
);

const HOLD_TARGET = statement(
  'hold-target-of-alias',
  'select t.id from thread_aliases a join email_threads t on t.id = a.thread_id where a.id = $id for key share of t',
);
