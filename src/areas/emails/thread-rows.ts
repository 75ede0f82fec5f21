/**
 * Creates, locks and ends rows of `email_threads` and their aliases; only this module does. customers/customer-links.ts writes their
 * customers and companies.
 *
 * A transaction that needs several threads locks them in the order of their identifiers, before it writes any Message-ID.
 */
import { ServiceError } from '../../core/errors.ts';
import type { ThreadStatus } from '../../core/thread/thread-work.ts';
import { LinkConflict } from '../../platform/db/linking-transaction.ts';
import { run, statement, type Executor, type RowOf } from '../../platform/db/statement.ts';

/**
 * As a part of a statement: creates the threads that do not exist, and returns their ids.
 *
 * @param source a query with the columns id, account_id, customer_id, customer_source, company_id, company_source, status
 */
export const makeThreads = (source: string): string => `
  insert into email_threads (id, account_id, customer_id, customer_source, company_id, company_source, status)
  ${source}
  on conflict do nothing
  returning id`;

/**
 * A thread by its id, for a lateral join, or for `from` after the source of the id: looked up for each row. With a plain join, a batch of a
 * few emails reads all threads as long as there are fewer than some 40,000, because the planner expects a hundred rows of a JSON parameter.
 * `offset 0` keeps it a lookup.
 */
export const threadById = (id: string): string => `
  (select t.id, t.customer_id, t.customer_source, t.company_id, t.company_source from email_threads t where t.id = ${id} offset 0)`;

/**
 * As a part of a statement: the thread that an identifier leads to, if its own thread has ended; else the identifier. @param id a uuid, as
 * SQL
 */
export const threadIdOf = (id: string): string =>
  `coalesce((select thread_id from thread_aliases where id = ${id}), ${id})`;

/** The columns that follow id and account_id in the source of makeThreads, for threads without a customer. */
export const NO_CUSTOMER = 'null::uuid, null::text, null::uuid, null::text';

/** Ends a query of threads, as `t`: until the transaction ends the threads stay, and so do their customers. */
export const LOCK_THREADS = 'for no key update of t';

/** Throws LinkConflict when the thread exists, or another transaction is creating it. */
export async function makeThread(executor: Executor, accountId: string, id: string): Promise<void> {
  const rows = await run(executor, MAKE, { id, accountId });
  if (rows.length === 0) throw new LinkConflict();
}

const MAKE = statement(
  'make-thread',
  makeThreads(`select $id::uuid, $accountId::text, ${NO_CUSTOMER}, 'open'`),
);

/**
 * Creates the thread, with the status, if it never existed, and locks its row. `absent`: it ended, or another transaction is creating it at this moment.
 * Checks for a conflict with any of the unique indexes: a row that is being inserted at this moment may be met in any of them first.
 */
export async function openThread(
  executor: Executor,
  id: string,
  accountId: string,
  status: ThreadStatus = 'open',
): Promise<'locked' | 'made' | 'absent'> {
  const [row] = await run(executor, OPEN, { id, accountId, status });
  return row?.is_locked === true ? 'locked' : row?.is_made === true ? 'made' : 'absent';
}

const OPEN = statement(
  'open-thread',
  `with made as (
    ${makeThreads(`select $id::uuid, $accountId::text, ${NO_CUSTOMER}, $status::text
      where not exists (select from thread_aliases where id = $id::uuid)`)}
  ), locked as materialized (
    select t.id from email_threads t where t.id = $id::uuid ${LOCK_THREADS}
  )
  select exists (select from locked) as is_locked, exists (select from made) as is_made`,
);

/** Locks the threads that still exist. Returns their ids, in order. */
export async function lockThreadRows(
  executor: Executor,
  threadIds: readonly string[],
): Promise<readonly string[]> {
  return (await run(executor, LOCK, { threadIds })).map(({ id }) => id);
}

const LOCK = statement(
  'lock-threads',
  `select t.id from email_threads t where t.id = any ($threadIds::uuid[]) order by t.id ${LOCK_THREADS}`,
);

/** Call it before changes that affect the customer of the email's thread. */
export async function lockThreadOf(executor: Executor, emailId: string): Promise<void> {
  await run(executor, LOCK_OF_EMAIL, { emailId });
}

const LOCK_OF_EMAIL = statement(
  'lock-thread-of-email',
  `select from email_threads t where t.id = (select thread_id from emails where id = $emailId) ${LOCK_THREADS}`,
);

/**
 * The threads that exist, and those that decisions keep apart from them, in the order of their ids.
 *
 * @param lock waits for emails that are being linked to them; later ones wait for this transaction
 */
export function readClusters(
  executor: Executor,
  threadIds: readonly string[],
  lock: boolean,
): Promise<readonly ThreadRow[]> {
  return run(executor, lock ? LOCK_CLUSTERS : READ_CLUSTERS, { threadIds });
}

const CLUSTERS = `
  select id, created_at, cluster_id
  from email_threads
  where id = any($threadIds::uuid[])
    or cluster_id = any(array(select cluster_id from email_threads where id = any($threadIds::uuid[])))
  order by id`;
const READ_CLUSTERS = statement('read-clusters', CLUSTERS);
const LOCK_CLUSTERS = statement('lock-clusters', `${CLUSTERS} for update`);

/** The threads of one cluster are kept apart, and weighed together. */
export type ThreadRow = Readonly<RowOf<typeof READ_CLUSTERS>>;

/** The thread that an identifier leads to, if its own thread has ended; else the identifier. */
export async function resolveThread(executor: Executor, id: string): Promise<string> {
  const [row] = await run(executor, RESOLVE, { id });
  return row?.thread_id ?? id;
}

const RESOLVE = statement('resolve-thread', 'select thread_id from thread_aliases where id = $id');

/** Makes an identifier that was given out, but whose thread was not created, lead to the thread for ever. */
export async function makeAlias(executor: Executor, id: string, threadId: string): Promise<void> {
  await run(executor, ADD_ALIASES, { threadId, ids: [id] });
}

/** Ends threads to which nothing but aliases refers any more; their identifiers lead to the survivor for ever. */
export async function endThreads(
  executor: Executor,
  survivorId: string,
  endingIds: readonly string[],
): Promise<void> {
  await run(executor, MOVE_ALIASES, { threadId: survivorId, ids: endingIds });
  await run(executor, DELETE, { ids: endingIds });
  await run(executor, ADD_ALIASES, { threadId: survivorId, ids: endingIds });
}

const MOVE_ALIASES = statement(
  'move-thread-aliases',
  'update thread_aliases set thread_id = $threadId where thread_id = any($ids::uuid[])',
);
const DELETE = statement('end-threads', 'delete from email_threads where id = any($ids::uuid[])');
const ADD_ALIASES = statement(
  'add-thread-aliases',
  'insert into thread_aliases (id, thread_id) select id, $threadId::uuid from unnest($ids::uuid[]) id',
);

/** Deletes a thread that is empty and to which nothing but aliases refers: the aliases lead nowhere then, too. */
export async function deleteThread(executor: Executor, id: string): Promise<void> {
  await run(executor, DELETE_ALIASES, { id });
  await run(executor, DELETE, { ids: [id] });
}

const DELETE_ALIASES = statement('delete-thread-aliases', 'delete from thread_aliases where thread_id = $id');

/** Makes one cluster of the threads and of all threads in their clusters. */
export async function joinCluster(
  executor: Executor,
  threadIds: readonly string[],
  clusterIds: readonly string[],
  into: string,
): Promise<void> {
  await run(executor, JOIN_CLUSTER, { threadIds, clusterIds, into });
}

const JOIN_CLUSTER = statement(
  'join-cluster',
  `update email_threads set cluster_id = $into
  where (id = any($threadIds::uuid[]) or cluster_id = any($clusterIds::uuid[])) and cluster_id is distinct from $into`,
);

/** For a thread that is locked: throws `thread_changed` when another email is its newest. */
export async function requireNewestEmail(trx: Executor, threadId: string, emailId: string): Promise<void> {
  const [row] = await run(trx, NEWEST_EMAIL, { threadId });
  if (row?.newest_email_id !== emailId) throw new ServiceError('thread_changed');
}

const NEWEST_EMAIL = statement(
  'newest-email-of-thread',
  'select newest_email_id from thread_summaries where thread_id = $threadId',
);
