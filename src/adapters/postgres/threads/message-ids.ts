/**
 * Writes `thread_message_ids`, and is alone in it: every Message-ID that an email bears or names belongs to one thread of its
 * account. A Message-ID that another transaction ties at the same moment is waited for; the first one decides.
 */
import { sql, type Transaction } from 'kysely';
import type { Move } from '../../../core/thread/plan-threads.ts';
import type { Database } from '../db/database.ts';

export interface Tie {
  readonly accountId: string;
  readonly messageId: string;
  readonly threadId: string;
}

/**
 * As a part of a statement: ties those that belong to no thread, and returns their account_id, message_id, thread_id. In one
 * order everywhere, so that two transactions never wait for each other in a circle.
 *
 * @param source a query with the columns account_id, message_id, thread_id
 */
export const tieMessageIds = (source: string): string => `
  insert into thread_message_ids (account_id, message_id, thread_id)
  select account_id, message_id, thread_id from (${source}) tie
  order by account_id collate "C", message_id collate "C"
  on conflict do nothing
  returning account_id, message_id, thread_id`;

/** Returns the Message-IDs that belonged to no thread. The others are left where they are. */
export async function tieToThreads(
  trx: Transaction<Database>,
  ties: readonly Tie[],
): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ message_id: string }>`
    with given as (
      select * from unnest(
        ${ties.map(({ accountId }) => accountId)}::text[], ${ties.map(({ messageId }) => messageId)}::text[],
        ${ties.map(({ threadId }) => threadId)}::uuid[]
      ) as n (account_id, message_id, thread_id)
    )
    ${sql.raw(tieMessageIds('select * from given'))}`.execute(trx);
  return new Set(rows.map((row) => row.message_id));
}

/** The threads of those Message-IDs that are known. */
export async function ownersOf(
  trx: Transaction<Database>,
  accountId: string,
  messageIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await sql<{ message_id: string; thread_id: string }>`
    select message_id, thread_id from thread_message_ids
    where account_id = ${accountId} and message_id = any(${[...messageIds]}::text[])`.execute(trx);
  return new Map(rows.map((row) => [row.message_id, row.thread_id]));
}

/** Those that were in no thread get one, unless another email claims them at this moment. For holders of `lockLinks`. */
export async function moveMessageIds(
  trx: Transaction<Database>,
  accountId: string,
  moves: readonly Move[],
): Promise<void> {
  const moved = moves.filter(({ from }) => from !== null);
  if (moved.length > 0) {
    await sql`
      update thread_message_ids m set thread_id = n.thread_id
      from unnest(
        ${moved.map(({ id }) => id)}::text[], ${moved.map(({ to }) => to)}::uuid[]
      ) as n (message_id, thread_id)
      where m.account_id = ${accountId} and m.message_id = n.message_id`.execute(trx);
  }
  const added = moves.filter(({ from }) => from === null);
  if (added.length > 0) {
    await tieToThreads(
      trx,
      added.map(({ id, to }) => ({ accountId, messageId: id, threadId: to })),
    );
  }
}

/** All that belong to the ending threads. For holders of `lockLinks`. */
export async function handOverMessageIds(
  trx: Transaction<Database>,
  survivorId: string,
  endingIds: readonly string[],
): Promise<void> {
  await sql`
    update thread_message_ids set thread_id = ${survivorId} where thread_id = any(${[...endingIds]}::uuid[])`.execute(
    trx,
  );
}
