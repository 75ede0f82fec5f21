/**
 * Brings threads in line with their links, the customers that sends named, and decisions: reads whole threads, groups their emails anew and
 * moves emails that are in the wrong thread. Used where threads are kept apart, and by rethreading.
 */
import { randomUUID } from 'node:crypto';
import { groupByLinks, type Groups } from '../../core/thread/link-graph.ts';
import { idOfPoint } from '../../core/thread/meeting-points.ts';
import { planThreads, type Move, type ThreadPlan } from '../../core/thread/plan-threads.ts';
import { whyMoved, type Reason } from '../../core/thread/why-moved.ts';
import { joinCluster, makeThread, readClusters, type ThreadRow } from '../emails/thread-rows.ts';
import { labelMessageIds } from './freeze-threads.ts';
import { moveMessageIds } from './message-ids.ts';
import { absorbThreads } from './move-threads.ts';
import { moveEmails, setReasons } from './place-emails.ts';
import { relinkCustomers } from '../customers/relink-customers.ts';
import {
  namesOf,
  readThreadGraph,
  type Newcomer,
  type StoredEmail,
  type ThreadGraph,
} from './thread-graph.ts';
import { run, statement, type Executor } from '../../platform/db/statement.ts';

/** An email that is about to be recorded, and the thread that it gets if it joins none. */
export interface Arrival {
  readonly email: Newcomer;
  readonly newThreadId: string;
}

export interface ArrangedArrival {
  readonly threadId: string;
  /** The thread that a Message-ID has from now on: for one that the email bears or names, or one of the threads. */
  readonly ownerOf: (messageId: string) => string;
}

/** The arrangement of some threads that follows from their links. */
export interface Arrangement {
  readonly threads: readonly ThreadRow[];
  readonly graph: ThreadGraph;
  /** Groups of the emails of the graph, then of the new email. */
  readonly groups: Groups;
  readonly plan: ThreadPlan;
}

/** Arranges the threads anew, and those that are kept apart from them, together with a new email. */
export async function arrangeThreads(
  trx: Executor,
  accountId: string,
  threadIds: readonly string[],
  arrival: Arrival,
): Promise<ArrangedArrival> {
  const arrangement = await weighThreads(trx, accountId, threadIds, { lock: true, arrival });
  await carryOut(trx, accountId, arrangement, arrival);
  const { graph, groups, plan } = arrangement;
  const threadId = plan.threadOf.get(groups.emails.at(-1) ?? -1) ?? arrival.newThreadId;
  const movedTo = new Map(plan.messageIds.map(({ id, to }) => [id, to]));
  const survivors = new Map(plan.merged.map(({ id, into }) => [id, into]));
  const ownerOf = (messageId: string): string => {
    const known = graph.standing.get(messageId) ?? messageId;
    const owner = movedTo.get(known) ?? graph.owners.get(known) ?? threadId;
    return survivors.get(owner) ?? owner;
  };
  return { threadId, ownerOf };
}

export interface WeighOptions {
  /** True if the caller changes anything afterwards. */
  readonly lock: boolean;
  readonly arrival?: Arrival;
}

/** Reads the threads and those that decisions keep apart from them, and works out their arrangement; changes nothing. */
export async function weighThreads(
  trx: Executor,
  accountId: string,
  threadIds: readonly string[],
  { lock, arrival }: WeighOptions,
): Promise<Arrangement> {
  const threads = await readClusters(trx, threadIds, lock);
  const ids = threads.map(({ id }) => id);
  const graph = await readThreadGraph(trx, accountId, ids, arrival?.email);
  const { newcomer } = graph;
  const groups = groupByLinks(newcomer === null ? graph : { ...graph, emails: [...graph.emails, newcomer] });
  const placedEmails = [
    ...graph.emails,
    ...(arrival === undefined ? [] : [{ ...arrival.email, threadId: null }]),
  ];
  const plan = planThreads(
    threads.map((thread) => ({ id: thread.id, createdAt: thread.created_at })),
    placedEmails.map(({ id, threadId }, index) => ({ id, threadId, group: groups.emails[index] ?? -1 })),
    [...groups.messageIds].map(([id, group]) => ({ id, threadId: graph.owners.get(id) ?? null, group })),
    ({ id }) =>
      arrival !== undefined && id === arrival.email.id && !ids.includes(arrival.newThreadId)
        ? arrival.newThreadId
        : randomUUID(),
  );
  return { threads, graph, groups, plan };
}

/** Applies the arrangement to the threads. They must have been locked since it was made. */
export async function carryOut(
  trx: Executor,
  accountId: string,
  arrangement: Arrangement,
  arrival: Arrival | null = null,
): Promise<void> {
  const { threads, graph, groups, plan } = arrangement;
  for (const id of plan.made) await makeThread(trx, accountId, id);
  const moved = reasonsOf(arrangement);
  await moveEmails(
    trx,
    moved.map(({ move }) => move),
  );
  await setReasons(
    trx,
    moved
      .filter(({ email }) => !STAYING.has(email.rule))
      .map(({ email, reason }) => ({ id: email.id, ...reason })),
  );
  await moveMessageIds(trx, accountId, plan.messageIds);
  for (const survivor of new Set(plan.merged.map(({ into }) => into))) {
    const ending = plan.merged.filter(({ into }) => into === survivor).map(({ id }) => id);
    await absorbThreads(trx, survivor, ending);
  }
  const left = labelsOfLeft(arrangement);
  if (left.size > 0) await labelMessageIds(trx, accountId, left);
  await relinkCustomers(trx, [...new Set([...threads.map(({ id }) => id), ...plan.threadOf.values()])]);
  const emails = [...graph.emails.map(({ id }) => id), ...(arrival === null ? [] : [arrival.email.id])];
  const { written } = namesOf(graph);
  const refused = groups.refused.map((link) => ({ ...link, messageId: idOfPoint(written(link.messageId)) }));
  await storeRefused(trx, emails, refused);
  if (groups.areKeptApart) {
    await formCluster(trx, [...plan.threadOf.values()], threads);
  }
}

/**
 * New labels for Message-IDs that were kept apart together with emails that are gone. They stay in their thread, or go along where the
 * thread ends: the emails there are the last evidence of them, so from now on they belong together.
 */
function labelsOfLeft({ graph, groups, plan }: Arrangement): ReadonlyMap<string, string> {
  const left = [...groups.messageIds].flatMap(([id, group]) => {
    const owner = graph.owners.get(id) ?? null;
    return owner === null || plan.threadOf.has(group) ? [] : [{ id, owner }];
  });
  const given = new Map<string, string>();
  if (left.length === 0) return given;
  const labels = new Map<number | undefined, string>();
  for (const [index, { label }] of graph.emails.entries())
    if (label !== null) labels.set(groups.emails[index], label);
  for (const [id, group] of groups.messageIds) {
    const label = graph.messageIds.get(id) ?? null;
    if (label !== null) labels.set(group, label);
  }
  const groupOf = new Map([...plan.threadOf].map(([group, threadId]) => [threadId, group]));
  const into = new Map(plan.merged.map((merged) => [merged.id, merged.into]));
  for (const { id, owner } of left) {
    const group = groupOf.get(into.get(owner) ?? owner);
    if (group === undefined) continue;
    const label = labels.get(group) ?? randomUUID();
    if (!labels.has(group)) {
      labels.set(group, label);
      const beside = [...groups.messageIds].find(([, other]) => other === group);
      if (beside !== undefined) given.set(beside[0], label);
    }
    given.set(id, label);
  }
  return given;
}

/** Stores the refused links of these emails; links that were refused before keep their time. */
async function storeRefused(
  trx: Executor,
  emailIds: readonly string[],
  refused: Groups['refused'],
): Promise<void> {
  const ids = refused.map(({ emailId }) => emailId);
  const names = refused.map(({ messageId }) => messageId);
  await run(trx, STORE_REFUSED, { ids, names, emailIds });
}

export interface MovedEmail {
  readonly email: StoredEmail;
  readonly move: Move;
  readonly reason: Reason;
}

/** The recorded emails that are to move, and the reasons. */
export function reasonsOf({ graph, groups, plan }: Arrangement): readonly MovedEmail[] {
  const moves = new Map(plan.emails.map((move) => [move.id, move]));
  const { written } = namesOf(graph);
  return graph.emails.flatMap((email, index) => {
    const move = moves.get(email.id);
    if (move === undefined) return [];
    const nodes = (id: string) => graph.nodesOf(id, email);
    const own = email.messageIds.map((name) => idOfPoint(written(name)));
    const reason = whyMoved(
      { ...email, messageIds: [...new Set(own)] },
      (id) => nodes(id).some((name) => groups.messageIds.get(name) === groups.emails[index]),
      (id) => nodes(id).some((name) => graph.owners.get(name) !== email.threadId),
    );
    return [{ email, move, reason }];
  });
}

/** Rules that stay valid: decisions of people, and ties by subject. */
const STAYING: ReadonlySet<string> = new Set(['thread_id', 'decision', 'subject']);

/** From now on mail that leads to several of the threads is weighed with all of them. */
async function formCluster(
  trx: Executor,
  threadIds: readonly string[],
  known: readonly ThreadRow[],
): Promise<void> {
  const ids = [...threadIds, ...known.map(({ id }) => id)];
  const cluster = known.find((thread) => thread.cluster_id !== null)?.cluster_id ?? randomUUID();
  await joinCluster(trx, ids, [], cluster);
}

const STORE_REFUSED = statement(
  'store-refused-links',
  `with now_refused as materialized (
      select distinct email_id, message_id from unnest($ids::uuid[], $names::text[]) as n (email_id, message_id)
    ), gone as (
      delete from refused_links
      where email_id = any($emailIds::uuid[])
        and (email_id, message_id) not in (select email_id, message_id from now_refused)
    )
    insert into refused_links (email_id, message_id)
    select email_id, message_id from now_refused
    on conflict do nothing`,
);
