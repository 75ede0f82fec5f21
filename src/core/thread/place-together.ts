/**
 * The threads that received emails join when they are recorded at the same moment. The result is the same as recording
 * them one after the other in order, except for emails whose links lead to several threads, and those that may change the
 * placement of others: only a transaction that merges threads may place those.
 */
import { DisjointSets } from './disjoint-sets.ts';
import { isTelling } from '../message/message-id.ts';
import { nodesOf } from './meeting-points.ts';
import { placeInbound, type InboundLink, type InboundPlacement } from './place-inbound.ts';

export interface Arrival {
  readonly accountId: string;
  readonly links: readonly InboundLink[];
  /** See meetingKeysOf. */
  readonly meetingKeys: readonly string[];
  /** Used when there is nothing to join. */
  readonly newThreadId: string;
}

export interface TogetherPlacement {
  readonly threadId: string;
  /** The result of placeInbound, from the state before this email. */
  readonly placement: InboundPlacement;
}

/** What is known of the Message-IDs and meeting points of the arrivals. */
export interface KnownNodes {
  /** Their threads, by ownerKey. */
  readonly owners: ReadonlyMap<string, string>;
  /** The threads of the points that wait for a Message-ID, by its ownerKey. */
  readonly waiting: ReadonlyMap<string, readonly string[]>;
}

/** A Message-ID or meeting point of an account, as a key of maps. */
export function ownerKey(accountId: string, name: string): string {
  return `${accountId} ${name}`;
}

/**
 * The placements in the order of the arrivals; null for each arrival that is tied to several threads, directly or through
 * others, and for each that bears a known Message-ID in a thread that is kept apart from others.
 *
 * @param keptApart threads that decisions or customers keep apart from others
 */
export function placeTogether(
  arrivals: readonly Arrival[],
  { owners, waiting }: KnownNodes,
  keptApart: ReadonlySet<string>,
): readonly (TogetherPlacement | null)[] {
  const nodes = nodesOfArrivals(arrivals, owners);
  const groups = tie(arrivals, nodes);
  const threads = new Map<number, Set<string>>();
  for (const [index, arrival] of arrivals.entries()) {
    const group = groups.find(index);
    const known = threads.get(group) ?? new Set();
    for (const name of nodes[index] ?? []) {
      const key = ownerKey(arrival.accountId, name);
      for (const owner of [owners.get(key) ?? [], waiting.get(key) ?? []].flat()) known.add(owner);
    }
    threads.set(group, known);
  }

  // As if they came one after the other: what was known, and what was named, before each of them.
  const known = new Set(owners.keys());
  const named = new Set(waiting.keys());
  return arrivals.map((arrival, index): TogetherPlacement | null => {
    const { accountId, links, meetingKeys } = arrival;
    const keyOf = (name: string) => ownerKey(accountId, name);
    const group = groups.find(index);
    const [joined, another] = threads.get(group) ?? [];
    if (another !== undefined) return null;
    const threadId = joined ?? arrivals[group]?.newThreadId ?? arrival.newThreadId;
    const pointsOf = ({ messageId }: InboundLink) => nodesOf(messageId, meetingKeys, () => false);
    const isBefore = (link: InboundLink) =>
      [link.messageId, ...pointsOf(link)].some((name) => known.has(keyOf(name))) ||
      (makesKnown(link) && named.has(keyOf(link.messageId)));
    const before = links.filter(isBefore);
    // Links to an existing email weigh more than those to one that was only named.
    if (keptApart.has(threadId) && before.some(isOwn)) return null;
    for (const link of links) {
      named.add(keyOf(link.messageId));
      for (const name of [...pointsOf(link), ...(makesKnown(link) ? [link.messageId] : [])])
        known.add(keyOf(name));
    }
    const placement = placeInbound(links, new Map(before.map((link) => [link.messageId, threadId])));
    return { threadId, placement };
  });
}

const isOwn = ({ rule }: InboundLink) => rule === 'message_id';
const makesKnown = (link: InboundLink) => isOwn(link) && isTelling(link.messageId);

/** The keys of its own Message-ID and of those it names. */
export function linkedKeysOf({ accountId, links }: Pick<Arrival, 'accountId' | 'links'>): readonly string[] {
  return links.map(({ messageId }) => ownerKey(accountId, messageId));
}

/**
 * The Message-IDs that each arrival bears or names, with the points at which it meets others in place of those that no email has.
 *
 * @param owners the known ones, by ownerKey
 */
export function nodesOfArrivals(
  arrivals: readonly Omit<Arrival, 'newThreadId'>[],
  owners: ReadonlyMap<string, string>,
): readonly (readonly string[])[] {
  const borne = new Set(
    arrivals.flatMap(({ accountId, links }) =>
      links.filter(makesKnown).map(({ messageId }) => ownerKey(accountId, messageId)),
    ),
  );
  return arrivals.map(({ accountId, links, meetingKeys }) => {
    const isKnown = (id: string) => owners.has(ownerKey(accountId, id)) || borne.has(ownerKey(accountId, id));
    return links.flatMap(({ messageId }) => nodesOf(messageId, meetingKeys, isKnown));
  });
}

/** Groups arrivals that share a Message-ID or a meeting point, directly or through others. */
function tie(arrivals: readonly Arrival[], nodes: readonly (readonly string[])[]): DisjointSets {
  const groups = new DisjointSets();
  const first = new Map<string, number>();
  for (const [index, { accountId }] of arrivals.entries()) {
    for (const name of nodes[index] ?? []) {
      const key = ownerKey(accountId, name);
      const other = first.get(key);
      if (other === undefined) first.set(key, index);
      else groups.join(other, index);
    }
  }
  return groups;
}
