/**
 * Which threads received emails join that are recorded at the same moment. The same as recording them one after the
 * other in their order, but for emails whose links lead to several threads: only whoever merges threads may place those.
 */
import type { MessageId } from '../message/message-id.ts';
import { placeInbound, type InboundLink, type InboundPlacement } from './place-inbound.ts';

export interface Arrival {
  readonly accountId: string;
  readonly links: readonly InboundLink[];
  /** Used when there is nothing to join. */
  readonly newThreadId: string;
}

export interface TogetherPlacement {
  readonly threadId: string;
  /** As placeInbound gives it, with what was known before this email. */
  readonly placement: InboundPlacement;
}

/** A Message-ID of an account, as a key of maps. */
export function ownerKey(accountId: string, messageId: MessageId): string {
  return `${accountId} ${messageId}`;
}

/**
 * In the order of the arrivals; null for each of those that are tied to several threads, directly or by one another.
 *
 * @param owners threads of the Message-IDs that are known, by ownerKey
 */
export function placeTogether(
  arrivals: readonly Arrival[],
  owners: ReadonlyMap<string, string>,
): readonly (TogetherPlacement | null)[] {
  const groups = groupByKeys(arrivals.map(keysOf));
  const threads = new Map<number, Set<string>>();
  for (const [index, arrival] of arrivals.entries()) {
    const known = keysOf(arrival).flatMap((key) => owners.get(key) ?? []);
    const group = groups[index] ?? index;
    threads.set(group, new Set([...(threads.get(group) ?? []), ...known]));
  }

  const named = new Set(owners.keys());
  return arrivals.map((arrival, index): TogetherPlacement | null => {
    const group = groups[index] ?? index;
    const [joined, another] = threads.get(group) ?? [];
    if (another !== undefined) return null;
    const threadId = joined ?? arrivals[group]?.newThreadId ?? arrival.newThreadId;
    const before = arrival.links.filter(({ messageId }) => named.has(ownerKey(arrival.accountId, messageId)));
    for (const key of keysOf(arrival)) named.add(key);
    const placement = placeInbound(arrival.links, new Map(before.map((link) => [link.messageId, threadId])));
    return { threadId, placement };
  });
}

function keysOf({ accountId, links }: Arrival): readonly string[] {
  return links.map(({ messageId }) => ownerKey(accountId, messageId));
}

/** For each of the lists the index of the first one that it shares a key with, directly or through others. */
function groupByKeys(lists: readonly (readonly string[])[]): readonly number[] {
  const parents = lists.map((_, index) => index);
  const rootOf = (index: number): number => {
    const parent = parents[index] ?? index;
    if (parent === index) return index;
    const root = rootOf(parent);
    parents[index] = root;
    return root;
  };
  const first = new Map<string, number>();
  for (const [index, keys] of lists.entries()) {
    for (const key of keys) {
      const other = first.get(key);
      if (other === undefined) {
        first.set(key, index);
        continue;
      }
      const [a, b] = [rootOf(other), rootOf(index)];
      parents[Math.max(a, b)] = Math.min(a, b);
    }
  }
  return lists.map((_, index) => rootOf(index));
}
