/**
 * Writes `thread_message_ids`; only this module does: every Message-ID that an email bears or names belongs to one thread of its account.
 * If another transaction ties a Message-ID at the same moment, this one waits for it; the first one decides.
 */
import type { Move } from '../../core/thread/plan-threads.ts';
import { run, statement, type Executor } from '../../platform/db/statement.ts';
import { SOMETHING_WAS_DELETED } from '../emails/deleted-emails.ts';

export interface Tie {
  readonly accountId: string;
  readonly messageId: string;
  readonly threadId: string;
}

/** The stand-in for the Message-ID `n.message_id` when the emails that bore and named it were deleted; null if nothing was ever deleted. */
const standsFor = (n: string): string =>
  `case when ${SOMETHING_WAS_DELETED} then deleted_message_id(${n}.message_id) end`;

/**
 * A condition: the row `m` of thread_message_ids belongs to the Message-ID `n.message_id`. The row contains the stand-in once the emails
 * that bore and named the Message-ID were deleted, even when it is named again later. If both rows exist, as when the Message-ID was named
 * while those emails were being deleted, the one of the Message-ID itself counts. (No `not exists`: that may be planned as a scan of the
 * table.)
 */
export const isKnownAs = (m: string, n: string): string =>
  `${m}.message_id = any (array[${n}.message_id, ${standsFor(n)}])
    and (${m}.message_id = ${n}.message_id or (
      select own.thread_id from thread_message_ids own
      where own.account_id = ${m}.account_id and own.message_id = ${n}.message_id
    ) is null)`;

/**
 * As a part of a statement: ties Message-IDs that belong to no thread, and returns their account_id, message_id, thread_id. In one order
 * everywhere, so that two transactions never wait for each other in a circle.
 *
 * @param source a query with the columns account_id, message_id, thread_id
 */
export const tieMessageIds = (source: string): string => `
  insert into thread_message_ids (account_id, message_id, thread_id)
  select account_id, message_id, thread_id from (${source}) tie
  where (
    select m.thread_id from thread_message_ids m
    where m.account_id = tie.account_id and m.message_id = ${standsFor('tie')}
  ) is null
  order by account_id collate "C", message_id collate "C"
  on conflict do nothing
  returning account_id, message_id, thread_id`;

/** Returns the Message-IDs that belonged to no thread. The others are left where they are. */
export async function tieToThreads(executor: Executor, ties: readonly Tie[]): Promise<ReadonlySet<string>> {
  const rows = await run(executor, TIE, {
    accountIds: ties.map(({ accountId }) => accountId),
    messageIds: ties.map(({ messageId }) => messageId),
    threadIds: ties.map(({ threadId }) => threadId),
  });
  return new Set(rows.map((row) => row.message_id));
}

const TIE = statement(
  'tie-message-ids',
  tieMessageIds(`
    select * from unnest($accountIds::text[], $messageIds::text[], $threadIds::uuid[])
      as n (account_id, message_id, thread_id)`),
);

/** The threads of the known ones among the Message-IDs. */
export async function ownersOf(
  executor: Executor,
  accountId: string,
  messageIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await run(executor, OWNERS, { accountId, messageIds });
  return new Map(rows.map((row) => [row.message_id, row.thread_id]));
}

const OWNERS = statement(
  'owners-of-message-ids',
  `select n.message_id, m.thread_id
  from unnest($messageIds::text[]) n (message_id)
  join thread_message_ids m on m.account_id = $accountId and ${isKnownAs('m', 'n')}`,
).narrow<{ message_id: string }>();

/** Moves Message-IDs. Those that had no thread get one, unless another email claims them at this moment. For holders of `lockLinks`. */
export async function moveMessageIds(
  executor: Executor,
  accountId: string,
  moves: readonly Move[],
): Promise<void> {
  const moved = moves.filter(({ from }) => from !== null);
  if (moved.length > 0) {
    const messageIds = moved.map(({ id }) => id);
    await run(executor, MOVE, { accountId, messageIds, threadIds: moved.map(({ to }) => to) });
  }
  const added = moves.filter(({ from }) => from === null);
  if (added.length > 0) {
    await tieToThreads(
      executor,
      added.map(({ id, to }) => ({ accountId, messageId: id, threadId: to })),
    );
  }
}

const MOVE = statement(
  'move-message-ids',
  `update thread_message_ids m set thread_id = n.thread_id
  from unnest($messageIds::text[], $threadIds::uuid[]) as n (message_id, thread_id)
  where m.account_id = $accountId and m.message_id = n.message_id`,
);

/** Hands over all Message-IDs of the ending threads. For holders of `lockLinks`. */
export async function handOverMessageIds(
  executor: Executor,
  survivorId: string,
  endingIds: readonly string[],
): Promise<void> {
  await run(executor, HAND_OVER, { survivorId, endingIds });
}

const HAND_OVER = statement(
  'hand-over-message-ids',
  'update thread_message_ids set thread_id = $survivorId where thread_id = any($endingIds::uuid[])',
);

/**
 * Hides Message-IDs when emails of the thread are deleted. Those that no other email bears or names, in this thread and in the threads that
 * are weighed with it, are replaced by their stand-ins, so that a later reply still finds the thread.
 *
 * @param clusterIds the thread, and those of its cluster
 * @param deletedIds emails that are about to be deleted
 * @returns the Message-IDs that were replaced
 */
export async function hideMessageIds(
  executor: Executor,
  threadId: string,
  clusterIds: readonly string[],
  deletedIds: readonly string[],
): Promise<readonly string[]> {
  const rows = await run(executor, HIDE, { threadId, clusterIds, deletedIds });
  return rows.map((row) => row.message_id);
}

/** The Message-IDs that the emails `e` bear and name. */
const IDS_OF = `
    array[e.message_id::text, e.relay_message_id::text, e.bounced_message_id::text, e.placement_message_id::text]
      || e.in_reply_to || e.reference_ids`;

const HIDE = statement(
  'hide-message-ids',
  `with named as (
    select distinct n.message_id from emails e cross join lateral unnest(${IDS_OF}) n (message_id)
    where e.thread_id = any ($clusterIds::uuid[]) and e.id <> all ($deletedIds::uuid[]) and n.message_id is not null
  ), hidden as (
    delete from thread_message_ids m
    where m.thread_id = $threadId and m.message_id not like '%@deleted.invalid'
      and m.message_id in (
        select n.message_id from emails e cross join lateral unnest(${IDS_OF}) n (message_id)
        where e.id = any ($deletedIds::uuid[])
      )
      and m.message_id not in (select message_id from named)
    returning account_id, message_id
  ), standing as (
    insert into thread_message_ids (account_id, message_id, thread_id)
    select account_id, deleted_message_id(message_id), $threadId from hidden order by 1, 2
    on conflict do nothing
  )
  select message_id from hidden`,
);

/**
 * Everything that an email ties together: the Message-IDs that it bears and names, and those of the emails beside which senders put it or
 * them.
 */
export interface Bond {
  readonly accountId: string;
  readonly threadId: string;
  readonly messageIds: readonly string[];
}

/** The bonds of the emails. */
export async function readBonds(executor: Executor, emailIds: readonly string[]): Promise<readonly Bond[]> {
  const rows = await run(executor, READ_BONDS, { emailIds });
  return rows.map((row) => ({
    accountId: row.account_id,
    threadId: row.thread_id,
    messageIds: row.message_ids,
  }));
}

const READ_BONDS = statement(
  'bonds-of-emails',
  `select e.account_id, e.thread_id, array(
      select distinct n.message_id from unnest(${IDS_OF}
        || array(select a.message_id::text from emails a where a.anchor_id = e.id or a.id = e.anchor_id)) n (message_id)
      where n.message_id is not null
    ) as message_ids
  from emails e where e.id = any ($emailIds::uuid[])`,
).narrow<{ message_ids: string[] }>();

/** Deletes the Message-IDs of a thread that nothing refers to any more. */
export async function forgetMessageIds(executor: Executor, threadId: string): Promise<void> {
  await run(executor, FORGET, { threadId });
}

const FORGET = statement('forget-message-ids', 'delete from thread_message_ids where thread_id = $threadId');
