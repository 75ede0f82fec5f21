/** The stored state of the model of threads, and how it weighs the links of threads: docs/decisions/0016-refused-merges.md. */
import { groupByLinks, type Groups } from '../../src/core/thread/link-graph.ts';
import { idOfPoint, madeKnownBy, nodesOf } from '../../src/core/thread/meeting-points.ts';
import { planThreads } from '../../src/core/thread/plan-threads.ts';

export interface ModelEmail {
  /** Sorts in the order in which the emails were recorded. */
  readonly id: string;
  readonly isSent: boolean;
  readonly messageIds: string[];
  /** The links that count, the most telling first. */
  readonly links: readonly string[];
  /** See meetingKeysOf. */
  readonly keys: readonly string[];
  anchorId: string | null;
  partyId: string | null;
  /** The customer that its send named, or that it inherited by a split. */
  customer: string | null;
  /** The email is in its thread only because others named its Message-ID. */
  isOnlyNamed: boolean;
  readonly date: Date;
  label: string | null;
}

/** The stored state, and the place of everything. */
export interface ModelState {
  readonly emails: ModelEmail[];
  /** Email → thread. */
  readonly places: Map<string, string>;
  /** Known Message-ID, or meeting point → thread. */
  readonly owners: Map<string, string>;
  /** Message-ID → label. */
  readonly labels: Map<string, string>;
  readonly separations: Map<string, readonly [string, string]>;
  /** Thread → cluster. */
  readonly clusters: Map<string, string>;
  /** Email → Message-IDs. */
  readonly refused: Map<string, ReadonlySet<string>>;
  newId(kind: 'thread' | 'label' | 'cluster'): string;
  within(threads: ReadonlySet<string>): readonly ModelEmail[];
  /** What a Message-ID ties the email to. */
  nodesOf(email: ModelEmail, name: string): readonly string[];
  /** The meeting points of Message-IDs that the email makes known. */
  waitingFor(email: ModelEmail): readonly string[];
  /** Adds to the threads all others of their clusters. */
  withClusters(threads: ReadonlySet<string>): ReadonlySet<string>;
  /** Arranges the threads as the links of all their emails require. */
  weigh(threads: ReadonlySet<string>): void;
  absorb(survivor: string, ending: ReadonlySet<string>): void;
}

export function createState(): ModelState {
  let made = 0;
  const state: ModelState = {
    emails: [],
    places: new Map(),
    owners: new Map(),
    labels: new Map(),
    separations: new Map(),
    clusters: new Map(),
    refused: new Map(),
    newId: (kind) => `${kind} ${String((made += 1)).padStart(6, '0')}`,
    nodesOf: (email, name) =>
      nodesOf(name, email.keys, (id) => state.owners.has(id) || known(email).includes(id)),
    waitingFor: (email) =>
      [...state.owners.keys()].filter(
        (name) => idOfPoint(name) !== name && known(email).includes(idOfPoint(name)),
      ),
    within: (threads) => state.emails.filter(({ id }) => threads.has(state.places.get(id) ?? '')),
    withClusters(threads) {
      const near = new Set([...threads].flatMap((thread) => state.clusters.get(thread) ?? []));
      const others = [...state.clusters].flatMap(([thread, cluster]) => (near.has(cluster) ? [thread] : []));
      return new Set([...threads, ...others]);
    },
    weigh: (threads) => {
      weigh(state, threads);
    },
    absorb(survivor, ending) {
      for (const map of [state.places, state.owners]) {
        for (const [key, thread] of map) if (ending.has(thread)) map.set(key, survivor);
      }
      for (const thread of ending) state.clusters.delete(thread);
    },
  };
  return state;
}

function weigh(state: ModelState, named: ReadonlySet<string>): void {
  const { places, owners, clusters } = state;
  const threads = state.withClusters(named);
  const weighed = state.within(threads);
  const names = [...owners].flatMap(([name, thread]) => (threads.has(thread) ? [name] : []));
  const groups = groupAll(state, weighed, names);
  const at = (id: string, threadId: string | undefined, group: number | undefined) => ({
    id,
    threadId: threadId ?? null,
    group: group ?? -1,
  });
  const plan = planThreads(
    [...threads].map((id) => ({ id, createdAt: new Date(0) })),
    weighed.map(({ id }, index) => at(id, places.get(id), groups.emails[index])),
    names.map((name) => at(name, owners.get(name), groups.messageIds.get(name))),
    () => state.newId('thread'),
  );
  const cluster = [...threads].flatMap((thread) => clusters.get(thread) ?? [])[0] ?? state.newId('cluster');
  for (const { id, to } of plan.emails) places.set(id, to);
  for (const { id, to } of plan.messageIds) owners.set(id, to);
  for (const { id, into } of plan.merged) state.absorb(into, new Set([id]));
  for (const { id } of weighed) state.refused.delete(id);
  for (const { emailId, messageId } of groups.refused) {
    state.refused.set(emailId, new Set([...(state.refused.get(emailId) ?? []), messageId]));
  }
  const left = [...threads, ...plan.threadOf.values()].filter(
    (thread) => !plan.merged.some(({ id }) => id === thread),
  );
  if (groups.areKeptApart) {
    for (const thread of left) clusters.set(thread, cluster);
  }
}

const known = ({ messageIds, isSent }: ModelEmail) => madeKnownBy({ messageIds, isSend: isSent });

export function groupAll(state: ModelState, emails: readonly ModelEmail[], names: readonly string[]): Groups {
  const tied = emails.map((email) => ({
    ...email,
    messageIds: email.messageIds.flatMap((name) => state.nodesOf(email, name)),
    links: email.links.flatMap((name) => state.nodesOf(email, name)),
  }));
  const groups = groupByLinks({
    emails: tied,
    messageIds: new Map(names.map((name) => [name, state.labels.get(name) ?? null])),
    points: new Map(
      names
        .filter((name) => idOfPoint(name) !== name && state.owners.has(idOfPoint(name)))
        .map((name) => [name, idOfPoint(name)]),
    ),
    separations: separationsOf(state, emails, names),
  });
  const refused = new Map(
    groups.refused.map(({ emailId, messageId }) => {
      const id = idOfPoint(messageId);
      return [`${emailId} ${id}`, { emailId, messageId: id }] as const;
    }),
  );
  return { ...groups, refused: [...refused.values()] };
}

/** The separations that have both ends among the labels of these emails and Message-IDs. */
function separationsOf(
  { labels, separations }: ModelState,
  emails: readonly ModelEmail[],
  names: readonly string[],
): readonly (readonly [string, string])[] {
  const there = new Set([...emails.map(({ label }) => label), ...names.map((name) => labels.get(name))]);
  return [...separations.values()].filter(([a, b]) => there.has(a) && there.has(b));
}

export function partition(places: readonly (readonly [string, string])[]): readonly string[] {
  const members = new Map<string, string[]>();
  for (const [name, group] of places) members.set(group, [...(members.get(group) ?? []), name]);
  return [...members.values()].map((names) => names.sort().join(' | ')).sort();
}
