/** Splits, merges and moves in the model of threads: docs/decisions/0007-thread-decisions.md. */
import {
  moveMessageIdsAlong,
  threadsOfLabelled,
  separationsAfter,
  type Pair,
} from '../../src/core/thread/decide.ts';
import type { ModelState } from './thread-model-state.ts';

export interface ModelDecision {
  readonly kind: 'split' | 'move' | 'merge';
  /** The thread of the nth email. */
  readonly at: number;
  /** The emails to split off or to move there; for a merge, the other thread is that of the first one. */
  readonly emails: readonly number[];
}

interface Freeze {
  readonly threads: readonly string[];
  readonly places: ReadonlyMap<string, string>;
  readonly emailPlaces: ReadonlyMap<string, string>;
  readonly heirs: ReadonlyMap<string, readonly string[]>;
  readonly apart: readonly Pair[];
}

/** A decision that the service refuses, because it would leave nothing behind or changes nothing, has no effect here. */
export function createModelDecisions(state: ModelState): (decision: ModelDecision) => void {
  const { emails, places, owners, labels, separations, clusters } = state;
  const threadOf = (id: string): string => places.get(id) ?? '';
  const countIn = (thread: string): number => state.within(new Set([thread])).length;

  function split(thread: string, ids: readonly string[]): void {
    const leaving = ids.filter((id) => threadOf(id) === thread);
    if (leaving.length === 0 || countIn(thread) === leaving.length) return;
    const target = state.newId('thread');
    const named = state.within(new Set([thread])).find(({ customer }) => customer !== null)?.customer ?? null;
    carryOver(leaving, target, {
      threads: [thread],
      heirs: new Map([[thread, [thread, target]]]),
      apart: [[thread, target]],
    });
    const split = state.within(new Set([target]));
    const heir = split.find(({ isOnlyNamed }) => !isOnlyNamed);
    if (heir !== undefined && split.every(({ customer }) => customer === null)) heir.customer = named;
    settle([thread, target]);
  }

  function move(thread: string, ids: readonly string[]): void {
    const moved = ids.filter((id) => threadOf(id) !== thread);
    if (moved.length === 0) return;
    const sources = [...new Set(moved.map(threadOf))];
    const isEmptied = (source: string) =>
      moved.filter((id) => threadOf(id) === source).length === countIn(source);
    const emptied = sources.filter(isEmptied);
    const left = sources.filter((source) => !emptied.includes(source));
    carryOver(moved, thread, {
      threads: [thread, ...sources],
      heirs: new Map(emptied.map((id) => [id, [thread]])),
      apart: left.map((id) => [thread, id]),
    });
    state.absorb(thread, new Set(emptied));
    settle([thread, ...left]);
  }

  function merge(thread: string, other: string): void {
    if (other === thread) return;
    const named = [...owners].flatMap(([name, owner]) => (owner === thread || owner === other ? [name] : []));
    const together = new Map(named.map((name) => [name, thread]));
    freeze({
      threads: [thread, other],
      heirs: new Map([[other, [thread]]]),
      apart: [],
      places: together,
      emailPlaces: threadsOfLabelled(decided(new Set([thread, other])), new Set(), together, () => thread),
    });
    state.absorb(thread, new Set([other]));
    settle([thread]);
  }

  const decided = (threads: ReadonlySet<string>) =>
    state.within(threads).map((email) => ({
      ...email,
      threadId: threadOf(email.id),
      messageIds: email.messageIds.flatMap((name) => state.nodesOf(email, name)),
      links: email.links.flatMap((name) => state.nodesOf(email, name)),
    }));

  function carryOver(
    ids: readonly string[],
    target: string,
    decision: Omit<Freeze, 'places' | 'emailPlaces'>,
  ): void {
    const threads = new Set(decision.threads);
    const leaving = new Set(ids);
    const known = new Map([...owners].filter(([, thread]) => threads.has(thread)));
    const goes = moveMessageIdsAlong(decided(threads), known, leaving, target);
    const placeOf = ({ id }: { readonly id: string }) => (leaving.has(id) ? target : threadOf(id));
    freeze({
      ...decision,
      places: goes,
      emailPlaces: threadsOfLabelled(decided(threads), leaving, goes, placeOf),
    });
    for (const [name, thread] of goes) owners.set(name, thread);
    for (const email of emails) {
      if (!ids.includes(email.id)) continue;
      places.set(email.id, target);
      email.anchorId = null;
    }
  }

  function freeze({ threads, places: goes, emailPlaces, heirs, apart }: Freeze): void {
    const concerned = new Set(threads);
    const threadOfLabel = new Map<string, string>();
    for (const [name, thread] of owners) {
      const label = labels.get(name);
      if (concerned.has(thread) && label !== undefined) threadOfLabel.set(label, thread);
    }
    for (const { id, label } of state.within(concerned)) {
      if (label !== null) threadOfLabel.set(label, threadOf(id));
    }
    const before = [...separations].filter(([, pair]) => pair.some((label) => threadOfLabel.has(label)));
    for (const [key] of before) separations.delete(key);

    const fresh = new Map<string, string>();
    const labelOf = (thread: string): string => {
      const label = fresh.get(thread) ?? state.newId('label');
      fresh.set(thread, label);
      return label;
    };
    for (const [name, thread] of goes) labels.set(name, labelOf(thread));
    for (const email of state.within(concerned)) {
      const own =
        email.label === null ? undefined : (heirs.get(threadOf(email.id))?.[0] ?? threadOf(email.id));
      const thread = emailPlaces.get(email.id) ?? own;
      if (thread !== undefined) email.label = labelOf(thread);
    }
    const known = new Set([...threads, ...[...heirs.values()].flat()]);
    const byThread = before.map(([, [a, b]]): Pair => [threadOfLabel.get(a) ?? a, threadOfLabel.get(b) ?? b]);
    const pairs = separationsAfter(byThread, heirs, apart);
    for (const pair of pairs) {
      const [a, b] = pair.map((end) => (known.has(end) ? labelOf(end) : end));
      if (a !== undefined && b !== undefined) separations.set(`${a} ${b}`, [a, b]);
    }
    const near = [...known].flatMap((thread) => clusters.get(thread) ?? []);
    if (near.length === 0 && pairs.length === 0) return;
    const cluster = near[0] ?? state.newId('cluster');
    for (const thread of state.withClusters(known)) clusters.set(thread, cluster);
  }

  /** Sets the party of each thread: the first customer that one of its sends names. Returns true if one changed. */
  function renewParties(threads: ReadonlySet<string>): boolean {
    let isChanged = false;
    for (const thread of threads) {
      const naming = state.within(new Set([thread])).filter(({ customer }) => customer !== null);
      for (const email of naming) {
        const party = naming[0]?.customer ?? null;
        isChanged ||= email.partyId !== party;
        email.partyId = party;
      }
    }
    return isChanged;
  }

  function settle(threads: readonly string[]): void {
    let concerned: ReadonlySet<string> = new Set(threads);
    for (let round = 0; round < 5; round += 1) {
      const isChanged = renewParties(concerned);
      if (round > 0 && !isChanged) return;
      concerned = state.withClusters(concerned);
      if (![...concerned].some((thread) => clusters.has(thread))) return;
      state.weigh(concerned);
      concerned = state.withClusters(concerned);
    }
  }

  return ({ kind, at, emails: named }) => {
    const first = emails[at];
    const ids = named.flatMap((index) => emails[index]?.id ?? []).sort();
    const other = emails[named[0] ?? -1];
    if (first === undefined) return;
    const thread = threadOf(first.id);
    if (kind === 'split') split(thread, ids);
    else if (kind === 'move') move(thread, ids);
    else if (other !== undefined) merge(thread, threadOf(other.id));
  };
}
