/**
 * A model of recording without a database, for any mix of received mail, sends, relays' Message-IDs and decisions: what joins
 * a thread without a further question, what merges threads, when the links of a cluster are weighed, and what a
 * decision fixes. Written from docs/decisions/0007 and 0016; one step takes some microseconds.
 */
import { groupByLinks, type Groups } from '../../src/core/thread/link-graph.ts';
import { planThreads } from '../../src/core/thread/plan-threads.ts';
import { createModelDecisions, type ModelDecision } from './thread-model-decisions.ts';

export interface ModelEmail {
  /** Sorts as the emails were recorded. */
  readonly id: string;
  readonly isSent: boolean;
  readonly messageIds: string[];
  /** Those that count, the most telling first. */
  readonly links: readonly string[];
  anchorId: string | null;
  partyId: string | null;
  /** Whom its send named, or what it inherited by a split. */
  customer: string | null;
  /** It is in its thread only because others named its Message-ID. */
  isOnlyNamed: boolean;
  readonly date: Date;
  label: string | null;
}

export interface ModelReceive {
  readonly kind: 'receive';
  /** Its header's Message-ID, then that of a second field. */
  readonly own: readonly string[];
  readonly links: readonly string[];
  readonly date: Date;
}

export interface ModelSend {
  readonly kind: 'send';
  readonly own: string;
  readonly links: readonly string[];
  /** The nth email, in whose thread the caller puts it; null: it names no thread. */
  readonly thread: number | null;
  /** What it answers, when it names no thread; it begins a conversation when that is unknown. */
  readonly answered: string | null;
  readonly customer: string | null;
  readonly date: Date;
}

export interface ModelRelay {
  readonly kind: 'relay';
  readonly email: number;
  readonly name: string;
}

export type ModelStep = ModelReceive | ModelSend | ModelRelay | ModelDecision;

/** What is stored, and where everything is. */
export interface ModelState {
  readonly emails: ModelEmail[];
  /** Threads of emails. */
  readonly places: Map<string, string>;
  /** Threads of Message-IDs. */
  readonly owners: Map<string, string>;
  /** Labels of Message-IDs. */
  readonly labels: Map<string, string>;
  readonly separations: Map<string, readonly [string, string]>;
  /** Clusters of threads. */
  readonly clusters: Map<string, string>;
  /** Email → Message-IDs. */
  readonly refused: Map<string, ReadonlySet<string>>;
  newId(kind: 'thread' | 'label' | 'cluster'): string;
  within(threads: ReadonlySet<string>): readonly ModelEmail[];
  /** One of a cluster brings all others. */
  withClusters(threads: ReadonlySet<string>): ReadonlySet<string>;
  /** Makes the threads what the links of all their emails say. */
  weigh(threads: ReadonlySet<string>): void;
  absorb(survivor: string, ending: ReadonlySet<string>): void;
}

export interface ModelThreads {
  /** `e0001 e0002 m1`: what is together, sorted. */
  readonly threads: readonly string[];
  /** `email Message-ID`, sorted. */
  readonly refused: readonly string[];
}

export interface ThreadModel {
  readonly emails: readonly ModelEmail[];
  take(step: ModelStep): void;
  /** As it came to be. */
  stored(): ModelThreads;
  /** As the whole of it says, from scratch. */
  expected(): ModelThreads;
}

export function createThreadModel(): ThreadModel {
  const state = createState();
  const { emails, places, owners } = state;
  const decide = createModelDecisions(state);

  const partyOf = (thread: string | null): string | null =>
    thread === null
      ? null
      : (state.within(new Set([thread])).find(({ partyId }) => partyId !== null)?.partyId ?? null);
  const ownersOf = (names: readonly string[]) => new Set(names.flatMap((name) => owners.get(name) ?? []));

  /** @param requested the thread of its sender's choice; null: a new one, or what the names lead to */
  function place(email: ModelEmail, requested: string | null): void {
    const names = [...email.messageIds, ...email.links];
    const isNamed = email.messageIds.some((own) => owners.has(own));
    const known = new Set([...(requested === null ? [] : [requested]), ...ownersOf(names)]);
    const isApart = [...known].some((thread) => state.clusters.has(thread));
    const parties = new Set(state.within(known).flatMap(({ partyId }) => partyId ?? []));
    if (email.partyId !== null) parties.add(email.partyId);
    const [survivor = state.newId('thread'), ...merged] = [...known].sort();
    emails.push(email);
    if (parties.size > 1 || (isApart && (known.size > 1 || isNamed))) {
      // Not in any thread yet, nor are the Message-IDs that were unknown.
      const own = requested ?? state.newId('thread');
      places.set(email.id, own);
      for (const name of names) if (!owners.has(name)) owners.set(name, own);
      state.weigh(new Set([...known, own]));
      return;
    }
    state.absorb(survivor, new Set(merged));
    places.set(email.id, survivor);
    for (const name of names) owners.set(name, survivor);
  }

  const newEmail = (
    fields: Pick<ModelEmail, 'messageIds' | 'links' | 'date'> & Partial<ModelEmail>,
  ): ModelEmail => ({
    id: `e${String(emails.length).padStart(4, '0')}`,
    isSent: false,
    anchorId: null,
    partyId: null,
    customer: null,
    isOnlyNamed: false,
    label: null,
    ...fields,
  });

  function receive({ own, links, date }: ModelReceive): void {
    const email = newEmail({
      messageIds: [...own],
      links: links.filter((link) => !own.includes(link)),
      date,
    });
    const before = new Set([...email.links, ...own].filter((name) => owners.has(name)));
    const isBorne = emails.some(({ messageIds }) => messageIds.includes(own[0] ?? ''));
    place(email, null);
    const inThread = (name: string) => before.has(name) && owners.get(name) === places.get(email.id);
    email.isOnlyNamed = !email.links.some(inThread) && own.some(inThread) && !isBorne;
  }

  function send({ own, links, thread, answered, customer, date }: ModelSend): void {
    const named = emails[thread ?? -1];
    const chosen = named === undefined ? null : (places.get(named.id) ?? null);
    const requested = chosen ?? owners.get(answered ?? '') ?? null;
    const beside = emails.find(
      ({ id, messageIds }) =>
        places.get(id) === requested && (chosen !== null || messageIds.includes(answered ?? '')),
    );
    const email = (counting: readonly string[]): ModelEmail =>
      newEmail({
        isSent: true,
        messageIds: [own],
        links: counting,
        date,
        customer,
        anchorId: beside?.id ?? null,
        partyId: customer === null ? null : (partyOf(requested) ?? customer),
      });
    if (chosen === null) {
      place(email(links), requested);
    } else {
      // What is elsewhere stays there, and ties nothing.
      const counting = links.filter((link) => (owners.get(link) ?? chosen) === chosen);
      place(email(counting), chosen);
    }
    const recorded = emails.at(-1);
    if (recorded === undefined || customer === null || requested === null) return;
    recorded.partyId = partyOf(places.get(recorded.id) ?? null);
  }

  function relay({ email: index, name }: ModelRelay): void {
    const email = emails[index];
    if (email === undefined) return;
    const thread = places.get(email.id) ?? '';
    const owner = owners.get(name);
    email.messageIds.push(name);
    if (owner === undefined) {
      owners.set(name, thread);
      return;
    }
    const known = new Set([thread, owner]);
    const isApart = [...known].some((one) => state.clusters.has(one));
    const parties = new Set(state.within(known).flatMap(({ partyId }) => partyId ?? []));
    if (parties.size > 1 || isApart) state.weigh(known);
    else {
      const [survivor = thread, ...merged] = [...known].sort();
      state.absorb(survivor, new Set(merged));
    }
  }

  return {
    emails,
    take(step) {
      if (step.kind === 'receive') receive(step);
      else if (step.kind === 'send') send(step);
      else if (step.kind === 'relay') relay(step);
      else decide(step);
    },
    stored: () => ({
      threads: partition([...places, ...owners]),
      refused: [...state.refused].flatMap(([id, names]) => [...names].map((name) => `${id} ${name}`)).sort(),
    }),
    expected() {
      const groups = groupAll(state, emails, [...owners.keys()]);
      return {
        threads: partition([
          ...emails.map(({ id }, index) => [id, String(groups.emails[index])] as const),
          ...[...groups.messageIds].map(([name, group]) => [name, String(group)] as const),
        ]),
        refused: groups.refused.map(({ emailId, messageId }) => `${emailId} ${messageId}`).sort(),
      };
    },
  };
}

function createState(): ModelState {
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
  if (groups.refused.length > 0 || separationsOf(state, weighed, names).length > 0) {
    for (const thread of left) clusters.set(thread, cluster);
  }
}

function groupAll(state: ModelState, emails: readonly ModelEmail[], names: readonly string[]): Groups {
  return groupByLinks({
    emails,
    messageIds: new Map(names.map((name) => [name, state.labels.get(name) ?? null])),
    separations: separationsOf(state, emails, names),
  });
}

/** Both of whose ends are there. */
function separationsOf(
  { labels, separations }: ModelState,
  emails: readonly ModelEmail[],
  names: readonly string[],
): readonly (readonly [string, string])[] {
  const there = new Set([...emails.map(({ label }) => label), ...names.map((name) => labels.get(name))]);
  return [...separations.values()].filter(([a, b]) => there.has(a) && there.has(b));
}

function partition(places: readonly (readonly [string, string])[]): readonly string[] {
  const members = new Map<string, string[]>();
  for (const [name, group] of places) members.set(group, [...(members.get(group) ?? []), name]);
  return [...members.values()].map((names) => names.sort().join(' ')).sort();
}
