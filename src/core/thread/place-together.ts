/**
 * The threads that received emails join when they are recorded at the same moment. The result is the same as recording
 * them one after the other in order, except for emails whose links lead to several threads, and those that may change the
 * placement of others: only a transaction that merges threads may place those.
 */
import type { MessageId } from '../message/message-id.ts';
import { DisjointSets } from './disjoint-sets.ts';
import { placeInbound, type InboundLink, type InboundPlacement } from './place-inbound.ts';

export interface Arrival {
  readonly accountId: string;
  readonly links: readonly InboundLink[];
  /** Used when there is nothing to join. */
  readonly newThreadId: string;
}

export interface TogetherPlacement {
  readonly threadId: string;
  /** The result of placeInbound, from the state before this email. */
  readonly placement: InboundPlacement;
}

/** A Message-ID of an account, as a key of maps. */
export function ownerKey(accountId: string, messageId: MessageId): string {
  return `${accountId} ${messageId}`;
}

/**
 * The placements in the order of the arrivals; null for each arrival that is tied to several threads, directly or through
 * others, and for each that bears a known Message-ID in a thread that is kept apart from others.
 *
 * @param owners threads of the known Message-IDs, by ownerKey
 * @param keptApart threads that decisions or customers keep apart from others
 */
export function placeTogether(
  arrivals: readonly Arrival[],
  owners: ReadonlyMap<string, string>,
  keptApart: ReadonlySet<string>,
): readonly (TogetherPlacement | null)[] {
  const groups = tie(arrivals);
  const threads = new Map<number, Set<string>>();
  for (const [index, arrival] of arrivals.entries()) {
    const group = groups.find(index);
    const known = threads.get(group) ?? new Set();
    for (const key of linkedKeysOf(arrival)) {
      const owner = owners.get(key);
      if (owner !== undefined) known.add(owner);
    }
    threads.set(group, known);
  }

  const named = new Set(owners.keys());
  const isNamed = ({ accountId }: Arrival, link: InboundLink) =>
    named.has(ownerKey(accountId, link.messageId));
  return arrivals.map((arrival, index): TogetherPlacement | null => {
    const group = groups.find(index);
    const [joined, another] = threads.get(group) ?? [];
    if (another !== undefined) return null;
    const threadId = joined ?? arrivals[group]?.newThreadId ?? arrival.newThreadId;
    // Links to an existing email weigh more than those to one that was only named.
    if (keptApart.has(threadId) && arrival.links.some((link) => isOwn(link) && isNamed(arrival, link))) {
      return null;
    }
    const before = arrival.links.filter((link) => isNamed(arrival, link));
    for (const key of linkedKeysOf(arrival)) named.add(key);
    const placement = placeInbound(arrival.links, new Map(before.map((link) => [link.messageId, threadId])));
    return { threadId, placement };
  });
}

const isOwn = ({ rule }: InboundLink) => rule === 'message_id';

/** The keys of its own Message-ID and of those it names. */
export function linkedKeysOf({ accountId, links }: Omit<Arrival, 'newThreadId'>): readonly string[] {
  return links.map(({ messageId }) => ownerKey(accountId, messageId));
}

/** Groups arrivals that share a Message-ID, directly or through others. */
function tie(arrivals: readonly Arrival[]): DisjointSets {
  const groups = new DisjointSets();
  const first = new Map<string, number>();
  for (const [index, arrival] of arrivals.entries()) {
    for (const key of linkedKeysOf(arrival)) {
      const other = first.get(key);
      if (other === undefined) first.set(key, index);
      else groups.join(other, index);
    }
  }
  return groups;
}
