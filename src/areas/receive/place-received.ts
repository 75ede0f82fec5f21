/**
 * Places received emails that are recorded at the same moment into their threads, in one transaction: the counterpart of link-thread.ts for
 * many emails. A transaction locks threads before it writes Message-IDs, and both in one order, so that two transactions never wait for
 * each other in a circle.
 */
import type { AutomaticKind } from '../../core/delivery/automatic.ts';
import type { ThreadStatus } from '../../core/thread/thread-work.ts';
import type { InboundRecord } from './inbound-ports.ts';
import { isTelling } from '../../core/message/message-id.ts';
import { pointOf } from '../../core/thread/meeting-points.ts';
import {
  nodesOfArrivals,
  ownerKey,
  placeTogether,
  type KnownNodes,
  type TogetherPlacement,
} from '../../core/thread/place-together.ts';
import { jsonRows, type JsonOf } from '../../platform/db/json.ts';
import { statement, type RowOf } from '../../platform/db/statement.ts';
import { LOCK_THREADS, makeThreads, NO_CUSTOMER } from '../emails/thread-rows.ts';
import { isKnownAs, isWaitingFor, tieNodes, type Tie } from '../threads/message-ids.ts';

/** These records can't be written together with the others: roll back, and record them alone. */
export class Unfit extends Error {
  readonly records: ReadonlySet<InboundRecord>;

  constructor(records: Iterable<InboundRecord>) {
    super('some of the emails have to be recorded alone');
    this.records = new Set(records);
  }
}

interface MadeThread {
  readonly accountId: string;
  /** `done` for a thread that begins with NO_WORK. */
  readonly status: ThreadStatus;
}

/** Kinds of mail that begin no work: statistics of other servers, and receipts. */
const NO_WORK: ReadonlySet<string> = new Set<AutomaticKind>(['report', 'receipt']);

/** The planned places of emails, for the later check. */
export interface Placed {
  /** In the order of the records. */
  readonly places: readonly TogetherPlacement[];
  /** What each of them is tied to; then it is in the email's thread, unless another transaction was faster. */
  readonly nodes: readonly (readonly string[])[];
  readonly named: readonly NamedId[];
  readonly keptApart: ReadonlySet<string>;
  /** Threads that do not exist yet. */
  readonly made: ReadonlyMap<string, MadeThread>;
  /** Threads that exist. */
  readonly known: ReadonlySet<string>;
  /** Message-IDs and meeting points that no thread has yet, and their thread; null for a Message-ID that is only named. */
  readonly unknown: readonly Tie[];
}

/** Throws Unfit. @param rows the result of OWNERS for `all` */
export function placeReceived(
  records: readonly InboundRecord[],
  all: readonly NamedId[],
  rows: readonly OwnerJson[],
): Placed {
  const named = namedIdsOf(records);
  const found = toKnownNodes(all, rows);
  const { owners, waiting } = found;
  const keptApart = new Set(rows.flatMap((row) => (row.is_kept_apart ? row.thread_id : [])));
  const placed = placeTogether(records, found, keptApart);
  requireFit(records, (_, index) => placed[index] !== null);
  const places = placed.filter((place) => place !== null);
  const nodes = nodesOfArrivals(records, owners);
  const known = new Set([...waiting.values()].flat());
  for (const [index, { accountId }] of records.entries()) {
    for (const name of nodes[index] ?? []) {
      const owner = owners.get(ownerKey(accountId, name));
      if (owner !== undefined) known.add(owner);
    }
  }
  const made = new Map<string, MadeThread>();
  const untied = new Map<string, Tie>();
  for (const [index, { accountId, links, automatic }] of records.entries()) {
    const threadId = places[index]?.threadId;
    if (threadId === undefined) throw new RangeError(`no place for record ${index}`);
    if (!known.has(threadId)) {
      const isWork = made.get(threadId)?.status === 'open' || !NO_WORK.has(automatic?.kind ?? '');
      made.set(threadId, { accountId, status: isWork ? 'open' : 'done' });
    }
    const tied = (nodes[index] ?? []).map((name) => [name, threadId] as const);
    const onlyNamed = links.map(({ messageId }) => [messageId, null] as const);
    for (const [name, thread] of [...onlyNamed, ...tied]) {
      const key = ownerKey(accountId, name);
      if (owners.has(key) || (thread === null && untied.has(key))) continue;
      untied.set(key, { accountId, messageId: name, threadId: thread });
    }
  }
  return { places, nodes, named, keptApart, made, known, unknown: [...untied.values()] };
}

/** A missing thread is locked, or ended and lives on in another. Throws Unfit. @param rows the result of ENTER */
export function requireEntered(
  records: readonly InboundRecord[],
  { places }: Placed,
  rows: readonly RowOf<typeof ENTER>[],
): void {
  const there = new Set(rows.map(({ id }) => id));
  requireFit(records, (_, index) => there.has(places[index]?.threadId ?? ''));
}

/**
 * Another email may have taken some of the Message-IDs at this moment, or made them known, or may have made its thread one that is kept apart,
 * or an operator may have moved them. Throws Unfit.
 *
 * @param rows the result of OWNERS after ENTER
 */
export function requirePlaced(
  records: readonly InboundRecord[],
  { places, nodes, named, keptApart }: Placed,
  rows: readonly OwnerJson[],
): void {
  const { owners, waiting } = toKnownNodes(named, rows);
  const now = nodesOfArrivals(records, owners);
  const parted = new Set(rows.flatMap((row) => (row.is_kept_apart ? row.thread_id : [])));
  requireFit(records, ({ accountId, links }, index) => {
    const threadId = places[index]?.threadId ?? '';
    const tied = now[index] ?? [];
    return (
      tied.join() === nodes[index]?.join() &&
      tied.every((name) => owners.get(ownerKey(accountId, name)) === threadId) &&
      links.every(({ messageId }) =>
        (waiting.get(ownerKey(accountId, messageId)) ?? []).every((one) => one === threadId),
      ) &&
      (!parted.has(threadId) || keptApart.has(threadId))
    );
  });
}

/** Throws Unfit with the records that `isFit` refuses. */
export function requireFit(
  records: readonly InboundRecord[],
  isFit: (record: InboundRecord, index: number) => boolean,
): void {
  const unfit = records.filter((record, index) => !isFit(record, index));
  if (unfit.length > 0) throw new Unfit(unfit);
}

export interface NamedId {
  readonly key: string;
  readonly accountId: string;
  /** Or a meeting point. */
  readonly messageId: string;
  /** One of the emails makes the Message-ID known. */
  readonly isBorne: boolean;
}

/** The named Message-IDs and the points where the emails may meet others, each once. */
export function namedIdsOf(records: readonly InboundRecord[]): readonly NamedId[] {
  const named = new Map<string, NamedId>();
  const add = (accountId: string, messageId: string, isBorne: boolean) => {
    const key = ownerKey(accountId, messageId);
    if (isBorne || !named.has(key)) named.set(key, { key, accountId, messageId, isBorne });
  };
  for (const { accountId, links, meetingKeys } of records) {
    for (const { rule, messageId } of links) {
      const isBorne = rule === 'message_id' && isTelling(messageId);
      add(accountId, messageId, isBorne);
      if (!isBorne) for (const key of meetingKeys) add(accountId, pointOf(messageId, key), false);
    }
  }
  return [...named.values()];
}

/**
 * The threads of the known ones, and those of the points that wait for the Message-IDs that are borne; `ordinal`, from 1, identifies the
 * Message-ID or point. The parameters are ownersValues.
 */
export const OWNERS = jsonRows(
  'owners-json',
  `select n.ordinal, m.thread_id, t.cluster_id is not null as is_kept_apart, false as is_waiting
  from unnest($namedAccounts::text[], $namedIds::text[]) with ordinality n (account_id, message_id, ordinal)
  join thread_message_ids m on m.account_id = n.account_id and ${isKnownAs('m', 'n')}
  join email_threads t on t.id = m.thread_id
  union all
  select n.ordinal, m.thread_id, t.cluster_id is not null, true
  from unnest($namedAccounts::text[], $namedIds::text[], $namedBorne::boolean[]) with ordinality
    n (account_id, message_id, is_borne, ordinal)
  join thread_message_ids m on n.is_borne and m.account_id = n.account_id and ${isWaitingFor('m', 'n')}
  join email_threads t on t.id = m.thread_id`,
).narrow<{ ordinal: number; thread_id: string; is_kept_apart: boolean; is_waiting: boolean }>();
export type OwnerJson = JsonOf<typeof OWNERS>;

export const ownersValues = (named: readonly NamedId[]) => ({
  namedAccounts: named.map(({ accountId }) => accountId),
  namedIds: named.map(({ messageId }) => messageId),
  namedBorne: named.map(({ isBorne }) => isBorne),
});

/** @param rows the result of OWNERS */
function toKnownNodes(named: readonly NamedId[], rows: readonly OwnerJson[]): KnownNodes {
  const owners = new Map<string, string>();
  const waiting = new Map<string, string[]>();
  for (const { ordinal, thread_id: threadId, is_waiting: isWaiting } of rows) {
    const key = named[ordinal - 1]?.key;
    if (key === undefined) continue;
    if (isWaiting) waiting.set(key, [...(waiting.get(key) ?? []), threadId]);
    else owners.set(key, threadId);
  }
  return { owners, waiting };
}

export const enterValues = ({ made, known, unknown }: Placed) => ({
  madeIds: [...made.keys()],
  madeAccounts: [...made.values()].map(({ accountId }) => accountId),
  madeStatuses: [...made.values()].map(({ status }) => status),
  knownIds: [...known],
  unknownAccounts: unknown.map(({ accountId }) => accountId),
  unknownIds: unknown.map(({ messageId }) => messageId),
  unknownThreads: unknown.map(({ threadId }) => threadId),
});

/**
 * Creates the new threads and locks the others: the customer of a thread does not change before the emails are in it. Does not wait for
 * threads that another transaction has locked. Then ties the Message-IDs that were unknown. Its parameters are enterValues; requireEntered
 * and requirePlaced check its success.
 */
export const ENTER = statement(
  'enter-threads',
  `with made as (
    ${makeThreads(`select id, account_id, ${NO_CUSTOMER}, status
      from unnest($madeIds::uuid[], $madeAccounts::text[], $madeStatuses::text[]) as n (id, account_id, status)`)}
  ), locked as materialized (
    select t.id from email_threads t where t.id = any ($knownIds::uuid[])
    order by t.id ${LOCK_THREADS} skip locked
  ), entered as materialized (
    select id from made union all select id from locked
  ), tied as (
    ${tieNodes(`
      select n.account_id, n.message_id, n.thread_id
      from unnest($unknownAccounts::text[], $unknownIds::text[], $unknownThreads::uuid[])
        n (account_id, message_id, thread_id)
      where n.thread_id is null or n.thread_id in (select id from entered)`)}
  )
  select id from entered`,
).narrow<{ id: string }>();
