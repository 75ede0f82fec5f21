/**
 * Places received emails that are recorded at the same moment into their threads, in one transaction: the counterpart of link-thread.ts for
 * many emails. A transaction locks threads before it writes Message-IDs, and both in one order, so that two transactions never wait for
 * each other in a circle.
 */
import type { AutomaticKind } from '../../core/delivery/automatic.ts';
import type { ThreadStatus } from '../../core/thread/thread-work.ts';
import type { InboundRecord } from './inbound-ports.ts';
import { ownerKey, placeTogether, type TogetherPlacement } from '../../core/thread/place-together.ts';
import { jsonRows, type JsonOf } from '../../platform/db/json.ts';
import { statement, type RowOf } from '../../platform/db/statement.ts';
import { LOCK_THREADS, makeThreads, NO_CUSTOMER } from '../emails/thread-rows.ts';
import { isKnownAs, tieMessageIds } from '../threads/message-ids.ts';

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
  /** The thread that each Message-ID then has, unless another transaction was faster. */
  readonly named: readonly NamedId[];
  readonly keptApart: ReadonlySet<string>;
  /** Threads that do not exist yet. */
  readonly made: ReadonlyMap<string, MadeThread>;
  /** Threads that exist. */
  readonly known: ReadonlySet<string>;
  /** Message-IDs that no thread has yet, and their thread. */
  readonly unknown: readonly (NamedId & { readonly threadId: string | null })[];
}

/** Throws Unfit. @param rows the result of OWNERS for `all` */
export function placeReceived(
  records: readonly InboundRecord[],
  all: readonly NamedId[],
  rows: readonly OwnerJson[],
): Placed {
  const named = namedIdsOf(records);
  const owners = toOwners(all, rows);
  const keptApart = new Set(rows.flatMap((row) => (row.is_kept_apart ? row.thread_id : [])));
  const found = placeTogether(records, owners, keptApart);
  requireFit(records, (_, index) => found[index] !== null);
  const places = found.filter((place) => place !== null);
  const known = new Set(named.flatMap(({ key }) => owners.get(key) ?? []));
  const made = new Map<string, MadeThread>();
  const threadOf = new Map<string, string>();
  for (const [index, { accountId, links, automatic }] of records.entries()) {
    const threadId = places[index]?.threadId;
    if (threadId === undefined) throw new RangeError(`no place for record ${index}`);
    if (!known.has(threadId)) {
      const isWork = made.get(threadId)?.status === 'open' || !NO_WORK.has(automatic?.kind ?? '');
      made.set(threadId, { accountId, status: isWork ? 'open' : 'done' });
    }
    for (const { messageId } of links) threadOf.set(ownerKey(accountId, messageId), threadId);
  }
  const unknown = named.flatMap((id) =>
    owners.has(id.key) ? [] : { ...id, threadId: threadOf.get(id.key) ?? null },
  );
  return { places, named, keptApart, made, known, unknown };
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
 * Another email may have taken some of the Message-IDs at this moment, or may have made its thread one that is kept apart, or an operator
 * may have moved them. Throws Unfit.
 *
 * @param rows the result of OWNERS after ENTER
 */
export function requirePlaced(
  records: readonly InboundRecord[],
  { places, named, keptApart }: Placed,
  rows: readonly OwnerJson[],
): void {
  const owners = toOwners(named, rows);
  const parted = new Set(rows.flatMap((row) => (row.is_kept_apart ? row.thread_id : [])));
  requireFit(records, ({ accountId, links }, index) => {
    const threadId = places[index]?.threadId ?? '';
    return (
      links.every(({ messageId }) => owners.get(ownerKey(accountId, messageId)) === threadId) &&
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
  readonly messageId: string;
}

/** The named Message-IDs, each once. */
export function namedIdsOf(records: readonly InboundRecord[]): readonly NamedId[] {
  const named = new Map<string, NamedId>();
  for (const { accountId, links } of records) {
    for (const { messageId } of links) {
      const key = ownerKey(accountId, messageId);
      named.set(key, { key, accountId, messageId });
    }
  }
  return [...named.values()];
}

/** The threads of the known Message-IDs; `ordinal`, from 1, identifies the Message-ID. The parameters are ownersValues. */
export const OWNERS = jsonRows(
  'owners-json',
  `select n.ordinal, m.thread_id, t.cluster_id is not null as is_kept_apart
  from unnest($namedAccounts::text[], $namedIds::text[]) with ordinality n (account_id, message_id, ordinal)
  join thread_message_ids m on m.account_id = n.account_id and ${isKnownAs('m', 'n')}
  join email_threads t on t.id = m.thread_id`,
).narrow<{ ordinal: number; is_kept_apart: boolean }>();
export type OwnerJson = JsonOf<typeof OWNERS>;

export const ownersValues = (named: readonly NamedId[]) => ({
  namedAccounts: named.map(({ accountId }) => accountId),
  namedIds: named.map(({ messageId }) => messageId),
});

/** Owners by ownerKey. @param rows the result of OWNERS */
function toOwners(named: readonly NamedId[], rows: readonly OwnerJson[]): ReadonlyMap<string, string> {
  return new Map(
    rows.flatMap(({ ordinal, thread_id }): [string, string][] => {
      const id = named[ordinal - 1];
      return id === undefined ? [] : [[id.key, thread_id]];
    }),
  );
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
    ${tieMessageIds(`
      select n.account_id, n.message_id, e.id as thread_id
      from unnest($unknownAccounts::text[], $unknownIds::text[], $unknownThreads::uuid[])
        n (account_id, message_id, thread_id)
      join entered e on e.id = n.thread_id`)}
  )
  select id from entered`,
).narrow<{ id: string }>();
