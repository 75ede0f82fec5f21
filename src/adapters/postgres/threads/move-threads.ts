/**
 * Threads that end, and emails and Message-IDs that change threads. All within a transaction that holds `lockLinks` and
 * that works out the customers of the threads at its end (settle-customers.ts).
 */
import { sql, type Transaction } from 'kysely';
import type { Move } from '../../../core/thread/plan-threads.ts';
import type { Database } from '../db/database.ts';

export interface EndingThread {
  readonly id: string;
}

/** All that is in the threads comes into the survivor, and their identifiers lead to it for ever. */
export async function absorbThreads(
  trx: Transaction<Database>,
  survivorId: string,
  ending: readonly EndingThread[],
): Promise<void> {
  const ids = ending.map((thread) => thread.id);
  if (ids.length === 0) return;
  for (const table of ['thread_message_ids', 'emails', 'thread_aliases'] as const) {
    await trx.updateTable(table).set({ thread_id: survivorId }).where('thread_id', 'in', ids).execute();
  }
  await trx.deleteFrom('email_threads').where('id', 'in', ids).execute();
  await trx
    .insertInto('thread_aliases')
    .values(ids.map((id) => ({ id, thread_id: survivorId })))
    .execute();
}

export async function makeThread(trx: Transaction<Database>, accountId: string, id: string): Promise<void> {
  await trx.insertInto('email_threads').values({ id, account_id: accountId }).execute();
}

/** The emails that identifiers lead to, each once, sorted: a record that turned out to be a copy lives on in another one. */
export async function resolveEmails(
  trx: Transaction<Database>,
  ids: readonly string[],
): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    select distinct coalesce(a.email_id, n.id) as id
    from unnest(${[...ids]}::uuid[]) as n (id) left join email_aliases a on a.id = n.id
    order by 1`.execute(trx);
  return rows.map((row) => row.id);
}

export async function moveEmails(trx: Transaction<Database>, moves: readonly Move[]): Promise<void> {
  if (moves.length === 0) return;
  const { ids, threads } = columnsOf(moves);
  await sql`
    update emails e set thread_id = m.thread_id
    from unnest(${ids}::uuid[], ${threads}::uuid[]) as m (id, thread_id)
    where e.id = m.id`.execute(trx);
}

/** Those that were in no thread get one, unless another email claims them at this moment. */
export async function moveMessageIds(
  trx: Transaction<Database>,
  accountId: string,
  moves: readonly Move[],
): Promise<void> {
  const moved = columnsOf(moves.filter(({ from }) => from !== null));
  if (moved.ids.length > 0) {
    await sql`
      update thread_message_ids m set thread_id = n.thread_id
      from unnest(${moved.ids}::text[], ${moved.threads}::uuid[]) as n (message_id, thread_id)
      where m.account_id = ${accountId} and m.message_id = n.message_id`.execute(trx);
  }
  const added = columnsOf(moves.filter(({ from }) => from === null));
  if (added.ids.length > 0) {
    await sql`
      insert into thread_message_ids (account_id, message_id, thread_id)
      select ${accountId}, n.message_id, n.thread_id
      from unnest(${added.ids}::text[], ${added.threads}::uuid[]) as n (message_id, thread_id)
      on conflict (account_id, message_id) do nothing`.execute(trx);
  }
}

/** Sorted, so that two transactions never wait for each other in a circle. */
function columnsOf(moves: readonly Move[]): { readonly ids: string[]; readonly threads: string[] } {
  const sorted = moves.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return { ids: sorted.map(({ id }) => id), threads: sorted.map(({ to }) => to) };
}
