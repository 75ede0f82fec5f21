/**
 * Writes `thread_message_ids`; only this module does: every known Message-ID and every meeting point (core/thread/meeting-points.ts) belongs
 * to one thread of its account. If another transaction ties one at the same moment, this one waits for it; the first one decides. A
 * Message-ID that is only named has a row without a thread, for which those who name it and those who make it known wait in turn.
 */
import type { Move } from '../../core/thread/plan-threads.ts';
import { run, statement, type Executor } from '../../platform/db/statement.ts';
import { SOMETHING_WAS_DELETED } from '../emails/deleted-emails.ts';

export interface Tie {
  readonly accountId: string;
  /** Or a meeting point. */
  readonly messageId: string;
  /** null: the Message-ID is only named. */
  readonly threadId: string | null;
}

/** The stand-in for the Message-ID `n.message_id` when the emails that bore and named it were deleted; null if nothing was ever deleted. */
export const standsFor = (n: string): string =>
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
 * As a part of a statement: ties Message-IDs that no email has or names, nor ever did, and returns their account_id, message_id, thread_id. In
 * one order everywhere, so that two transactions never wait for each other in a circle.
 *
 * @param source a query with the columns account_id, message_id, thread_id
 */
export const tieMessageIds = (source: string): string => `
  insert into thread_message_ids (account_id, message_id, thread_id)
  select account_id, message_id, thread_id from (${source}) tie
  where (
    select m.message_id from thread_message_ids m
    where m.account_id = tie.account_id and m.message_id = ${standsFor('tie')}
  ) is null
  order by account_id collate "C", message_id collate "C"
  on conflict do nothing
  returning account_id, message_id, thread_id`;

/**
 * As a part of a statement: ties Message-IDs and meeting points that belong to no thread, and notes Message-IDs that are only named. Returns
 * account_id, message_id, is_new. In the order of tieMessageIds. Rows that exist are locked, so that no other email makes a Message-ID known
 * while this one names it.
 *
 * @param source a query with the columns account_id, message_id, thread_id, each row once
 */
export const tieNodes = (source: string): string => `
  insert into thread_message_ids (account_id, message_id, thread_id, waits_for)
  select account_id, name, thread_id, nullif(split_part(message_id, ' ', 1), message_id)
  from (
    select tie.*, coalesce((
      select m.message_id from thread_message_ids m
      where m.account_id = tie.account_id and m.message_id = ${standsFor('tie')}
    ), tie.message_id) as name
    from (${source}) tie
  ) named
  order by account_id collate "C", name collate "C"
  on conflict (account_id, message_id) do update set thread_id = excluded.thread_id
    where thread_message_ids.thread_id is null and excluded.thread_id is not null
  returning account_id, message_id, xmax = 0 as is_new`;

/** Returns those that had no row. The threads of others are left as they are. */
export async function tieToThreads(executor: Executor, ties: readonly Tie[]): Promise<ReadonlySet<string>> {
  if (ties.length === 0) return new Set();
  const rows = await run(executor, TIE, {
    accountIds: ties.map(({ accountId }) => accountId),
    messageIds: ties.map(({ messageId }) => messageId),
    threadIds: ties.map(({ threadId }) => threadId),
  });
  return new Set(rows.filter((row) => row.is_new).map((row) => row.message_id));
}

const TIE = statement(
  'tie-message-ids',
  tieNodes(`
    select * from unnest($accountIds::text[], $messageIds::text[], $threadIds::uuid[])
      as n (account_id, message_id, thread_id)`),
).narrow<{ is_new: boolean }>();

/**
 * As a query: the meeting points `m` that wait for the Message-ID `n.message_id`. (The row of the Message-ID may be a stand-in.)
 */
export const isWaitingFor = (m: string, n: string): string =>
  `${m}.waits_for = any (array[${n}.message_id, ${standsFor(n)}])`;

/**
 * As an expression: the thread to which a Message-ID leads the email `e`: its own, or that of a point where the email meets others.
 *
 * @param first of several points: one in the email's thread, or one elsewhere
 */
export const threadOfLink = (e: string, messageId: string, first: 'there' | 'elsewhere'): string => `
  coalesce((
    select m.thread_id from (select ${messageId} as message_id) n
    join thread_message_ids m on m.account_id = ${e}.account_id and m.thread_id is not null and ${isKnownAs('m', 'n')}
  ), (
    select m.thread_id from (select ${messageId} || ' ' || k as message_id from unnest(${e}.meeting_keys) k) n
    join thread_message_ids m on m.account_id = ${e}.account_id and m.thread_id is not null and ${isKnownAs('m', 'n')}
    order by (m.thread_id = ${e}.thread_id) ${first === 'there' ? 'desc' : 'asc'}, m.thread_id limit 1
  ))`;

/** The threads of the Message-IDs and meeting points that have one, and those of the points that wait for Message-IDs. */
export interface KnownThreads {
  readonly owners: ReadonlyMap<string, string>;
  /** Point → thread. */
  readonly waiting: ReadonlyMap<string, string>;
}

/** @param borne Message-IDs that an email makes known */
export async function readThreads(
  executor: Executor,
  accountId: string,
  names: readonly string[],
  borne: readonly string[],
): Promise<KnownThreads> {
  const rows = await run(executor, OWNERS, { accountId, names, borne });
  const of = (wanted: boolean) =>
    new Map(rows.filter((row) => row.is_waiting === wanted).map((row) => [row.message_id, row.thread_id]));
  return { owners: of(false), waiting: of(true) };
}

const OWNERS = statement(
  'owners-of-message-ids',
  `select n.message_id, m.thread_id, false as is_waiting
  from unnest($names::text[]) n (message_id)
  join thread_message_ids m on m.account_id = $accountId and m.thread_id is not null and ${isKnownAs('m', 'n')}
  union all
  select m.message_id, m.thread_id, true
  from unnest($borne::text[]) n (message_id)
  join thread_message_ids m on m.account_id = $accountId and ${isWaitingFor('m', 'n')}`,
).narrow<{ message_id: string; thread_id: string; is_waiting: boolean }>();

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
  accountId: string,
  threadId: string,
  clusterIds: readonly string[],
  deletedIds: readonly string[],
): Promise<readonly string[]> {
  const rows = await run(executor, HIDE, { threadId, clusterIds, deletedIds });
  await run(executor, HIDE_WAITED, { accountId, deletedIds });
  return rows.map((row) => row.message_id);
}

/** The Message-IDs that the emails `e` bear and name. */
const IDS_OF = `
    array[e.message_id::text, e.relay_message_id::text, e.bounced_message_id::text, e.placement_message_id::text]
      || e.in_reply_to || e.reference_ids`;

/** As a query: the Message-IDs that the emails `e` bear and name, and the points where they may meet others. */
const NAMES_OF = `
    select i.message_id from unnest(${IDS_OF}) i (message_id)
    union all
    select i.message_id || ' ' || k from unnest(${IDS_OF}) i (message_id), unnest(e.meeting_keys) k`;

const HIDE = statement(
  'hide-message-ids',
  `with named as (
    select distinct n.message_id from emails e cross join lateral (${NAMES_OF}) n
    where e.thread_id = any ($clusterIds::uuid[]) and e.id <> all ($deletedIds::uuid[]) and n.message_id is not null
  ), hidden as (
    delete from thread_message_ids m
    where m.thread_id = $threadId and m.message_id not like '%@deleted.invalid'
      and m.message_id in (
        select n.message_id from emails e cross join lateral (${NAMES_OF}) n
        where e.id = any ($deletedIds::uuid[])
      )
      and m.message_id not in (select message_id from named)
    returning account_id, message_id, waits_for
  ), standing as (
    insert into thread_message_ids (account_id, message_id, thread_id, waits_for)
    select account_id, deleted_message_id(message_id), $threadId, waits_for from hidden order by 1, 2
    on conflict do nothing
  )
  select message_id from hidden`,
);

/**
 * Deletes the meeting points to which only these emails are tied, of all in some threads: the emails are about to be merged into another one,
 * which is not tied to all of them. What an operator or a deletion has labelled stays.
 */
export async function forgetPointsOf(
  executor: Executor,
  accountId: string,
  emailIds: readonly string[],
  threadIds: readonly string[],
): Promise<void> {
  await run(executor, FORGET_POINTS, { accountId, emailIds, threadIds });
}

const FORGET_POINTS = statement(
  'forget-points-of-emails',
  `delete from thread_message_ids m
  where m.account_id = $accountId and m.thread_id = any ($threadIds::uuid[]) and m.waits_for is not null
    and m.message_id in (
      select n.message_id from emails e cross join lateral (${NAMES_OF}) n where e.id = any ($emailIds::uuid[])
      except
      select n.message_id from emails e cross join lateral (${NAMES_OF}) n
      where e.thread_id = any ($threadIds::uuid[]) and e.id <> all ($emailIds::uuid[])
    )
    and not exists (
      select from message_id_labels l where l.account_id = m.account_id and l.message_id = m.message_id
    )`,
);

/** Hides Message-IDs for which no other email waits. */
const HIDE_WAITED = statement(
  'hide-waited-message-ids',
  `with gone as materialized (
    select distinct i.message_id from emails e, unnest(${IDS_OF}) i (message_id)
    where e.id = any ($deletedIds::uuid[]) and e.account_id = $accountId and i.message_id is not null
      and (
        select m.thread_id from thread_message_ids m where m.account_id = $accountId and m.message_id = i.message_id
      ) is null
      and (
        select m.thread_id from thread_message_ids m
        where m.account_id = $accountId and m.waits_for = i.message_id and m.message_id not like '%@deleted.invalid'
        limit 1
      ) is null
  ), points as (
    update thread_message_ids m set waits_for = deleted_message_id(g.message_id)
    from gone g where m.account_id = $accountId and m.waits_for = g.message_id
  ), hidden as (
    delete from thread_message_ids m using gone g where m.account_id = $accountId and m.message_id = g.message_id
    returning m.account_id, m.message_id
  )
  insert into thread_message_ids (account_id, message_id)
  select account_id, deleted_message_id(message_id) from hidden order by 1, 2
  on conflict do nothing`,
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
      select distinct n.message_id from (
        ${NAMES_OF}
        union all
        select unnest(a.message_id::text || array(select a.message_id || ' ' || k from unnest(a.meeting_keys) k))
        from emails a where a.anchor_id = e.id or a.id = e.anchor_id
      ) n
      where n.message_id is not null
    ) as message_ids
  from emails e where e.id = any ($emailIds::uuid[])`,
).narrow<{ message_ids: string[] }>();

/** Deletes the Message-IDs and meeting points of a thread that nothing refers to any more. */
export async function forgetMessageIds(executor: Executor, threadId: string): Promise<void> {
  const points = await run(executor, FORGET, { threadId });
  const waitedFor = points.filter(({ waits_for }) => waits_for !== null);
  if (waitedFor.length === 0) return;
  await run(executor, FORGET_WAITED, {
    accountIds: waitedFor.map(({ account_id }) => account_id),
    messageIds: waitedFor.map(({ waits_for }) => waits_for),
  });
}

const FORGET = statement(
  'forget-message-ids',
  'delete from thread_message_ids where thread_id = $threadId returning account_id, waits_for',
);

const FORGET_WAITED = statement(
  'forget-waited-message-ids',
  `delete from thread_message_ids m
  using (select distinct * from unnest($accountIds::text[], $messageIds::text[]) n (account_id, message_id)) n
  where m.account_id = n.account_id and m.message_id = n.message_id and m.thread_id is null
    and (
      select p.thread_id from thread_message_ids p
      where p.account_id = n.account_id and p.waits_for = n.message_id limit 1
    ) is null`,
);
