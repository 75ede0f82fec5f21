/**
 * Ties the Message-IDs of an email that answers another one to its thread, and merges threads that turn out to be one conversation (the
 * linking steps of RFC 5256 §3's REFERENCES algorithm).
 *
 * Nearly every email joins one thread, so this is first tried without a lock. If its Message-IDs turn out to be in other threads too,
 * perhaps because another email claimed them at this moment, the transaction is restarted as an exclusive one: exclusive transactions of an
 * account run one after the other, and only they merge. An exclusive one locks threads before it writes Message-IDs, so that it never waits
 * for a transaction that waits for it.
 *
 * Where threads are kept apart, by decisions or because sends named them for different customers, all links of all of them are weighed anew
 * (arrange-threads.ts).
 */
import type { ThreadStatus } from '../../core/thread/thread-work.ts';
import { LinkConflict } from '../../platform/db/linking-transaction.ts';
import { makeAlias, openThread, readClusters, resolveThread } from '../emails/thread-rows.ts';
import { madeKnownBy, nodesOf } from '../../core/thread/meeting-points.ts';
import { readThreads, tieToThreads, type KnownThreads } from './message-ids.ts';
import { absorbThreads } from './move-threads.ts';
import { arrangeThreads } from './arrange-threads.ts';
import type { Newcomer } from './thread-graph.ts';
import { relinkCustomers } from '../customers/relink-customers.ts';
import { run, statement, type Executor } from '../../platform/db/statement.ts';

export interface LinkRequest {
  readonly accountId: string;
  /** The requested thread of the email; created when it does not exist. */
  readonly threadId: string;
  /** The status of a thread that is created. Default: `open`. */
  readonly status?: ThreadStatus;
  /** The email, which is not recorded yet, or another Message-ID of a recorded one. */
  readonly email: Omit<Newcomer, 'partyId'>;
  /** The customer that its send named; null for none. */
  readonly customer: NamedCustomer | null;
  /** Recorded emails that are tied to this one, other than those that it names. */
  readonly answeredBy?: readonly Answer[];
  /** False when a caller or a decision chose the thread: then Message-IDs of other threads stay where they are. */
  readonly mayMerge: boolean;
  /** True on the tries after a `LinkConflict`. */
  readonly exclusive: boolean;
}

/** An email that names this one. */
export interface Answer {
  readonly messageId: string;
  readonly meetingKeys: readonly string[];
}

export interface NamedCustomer {
  readonly id: string;
  /**
   * True if the caller put the email into a thread, or answered an email of one: the new email belongs to that thread's party, whichever
   * customer that is. False for an email that begins a thread.
   */
  readonly joinsParty: boolean;
}

export interface Linked {
  /** The thread of the email now: the requested one, the older one that it was merged into, or the one that decisions demand. */
  readonly threadId: string;
  /**
   * The threads of the Message-IDs that the email bears and names, or of the points where it meets others. All the same, except because of
   * decisions and `mayMerge`.
   */
  readonly owners: ReadonlyMap<string, string>;
  /** See LinkedEmail. */
  readonly partyId: string | null;
  /** Another email bears or names one of this email's own Message-IDs. */
  readonly isNamed: boolean;
}

/** Throws LinkConflict. */
export async function linkThread(trx: Executor, request: LinkRequest): Promise<Linked> {
  const { accountId, email, exclusive, mayMerge } = request;
  if (exclusive) await lockLinks(trx, accountId);
  const requested = exclusive ? await resolveThread(trx, request.threadId) : request.threadId;
  const arrangement =
    exclusive && mayMerge
      ? await placeExclusively(trx, { ...request, threadId: requested })
      : { threadId: requested, ownerOf: null };
  const threadId = await enterThread(trx, arrangement.threadId, accountId, request.status);
  const before = await readTies(trx, request);
  const untied = before.nodes.filter((name) => !before.owners.has(name));
  const fresh = await tieToThreads(trx, [
    ...untied.map((messageId) => ({ accountId, messageId, threadId })),
    ...before.unknown.map((messageId) => ({ accountId, messageId, threadId: null })),
  ]);
  // Where all of them had no row, no other email has or names them: they are where this one put them.
  const areAllFresh = fresh.size === untied.length + before.unknown.length;
  const after = areAllFresh ? before.tiedTo(untied, threadId) : await readTies(trx, request);
  const isNamed = email.messageIds.flatMap(after.nodesOf).some((name) => !fresh.has(name));
  // One of them became known at this moment, or was forgotten: points were tied that nothing holds in this thread.
  if (after.nodes.join() !== before.nodes.join()) throw new LinkConflict();
  if (mayMerge) {
    for (const [name, owner] of [
      ...after.nodes.map((one) => [one, after.owners.get(one)] as const),
      ...after.waiting,
    ]) {
      if (owner !== (arrangement.ownerOf?.(name) ?? threadId)) throw new LinkConflict();
    }
    // Links to an existing email count for more than links to one that was only named, and replies that waited have a new link.
    const changesLinks = isNamed || (request.answeredBy ?? []).length > 0;
    if (changesLinks && !exclusive && (await isKeptApart(trx, threadId))) throw new LinkConflict();
  }
  return { threadId, owners: after.byId, partyId: await readParty(trx, request.customer, threadId), isNamed };
}

/** What an email is tied to. */
interface Ties extends KnownThreads {
  /** Known Message-IDs, those that it makes known, and meeting points. */
  readonly nodes: readonly string[];
  /** Message-IDs that are only named. */
  readonly unknown: readonly string[];
  nodesOf(messageId: string): readonly string[];
  /** The same, once these are in the thread. */
  tiedTo(names: readonly string[], threadId: string): Ties;
  /** The threads of the Message-IDs that it bears and names, or of their points. */
  readonly byId: ReadonlyMap<string, string>;
}

type Tied = Pick<LinkRequest, 'accountId' | 'answeredBy'> & {
  readonly email: Pick<Newcomer, 'messageIds' | 'links' | 'meetingKeys' | 'isSend'>;
};

export async function readTies(trx: Executor, { accountId, email, answeredBy = [] }: Tied): Promise<Ties> {
  const { messageIds, links, meetingKeys } = email;
  const named = [...new Set([...messageIds, ...links])].map((messageId) => ({ messageId, meetingKeys }));
  // An answer is tied to this email too, by points of its own.
  const answers = answeredBy.flatMap((answer) => [
    answer,
    ...messageIds.map((messageId) => ({ ...answer, messageId })),
  ]);
  const all = [...named, ...answers];
  const borne = madeKnownBy(email);
  const names = new Set(
    all.flatMap((one) => [one.messageId, ...nodesOf(one.messageId, one.meetingKeys, NEVER)]),
  );
  const threads = await readThreads(trx, accountId, [...names], borne);
  return toTies(threads, all, new Set(borne), meetingKeys);
}

const NEVER = (): boolean => false;

function toTies(
  { owners, waiting }: KnownThreads,
  all: readonly Answer[],
  borne: ReadonlySet<string>,
  meetingKeys: readonly string[],
): Ties {
  const isKnown = (id: string) => owners.has(id) || borne.has(id);
  const placed = all.map(({ messageId, meetingKeys: keys }) => ({
    messageId,
    nodes: nodesOf(messageId, keys, isKnown),
  }));
  const [waitingThread] = waiting.values();
  return {
    owners,
    waiting,
    nodes: [...new Set(placed.flatMap(({ nodes }) => nodes))],
    unknown: [...new Set(all.map(({ messageId }) => messageId))].filter((id) => !isKnown(id)),
    nodesOf: (messageId) => nodesOf(messageId, meetingKeys, isKnown),
    tiedTo(names, threadId) {
      const tied = new Map([...owners, ...names.map((name) => [name, threadId] as const)]);
      return toTies({ owners: tied, waiting }, all, borne, meetingKeys);
    },
    byId: new Map(
      placed.toReversed().flatMap(({ messageId, nodes }): [string, string][] => {
        const owner = nodes.map((name) => owners.get(name)).find((thread) => thread !== undefined);
        const found = owner ?? (borne.has(messageId) ? waitingThread : undefined);
        return found === undefined ? [] : [[messageId, found]];
      }),
    ),
  };
}

/** The party for an email that names a customer; the thread's row is locked, or will be before anything is written. */
async function readParty(
  trx: Executor,
  customer: NamedCustomer | null,
  threadId: string,
): Promise<string | null> {
  if (customer === null || !customer.joinsParty) return customer?.id ?? null;
  const [first] = await run(trx, FIRST_PARTY, { threadId });
  return first?.party_id ?? customer.id;
}

async function isKeptApart(trx: Executor, threadId: string): Promise<boolean> {
  const [row] = await run(trx, CLUSTER_OF, { threadId });
  return row !== undefined && row.cluster_id !== null;
}

/**
 * Creates the thread when it does not exist, and locks its row: until the email is in it, its customer does not change and it does not end.
 * If the thread ended, returns the one that it was merged into. Called before any Message-ID is written, so that a transaction that waits
 * for the thread holds nothing that another one waits for. Throws LinkConflict.
 */
async function enterThread(
  trx: Executor,
  id: string,
  accountId: string,
  status: ThreadStatus | undefined,
): Promise<string> {
  const found = await openThread(trx, id, accountId, status);
  if (found === 'locked') return id;
  // Read after the insert of the row: the insert waits for a transaction that is merging the thread away, and then succeeds.
  const successor = await resolveThread(trx, id);
  if (found === 'made' && successor === id) return id;
  if (found === 'absent' && successor !== id && (await openThread(trx, successor, accountId)) === 'locked') {
    return successor;
  }
  throw new LinkConflict();
}

/** First key of the advisory locks of exclusive transactions; the second is the account. */
const MERGE_LOCK = 0x6d657267;

/** One transaction at a time per account merges threads or takes them apart. Held until the transaction ends. */
export async function lockLinks(trx: Executor, accountId: string): Promise<void> {
  await run(trx, LOCK_LINKS, { accountId });
}

interface Arrangement {
  readonly threadId: string;
  /** The thread in which a Message-ID stays, where threads are kept apart. Null: all are in one thread. */
  readonly ownerOf: ((messageId: string) => string) | null;
}

/**
 * Makes one thread of the requested one and those of the Message-IDs. If threads are kept apart, or would have to be, the links of all of
 * them are weighed anew instead. The requested thread need not exist yet: its identifier was given out, so it becomes an alias if another
 * thread survives.
 */
async function placeExclusively(trx: Executor, request: LinkRequest): Promise<Arrangement> {
  const { accountId, threadId: requested, email, customer } = request;
  const { nodes, owners, waiting } = await readTies(trx, request);
  const known = [...nodes.flatMap((name) => owners.get(name) ?? []), ...waiting.values()];
  const threads = await readClusters(trx, [...new Set([requested, ...known])], true);
  const exists = threads.some(({ id }) => id === requested);
  let arrangement: Arrangement;
  const ids = threads.map(({ id }) => id);
  const partyId = await readParty(trx, customer, requested);
  const parties = await readParties(trx, ids);
  if (partyId !== null) parties.add(partyId);
  if (parties.size > 1 || threads.some((thread) => thread.cluster_id !== null)) {
    const arrival = { email: { ...email, partyId }, newThreadId: requested };
    arrangement = await arrangeThreads(trx, accountId, ids, arrival);
  } else {
    const [survivor, ...merged] = threads.toSorted(
      (a, b) => a.created_at.getTime() - b.created_at.getTime() || (a.id < b.id ? -1 : 1),
    );
    if (survivor !== undefined && merged.length > 0) {
      await absorbThreads(
        trx,
        survivor.id,
        merged.map(({ id }) => id),
      );
      await relinkCustomers(trx, [survivor.id]);
    }
    arrangement = { threadId: survivor?.id ?? requested, ownerOf: null };
  }
  if (!exists && arrangement.threadId !== requested) {
    await makeAlias(trx, requested, arrangement.threadId);
  }
  return arrangement;
}

/** The customers that sends named for the threads. */
async function readParties(trx: Executor, threadIds: readonly string[]): Promise<Set<string>> {
  if (threadIds.length === 0) return new Set();
  const rows = await run(trx, PARTIES_OF, { threadIds });
  return new Set(rows.flatMap(({ party_id }) => party_id ?? []));
}

const LOCK_LINKS = statement(
  'lock-links',
  `select pg_advisory_xact_lock(${MERGE_LOCK}, hashtext($accountId))`,
);

const FIRST_PARTY = statement(
  'first-party-of-thread',
  `select party_id from emails where thread_id = $threadId and party_id is not null order by created_at, id limit 1`,
);

const CLUSTER_OF = statement(
  'cluster-of-thread',
  'select cluster_id from email_threads where id = $threadId',
);

const PARTIES_OF = statement(
  'parties-of-threads',
  'select distinct party_id from emails where thread_id = any ($threadIds::uuid[]) and party_id is not null',
);
