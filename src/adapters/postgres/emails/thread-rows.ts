/**
 * Makes, locks and ends rows of `email_threads` and their aliases, and is alone in it. What an account's customers are to
 * them is written by customers/customer-links.ts.
 *
 * A transaction that needs several threads locks them in the order of their identifiers, before it writes any Message-ID.
 */
import { sql, type Transaction } from 'kysely';
import type { Database } from '../db/database.ts';
import { LinkConflict } from '../db/linking-transaction.ts';

export interface ThreadRow {
  readonly id: string;
  readonly created_at: Date;
  /** Threads of one cluster are kept apart, and weighed together; null: it is kept apart from none. */
  readonly cluster_id: string | null;
}

/**
 * As a part of a statement: makes the threads that are not there, and returns their ids.
 *
 * @param source a query with the columns id, account_id, customer_id, customer_source, company_id, company_source
 */
export const makeThreads = (source: string): string => `
  insert into email_threads (id, account_id, customer_id, customer_source, company_id, company_source)
  ${source}
  on conflict do nothing
  returning id`;

/** The columns that follow id and account_id in the source of makeThreads, for threads without a customer. */
export const NO_CUSTOMER = 'null::uuid, null::text, null::uuid, null::text';

/** Ends a query of threads, as `t`: until the transaction ends they stay, and so do their customers. */
export const LOCK_THREADS = 'for no key update of t';

/** Throws LinkConflict when it exists, also when another transaction is making it. */
export async function makeThread(trx: Transaction<Database>, accountId: string, id: string): Promise<void> {
  const { rows } = await sql`
    with given as (select ${id}::uuid as id, ${accountId}::text as account_id)
    ${sql.raw(makeThreads(`select id, account_id, ${NO_CUSTOMER} from given`))}`.execute(trx);
  if (rows.length === 0) throw new LinkConflict();
}

/**
 * Makes the thread when it never existed, and locks its row. `absent`: it ended, or another transaction is making it at this
 * moment. In conflict with any of the unique indexes: a row that is being inserted at this moment is met in either first.
 */
export async function openThread(
  trx: Transaction<Database>,
  id: string,
  accountId: string,
): Promise<'locked' | 'made' | 'absent'> {
  const { rows } = await sql<{ found: 'locked' | 'made' | 'absent' }>`
    with given as (
      select ${id}::uuid as id, ${accountId}::text as account_id
    ), made as (
      ${sql.raw(
        makeThreads(`select id, account_id, ${NO_CUSTOMER} from given
          where not exists (select from thread_aliases a where a.id = given.id)`),
      )}
    ), locked as materialized (
      select t.id from email_threads t where t.id = ${id} ${sql.raw(LOCK_THREADS)}
    )
    select case
        when exists (select from locked) then 'locked' when exists (select from made) then 'made' else 'absent'
      end as found`.execute(trx);
  return rows[0]?.found ?? 'absent';
}

/** Locks those that still exist. Returns their ids, in order. */
export async function lockThreadRows(
  trx: Transaction<Database>,
  threadIds: readonly string[],
): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    select t.id from email_threads t where t.id = any (${[...threadIds]}::uuid[])
    order by t.id ${sql.raw(LOCK_THREADS)}`.execute(trx);
  return rows.map(({ id }) => id);
}

/** To be called before changing what decides the customer of the email's thread. */
export async function lockThreadOf(trx: Transaction<Database>, emailId: string): Promise<void> {
  await sql`
    select from email_threads t where t.id = (select thread_id from emails where id = ${emailId})
    ${sql.raw(LOCK_THREADS)}`.execute(trx);
}

/**
 * The threads that exist, and those that decisions keep apart from them, in the order of their ids.
 *
 * @param lock waits for emails that are being linked to them; what comes after waits for this transaction
 */
export async function readClusters(
  trx: Transaction<Database>,
  threadIds: readonly string[],
  lock: boolean,
): Promise<readonly ThreadRow[]> {
  const ids = [...threadIds];
  const { rows } = await sql<ThreadRow>`
    select id, created_at, cluster_id
    from email_threads
    where id = any(${ids}::uuid[])
      or cluster_id in (select cluster_id from email_threads where id = any(${ids}::uuid[]))
    order by id
    ${lock ? sql`for update` : sql``}`.execute(trx);
  return rows;
}

/** The thread that an identifier leads to, if it is one that ended; else the identifier. */
export async function resolveThread(trx: Transaction<Database>, id: string): Promise<string> {
  const { rows } = await sql<{ thread_id: string }>`
    select thread_id from thread_aliases where id = ${id}`.execute(trx);
  return rows[0]?.thread_id ?? id;
}

/** An identifier that was given out, and whose thread is not made, leads to the thread for ever. */
export async function makeAlias(trx: Transaction<Database>, id: string, threadId: string): Promise<void> {
  await sql`insert into thread_aliases (id, thread_id) values (${id}, ${threadId})`.execute(trx);
}

/** Nothing refers to the threads any more but aliases; their identifiers lead to the survivor for ever. */
export async function endThreads(
  trx: Transaction<Database>,
  survivorId: string,
  endingIds: readonly string[],
): Promise<void> {
  const ids = [...endingIds];
  await sql`
    update thread_aliases set thread_id = ${survivorId} where thread_id = any(${ids}::uuid[])`.execute(trx);
  await sql`delete from email_threads where id = any(${ids}::uuid[])`.execute(trx);
  await sql`
    insert into thread_aliases (id, thread_id) select id, ${survivorId} from unnest(${ids}::uuid[]) id`.execute(
    trx,
  );
}

/** The threads, and all that are in one of the clusters, are one cluster from now on. */
export async function joinCluster(
  trx: Transaction<Database>,
  threadIds: readonly string[],
  clusterIds: readonly string[],
  into: string,
): Promise<void> {
  await sql`
    update email_threads set cluster_id = ${into}
    where (id = any(${[...threadIds]}::uuid[]) or cluster_id = any(${[...clusterIds]}::uuid[]))
      and cluster_id is distinct from ${into}`.execute(trx);
}
