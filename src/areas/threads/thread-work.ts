/**
 * People's data about a thread: its status, its assignee, its labels, and the customer and company that an operator chose. Only this module
 * writes these columns of `email_threads`, beside the trigger that reopens a thread when a person writes
 * (migrations/0001_schema/thread-list.ts). Triggers keep `thread_summaries` and `thread_labels` in step and write the events.
 */
import type { Pool } from 'pg';
import { ServiceError } from '../../core/errors.ts';
import type { ChangedThread, ThreadChange, ThreadChanges } from './thread-record-ports.ts';
import { markLockedThread } from './thread-marks.ts';
import { MAX_THREAD_LABELS } from '../../core/thread/thread-work.ts';
import { DryRunEnd, withDryRun } from '../../platform/db/dry-run.ts';
import { inLinkingTransaction } from '../../platform/db/linking-transaction.ts';
import { nameAuthor } from '../../platform/db/name-author.ts';
import { run, runCounting, statement, type Executor, type RowOf } from '../../platform/db/statement.ts';
import { LOCK_THREADS, requireNewestEmail, threadIdOf } from '../emails/thread-rows.ts';
import { requireAssignee } from './assignees.ts';
import { relinkCustomers } from '../customers/relink-customers.ts';

/** Merges unite labels, and never fail: beyond this number the last labels in the alphabet are left out. */
const MAX_MERGED_LABELS = 100;

export function createThreadChanges(pool: Pool): ThreadChanges {
  return {
    changeThread: (threadId, change, keyId) =>
      inLinkingTransaction(pool, async (trx) => (await changeByPerson(trx, threadId, change, keyId)).id),

    changeAndMark: ({ id: threadId, newestEmailId }, change, { keyId, mark, dryRun }) =>
      withDryRun(
        inLinkingTransaction(pool, async (trx) => {
          const { id, isChanged } = await changeByPerson(trx, threadId, change, keyId, newestEmailId);
          const marked = mark === null ? 0 : (await markLockedThread(trx, id, mark)).marked;
          const result = { id, isChanged: isChanged || marked > 0 };
          if (dryRun) throw new DryRunEnd(result);
          return result;
        }),
      ),
  };
}

/** Throws what `ThreadChanges` throws. */
async function changeByPerson(
  trx: Executor,
  threadId: string,
  change: ThreadChange,
  keyId: string | null,
  newestEmailId: string | null = null,
): Promise<ChangedThread> {
  const thread = await lockThread(trx, threadId);
  if (thread === null) throw new ServiceError('thread_not_found');
  if (change.version !== null && change.version !== thread.version) {
    throw new ServiceError('thread_changed');
  }
  if (newestEmailId !== null) await requireNewestEmail(trx, thread.id, newestEmailId);
  // A person who is done with it, or throws it away, has dealt with what was not delivered.
  const isLeft = change.status === 'done' || change.status === 'spam';
  const settles = change.settles ?? (isLeft ? true : undefined);
  return { id: thread.id, isChanged: await changeLockedThread(trx, thread, { ...change, settles }, keyId) };
}

/** A thread that a transaction has locked, with people's data about it. */
export type LockedThread = RowOf<typeof LOCK>;

/**
 * Changes a thread that lockThread returned in the same transaction, whatever its version is. Throws `too_many_entries` and
 * `unknown_assignee` before anything is written.
 *
 * @param author the key or the rule that makes the change, for events; null: none
 * @returns false when the thread was like that already
 */
export async function changeLockedThread(
  trx: Executor,
  thread: LockedThread,
  change: Omit<ThreadChange, 'version'>,
  author: string | null,
): Promise<boolean> {
  const { id } = thread;
  const { assignee = thread.assignee } = change;
  if (assignee !== null && assignee !== thread.assignee)
    await requireAssignee(trx, assignee, thread.account_id);
  const labels = labelsAfter(thread.labels, change);
  await nameAuthor(trx, author);
  const changed = await runCounting(trx, CHANGE, {
    id,
    status: change.status ?? thread.status,
    assignee,
    labels,
    customerId: choiceAfter(change.customerId, thread.customer_id, thread.chosen_customer_id),
    companyId: choiceAfter(change.companyId, thread.company_id, thread.chosen_company_id),
  });
  const settled = change.settles === true ? await settleUndelivered(trx, id) : 0;
  if (change.customerId !== undefined || change.companyId !== undefined) {
    await relinkCustomers(trx, [id]);
  }
  return changed + settled > 0;
}

/** A value that the thread shows by a rule, given back, is no choice: the rule goes on to decide. */
const choiceAfter = (given: string | null | undefined, shown: string | null, chosen: string | null) =>
  given === undefined || (chosen === null && given === shown) ? chosen : given;

/** Sorted, each once. Throws `too_many_entries`; a thread that has more since a merge may lose some. */
function labelsAfter(
  before: readonly string[],
  change: Pick<ThreadChange, 'labels' | 'addLabels' | 'removeLabels'>,
): string[] {
  const removed = new Set(change.removeLabels);
  const labels = new Set([...(change.labels ?? before), ...change.addLabels]);
  const after = [...labels].filter((label) => !removed.has(label)).sort();
  if (after.length > Math.max(MAX_THREAD_LABELS, before.length)) {
    throw new ServiceError('too_many_entries', { values: { field: 'labels', limit: MAX_THREAD_LABELS } });
  }
  return after;
}

/** The thread itself, or the target of an alias; it neither ends nor changes until the transaction ends. */
export async function lockThread(trx: Executor, id: string): Promise<LockedThread | null> {
  const [thread] = await run(trx, LOCK, { id });
  if (thread !== undefined) return thread;
  // The thread may have become an alias while this waited for the lock.
  const [target] = await run(trx, LOCK_TARGET, { id });
  return target ?? null;
}

const COLUMNS =
  't.id, t.account_id, t.version, t.status, t.assignee, t.labels, t.customer_id, t.company_id, t.chosen_customer_id, t.chosen_company_id';

const LOCK = statement(
  'lock-thread-work',
  `select ${COLUMNS} from email_threads t
  where t.id = ${threadIdOf('$id::uuid')}
  ${LOCK_THREADS}`,
);

const LOCK_TARGET = statement(
  'lock-thread-work-of-alias',
  `select ${COLUMNS} from thread_aliases a join email_threads t on t.id = a.thread_id where a.id = $id ${LOCK_THREADS}`,
);

const CHANGE = statement(
  'change-thread-work',
  `update email_threads set status = $status, assignee = $assignee, labels = $labels,
    chosen_customer_id = $customerId, chosen_company_id = $companyId
  where id = $id and (status, assignee, labels, chosen_customer_id, chosen_company_id)
    is distinct from ($status, $assignee::text, $labels::text[], $customerId::uuid, $companyId::uuid)`,
);

/** A person dealt with what was not delivered. The caller has locked the thread; the trigger of the table counts it anew. Returns the number of sends. */
export function settleUndelivered(executor: Executor, id: string): Promise<number> {
  return runCounting(executor, SETTLE, { id });
}

const SETTLE = statement(
  'settle-undelivered',
  'delete from undelivered_sends where email_id in (select id from emails where thread_id = $id)',
);

/**
 * Unites the data about threads that are about to be merged into another: open wins, then done; labels unite, and the survivor keeps its assignee and
 * an operator's choices; where it has none, the oldest of the others decides.
 */
export async function uniteWork(
  trx: Executor,
  survivorId: string,
  endingIds: readonly string[],
): Promise<void> {
  await run(trx, UNITE, { survivorId, endingIds });
}

const UNITE = statement(
  'unite-thread-work',
  `update email_threads t set
    status = case
      when t.status = 'open' or not n.is_closed then 'open'
      when t.status = 'spam' and n.is_spam then 'spam'
      else 'done'
    end,
    assignee = coalesce(t.assignee, n.assignee),
    labels = (array(select distinct label from unnest(t.labels || n.labels) label order by label))[1:${MAX_MERGED_LABELS}],
    chosen_customer_id = coalesce(t.chosen_customer_id, n.chosen_customer_id),
    chosen_company_id = coalesce(t.chosen_company_id, n.chosen_company_id)
  from (
    select bool_and(e.status <> 'open') as is_closed, bool_and(e.status = 'spam') as is_spam,
      (array_agg(e.assignee order by e.created_at, e.id) filter (where e.assignee is not null))[1] as assignee,
      (array_agg(e.chosen_customer_id order by e.created_at, e.id) filter (where e.chosen_customer_id is not null))[1]
        as chosen_customer_id,
      (array_agg(e.chosen_company_id order by e.created_at, e.id) filter (where e.chosen_company_id is not null))[1]
        as chosen_company_id,
      array(
        select distinct label from email_threads l, unnest(l.labels) label where l.id = any ($endingIds::uuid[])
      ) as labels
    from email_threads e where e.id = any ($endingIds::uuid[])
  ) n
  where t.id = $survivorId and (
    t.status <> 'open' or n.assignee is not null or n.labels <> '{}' or n.chosen_customer_id is not null
    or n.chosen_company_id is not null
  )`,
);

/** A thread that is split off inherits the data of the one it comes from. */
export async function inheritWork(trx: Executor, from: string, to: string): Promise<void> {
  await run(trx, INHERIT, { from, to });
}

const INHERIT = statement(
  'inherit-thread-work',
  `update email_threads t set status = o.status, assignee = o.assignee, labels = o.labels,
    chosen_customer_id = o.chosen_customer_id, chosen_company_id = o.chosen_company_id
  from email_threads o where o.id = $from and t.id = $to`,
);
