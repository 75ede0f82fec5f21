/**
 * `ThreadDecisions` on PostgreSQL: see docs/decisions/0007-thread-decisions.md. Each decision holds the account's lock for merging and
 * locks the threads that it concerns, so that no email is linked to them meanwhile.
 */
import type { Pool } from 'pg';
import type {
  DecisionIds,
  DecisionResult,
  MergeRequest,
  MoveRequest,
  SplitRequest,
  ThreadDecisions,
} from './thread-decisions.ts';
import { ServiceError } from '../../core/errors.ts';
import { moveMessageIdsAlong, threadsOfLabelled } from '../../core/thread/decide.ts';
import { freezeThreads, type Freeze } from './freeze-threads.ts';
import { makeThread, readClusters, resolveThread } from '../emails/thread-rows.ts';
import { inheritCustomer } from '../customers/customer-links.ts';
import { lockLinks } from './link-thread.ts';
import { resolveEmails } from '../emails/email-aliases.ts';
import { moveMessageIds } from './message-ids.ts';
import { nameAuthor } from '../../platform/db/name-author.ts';
import { DryRunEnd, withDryRun } from '../../platform/db/dry-run.ts';
import { inLinkingTransaction } from '../../platform/db/linking-transaction.ts';
import { absorbThreads } from './move-threads.ts';
import { moveEmails, setDecided, renewParties } from './place-emails.ts';
import { relinkCustomers } from '../customers/relink-customers.ts';
import { carryOut, weighThreads } from './arrange-threads.ts';
import { readThreadGraph } from './thread-graph.ts';
import { inheritWork } from './thread-work.ts';
import { run, runCounting, statement, type Executor, type RowOf } from '../../platform/db/statement.ts';

export function createThreadDecisions(pool: Pool): ThreadDecisions {
  const decide =
    <Request extends { readonly authorKeyId?: string | null; readonly dryRun?: boolean }>(
      work: (trx: Executor, request: Request, ids: DecisionIds) => Promise<DecisionResult>,
    ) =>
    (request: Request, ids: DecisionIds) =>
      withDryRun(
        inLinkingTransaction(pool, async (trx): Promise<DecisionResult> => {
          await nameAuthor(trx, request.authorKeyId);
          const result = await work(trx, request, ids);
          if (request.dryRun === true) throw new DryRunEnd({ ...result, decision: null });
          return result;
        }),
      );
  return {
    split: decide(split),
    merge: decide(merge),
    move: decide(move),
  };
}

async function split(
  trx: Executor,
  { threadId, emailIds, reason }: SplitRequest,
  { decisionId, newThreadId }: DecisionIds,
): Promise<DecisionResult> {
  const thread = await lockAccountOf(trx, threadId);
  const emails = await readEmails(trx, thread.accountId, emailIds);
  if (emails.some((email) => email.thread_id !== thread.id)) {
    const earlier = await findSplit(trx, thread.id, emails);
    if (earlier === null) throw new ServiceError('email_not_in_thread');
    return earlier;
  }
  await readClusters(trx, [thread.id], true);
  if ((await countEmails(trx, thread.id)) === emails.length) throw new ServiceError('thread_would_be_empty');
  await makeThread(trx, thread.accountId, newThreadId);
  await carryOver(trx, thread.accountId, emails, newThreadId, {
    accountId: thread.accountId,
    decisionId,
    threadIds: [thread.id],
    heirs: new Map([[thread.id, [thread.id, newThreadId]]]),
    apart: [[thread.id, newThreadId]],
  });
  await inheritCustomer(trx, thread.id, newThreadId);
  await inheritWork(trx, thread.id, newThreadId);
  await arrangeDecided(trx, thread.accountId, [thread.id, newThreadId]);
  const decidedAt = await store(trx, {
    id: decisionId,
    kind: 'split',
    thread,
    other: newThreadId,
    emails,
    reason,
  });
  return { threadId: newThreadId, changed: true, decision: { id: decisionId, decidedAt } };
}

async function move(
  trx: Executor,
  { threadId, emailIds, reason }: MoveRequest,
  { decisionId }: DecisionIds,
): Promise<DecisionResult> {
  const thread = await lockAccountOf(trx, threadId);
  const { accountId } = thread;
  const named = await readEmails(trx, accountId, emailIds);
  const emails = named.filter((email) => email.thread_id !== thread.id);
  if (emails.length === 0) {
    return { threadId: thread.id, changed: false, decision: await findMove(trx, thread.id, named) };
  }
  const sources = [...new Set(emails.map((email) => email.thread_id))];
  await readClusters(trx, [thread.id, ...sources], true);
  const left: string[] = [];
  const emptied: string[] = [];
  for (const source of sources) {
    const leaving = emails.filter((email) => email.thread_id === source).length;
    if ((await countEmails(trx, source)) > leaving) left.push(source);
    else emptied.push(source);
  }
  await carryOver(trx, accountId, emails, thread.id, {
    accountId,
    decisionId,
    threadIds: [thread.id, ...sources],
    // A thread that is emptied continues in this one, with the threads that it is kept apart from.
    heirs: new Map(emptied.map((id) => [id, [thread.id]])),
    apart: left.map((id) => [thread.id, id] as const),
  });
  await absorbThreads(trx, thread.id, emptied);
  await arrangeDecided(trx, accountId, [thread.id, ...left]);
  const decidedAt = await store(trx, { id: decisionId, kind: 'move', thread, other: null, emails, reason });
  return { threadId: thread.id, changed: true, decision: { id: decisionId, decidedAt } };
}

async function merge(
  trx: Executor,
  { threadId, otherThreadId, reason }: MergeRequest,
  { decisionId }: DecisionIds,
): Promise<DecisionResult> {
  const thread = await lockAccountOf(trx, threadId);
  const other = await findThread(trx, otherThreadId);
  if (other.accountId !== thread.accountId) throw new ServiceError('different_accounts');
  if (other.id === thread.id) {
    return { threadId: thread.id, changed: false, decision: await findMerge(trx, threadId, otherThreadId) };
  }
  await readClusters(trx, [thread.id, other.id], true);
  const graph = await readThreadGraph(trx, thread.accountId, [thread.id, other.id]);
  const threadsOfIds = new Map([...graph.owners.keys()].map((id) => [id, thread.id]));
  await freezeThreads(trx, {
    accountId: thread.accountId,
    decisionId,
    threadIds: [thread.id, other.id],
    heirs: new Map([[other.id, [thread.id]]]),
    apart: [],
    threadsOfIds,
    threadsOfEmails: threadsOfLabelled(graph.emails, new Set(), threadsOfIds, () => thread.id),
  });
  await absorbThreads(trx, thread.id, [other.id]);
  await arrangeDecided(trx, thread.accountId, [thread.id]);
  const decidedAt = await store(trx, {
    id: decisionId,
    kind: 'merge',
    thread,
    other: other.id,
    emails: [],
    reason,
  });
  return { threadId: thread.id, changed: true, decision: { id: decisionId, decidedAt } };
}

/** An email that is moved takes along those that were put beside it, and the thread that they leave may get another party. */
const MAX_ROUNDS = 5;

/**
 * Sets the customers of the threads, also for later mail: each belongs to the first customer that one of its sends names. Threads that mail
 * could not join because of another party may be joined now.
 */
async function arrangeDecided(trx: Executor, accountId: string, threadIds: readonly string[]): Promise<void> {
  await relinkCustomers(trx, threadIds);
  let concerned = threadIds;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const changed = await renewParties(trx, concerned);
    if (round > 0 && changed === 0) return;
    const arrangement = await weighThreads(trx, accountId, concerned, { lock: true });
    const { threads, plan } = arrangement;
    if (threads.every((thread) => thread.cluster_id === null)) return;
    await carryOut(trx, accountId, arrangement);
    concerned = [...new Set([...threads.map(({ id }) => id), ...plan.threadOf.values()])];
  }
}

interface ThreadRef {
  readonly id: string;
  readonly accountId: string;
}

type EmailRef = Pick<RowOf<typeof READ_EMAILS>, 'id' | 'thread_id'>;

/** Throws `thread_not_found`. */
async function findThread(trx: Executor, id: string): Promise<ThreadRef> {
  const [row] = await run(trx, FIND_THREAD, { id: await resolveThread(trx, id) });
  if (row === undefined) throw new ServiceError('thread_not_found');
  return { id: row.id, accountId: row.account_id };
}

/** Which thread the identifier leads to may change until the lock is taken; its account never does. */
async function lockAccountOf(trx: Executor, threadId: string): Promise<ThreadRef> {
  const { accountId } = await findThread(trx, threadId);
  await lockLinks(trx, accountId);
  return await findThread(trx, threadId);
}

/** In the order of their identifiers. Throws `email_not_found`, `different_accounts`. */
async function readEmails(
  trx: Executor,
  accountId: string,
  given: readonly string[],
): Promise<readonly EmailRef[]> {
  const ids = await resolveEmails(trx, given);
  const rows = await run(trx, READ_EMAILS, { ids });
  if (rows.length < ids.length) throw new ServiceError('email_not_found');
  if (rows.some((row) => row.account_id !== accountId)) throw new ServiceError('different_accounts');
  return rows;
}

async function countEmails(trx: Executor, threadId: string): Promise<number> {
  const [row] = await run(trx, COUNT_EMAILS, { threadId });
  return Number(row?.count ?? 0);
}

/** Moves the emails with their Message-IDs, and fixes the place of everything in the threads. */
async function carryOver(
  trx: Executor,
  accountId: string,
  emails: readonly EmailRef[],
  target: string,
  freeze: Omit<Freeze, 'threadsOfIds' | 'threadsOfEmails'>,
): Promise<void> {
  const graph = await readThreadGraph(trx, accountId, freeze.threadIds);
  const leaving = new Set(emails.map(({ id }) => id));
  const threadsOfIds = moveMessageIdsAlong(graph.emails, graph.owners, leaving, target);
  // Before the emails move: the labels of the threads are found by the emails in them.
  await freezeThreads(trx, {
    ...freeze,
    threadsOfIds,
    threadsOfEmails: threadsOfLabelled(graph.emails, leaving, threadsOfIds, ({ id, threadId }) =>
      leaving.has(id) ? target : threadId,
    ),
  });
  await moveEmails(
    trx,
    emails.map(({ id, thread_id }) => ({ id, from: thread_id, to: target })),
  );
  await setDecided(
    trx,
    emails.map(({ id }) => id),
  );
  const moves = [...threadsOfIds].flatMap(([id, to]) => {
    const from = graph.owners.get(id) ?? null;
    return from === null || from === to ? [] : [{ id, from, to }];
  });
  await moveMessageIds(trx, accountId, moves);
}

interface NewDecision {
  readonly id: string;
  readonly kind: 'split' | 'merge' | 'move';
  readonly thread: ThreadRef;
  readonly other: string | null;
  readonly emails: readonly EmailRef[];
  readonly reason: string | null;
}

async function store(trx: Executor, decision: NewDecision): Promise<Date> {
  const [row] = await run(trx, STORE_DECISION, {
    id: decision.id,
    accountId: decision.thread.accountId,
    kind: decision.kind,
    threadId: decision.thread.id,
    otherThreadId: decision.other,
    emailIds: decision.emails.map(({ id }) => id),
    fromThreadIds: decision.emails.map(({ thread_id }) => thread_id),
    reason: decision.reason,
  });
  if (row === undefined) throw new Error('an insert returns its row');
  return row.decided_at;
}

/** An earlier identical split, if the emails are still where it put them. */
async function findSplit(
  trx: Executor,
  threadId: string,
  emails: readonly EmailRef[],
): Promise<DecisionResult | null> {
  const [first] = emails;
  if (first === undefined || emails.some((email) => email.thread_id !== first.thread_id)) return null;
  const rows = await run(trx, FIND_SPLIT, {
    emailIds: emails.map(({ id }) => id),
    threadId,
    otherThreadId: first.thread_id,
  });
  const [row] = rows;
  return row === undefined
    ? null
    : { threadId: first.thread_id, changed: false, decision: { id: row.id, decidedAt: row.decided_at } };
}

/** The newest move of all the emails into the thread. */
async function findMove(
  trx: Executor,
  threadId: string,
  emails: readonly EmailRef[],
): Promise<DecisionResult['decision']> {
  const rows = await run(trx, FIND_MOVE, { emailIds: emails.map(({ id }) => id), threadId });
  const [row] = rows;
  return row === undefined ? null : { id: row.id, decidedAt: row.decided_at };
}

/** The newest merge of these two threads by a person, by the identifiers of the request. */
async function findMerge(
  trx: Executor,
  threadId: string,
  otherThreadId: string,
): Promise<DecisionResult['decision']> {
  const [row] = await run(trx, FIND_MERGE, { threadId, otherThreadId });
  return row === undefined ? null : { id: row.id, decidedAt: row.decided_at };
}

const FIND_SPLIT = statement(
  'find-split',
  `select d.id, d.decided_at
    from thread_decisions d
    left join thread_aliases a on a.id = d.thread_id left join thread_aliases o on o.id = d.other_thread_id
    where d.kind = 'split' and d.email_ids = $emailIds::uuid[]
      and coalesce(a.thread_id, d.thread_id) = $threadId
      and coalesce(o.thread_id, d.other_thread_id) = $otherThreadId
    order by d.decided_at desc, d.id desc limit 1`,
);

const FIND_MOVE = statement(
  'find-move',
  `select d.id, d.decided_at
    from thread_decisions d left join thread_aliases a on a.id = d.thread_id
    where d.kind = 'move' and d.email_ids @> $emailIds::uuid[]
      and coalesce(a.thread_id, d.thread_id) = $threadId
    order by d.decided_at desc, d.id desc limit 1`,
);

const FIND_THREAD = statement('find-thread', 'select id, account_id from email_threads where id = $id');

const READ_EMAILS = statement(
  'emails-of-decision',
  'select id, thread_id, account_id from emails where id = any ($ids::uuid[]) order by id',
);

const COUNT_EMAILS = statement(
  'count-emails-of-thread',
  'select count(*) as count from emails where thread_id = $threadId',
);

const STORE_DECISION = statement(
  'store-decision',
  `insert into thread_decisions
    (id, account_id, kind, thread_id, other_thread_id, email_ids, from_thread_ids, reason)
  values ($id, $accountId, $kind, $threadId, $otherThreadId, $emailIds, $fromThreadIds, $reason)
  returning decided_at`,
);

const FIND_MERGE = statement(
  'find-merge',
  `select id, decided_at from thread_decisions
  where kind = 'merge' and thread_id = $threadId and other_thread_id = $otherThreadId
  order by decided_at desc limit 1`,
);

/** Deletes the decisions about a deleted thread alone. */
export async function forgetDecisions(executor: Executor, threadId: string): Promise<void> {
  await run(executor, FORGET_DECISIONS, { threadId });
}

const FORGET_DECISIONS = statement(
  'forget-thread-decisions',
  'delete from thread_decisions where thread_id = $threadId or other_thread_id = $threadId',
);

/** Erases reasons whose text names an address; @param pattern see addressPattern. Returns their number. */
export function forgetReasonsNaming(executor: Executor, pattern: string): Promise<number> {
  return runCounting(executor, FORGET_NAMING, { pattern });
}

const FORGET_NAMING = statement(
  'forget-decision-reasons-naming',
  'update thread_decisions set reason = null where lower(reason) ~ $pattern',
);
