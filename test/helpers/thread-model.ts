/**
 * A model of recording without a database, for any mix of received mail, sends, relays' Message-IDs and decisions: when an email joins a
 * thread without a further question, when threads are merged, when the links of a cluster are weighed, and what a decision fixes. Written
 * from docs/decisions/0007 and 0016; one step takes some microseconds.
 */
import { createModelDecisions, type ModelDecision } from './thread-model-decisions.ts';
import { idOfPoint, pointOf } from '../../src/core/thread/meeting-points.ts';
import { createState, groupAll, partition, type ModelEmail } from './thread-model-state.ts';

export interface ModelReceive {
  readonly kind: 'receive';
  /** The Message-ID of its header, then that of a second field. */
  readonly own: readonly string[];
  readonly links: readonly string[];
  /** See meetingKeysOf. */
  readonly keys: readonly string[];
  readonly date: Date;
}

export interface ModelSend {
  readonly kind: 'send';
  readonly own: string;
  readonly links: readonly string[];
  /** One; see meetingKeysOfSend. */
  readonly keys: readonly string[];
  /** The nth email, whose thread the caller names for the send; null: the send names no thread. */
  readonly thread: number | null;
  /** The Message-ID that it answers, when it names no thread; it begins a conversation when no email has that, nor a point where it meets others. */
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

export interface ModelThreads {
  /** `e0001 | e0002 | m1`: members of one thread, sorted. */
  readonly threads: readonly string[];
  /** `email Message-ID`, sorted. */
  readonly refused: readonly string[];
}

export interface ThreadModel {
  readonly emails: readonly ModelEmail[];
  /** Email → thread. */
  readonly places: ReadonlyMap<string, string>;
  /** A decision concerned the email, or a Message-ID that it has. */
  isDecided(email: ModelEmail): boolean;
  /** Known Message-IDs, and meeting points. */
  names(): readonly string[];
  take(step: ModelStep): void;
  /** The threads as they were built step by step. */
  stored(): ModelThreads;
  /** The threads computed from scratch. */
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
  const nodesOf = (email: ModelEmail, names: readonly string[]) =>
    names.flatMap((name) => state.nodesOf(email, name));
  /** The thread to which a Message-ID leads the email. */
  const ownerOf = (email: ModelEmail, name: string) => [...ownersOf(state.nodesOf(email, name))][0];

  /** @param requested the thread that the sender chose; null: a new one, or the one that the names lead to */
  function place(email: ModelEmail, requested: string | null): void {
    const names = nodesOf(email, [...email.messageIds, ...email.links]);
    const waiting = state.waitingFor(email);
    const isNamed = waiting.length > 0 || nodesOf(email, email.messageIds).some((own) => owners.has(own));
    const known = new Set([...(requested === null ? [] : [requested]), ...ownersOf([...names, ...waiting])]);
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
    fields: Pick<ModelEmail, 'messageIds' | 'links' | 'keys' | 'date'> & Partial<ModelEmail>,
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

  function receive({ own, links, keys, date }: ModelReceive): void {
    const email = newEmail({
      messageIds: [...own],
      links: links.filter((link) => !own.includes(link)),
      keys,
      date,
    });
    const waited = new Set(state.waitingFor(email).map(idOfPoint));
    const before = new Set(
      [...email.links, ...own].filter((name) => ownerOf(email, name) !== undefined || waited.has(name)),
    );
    const isBorne = emails.some(({ messageIds }) => messageIds.includes(own[0] ?? ''));
    place(email, null);
    const inThread = (name: string) => before.has(name) && ownerOf(email, name) === places.get(email.id);
    email.isOnlyNamed = !email.links.some(inThread) && own.some(inThread) && !isBorne;
  }

  function send({ own, links, keys, thread, answered, customer, date }: ModelSend): void {
    const named = emails[thread ?? -1];
    const chosen = named === undefined ? null : (places.get(named.id) ?? null);
    const [oldest] = emails
      .filter(({ messageIds }) => messageIds.includes(answered ?? ''))
      .toSorted((a, b) => a.date.getTime() - b.date.getTime());
    const requested =
      chosen ??
      owners.get(answered ?? '') ??
      places.get(oldest?.id ?? '') ??
      owners.get(pointOf(answered ?? '', keys[0] ?? '')) ??
      null;
    const beside = emails.find(
      ({ id, messageIds }) =>
        places.get(id) === requested && (chosen !== null || messageIds.includes(answered ?? '')),
    );
    const email = (counting: readonly string[]): ModelEmail =>
      newEmail({
        isSent: true,
        messageIds: [own],
        links: counting,
        keys,
        date,
        customer,
        anchorId: beside?.id ?? null,
        partyId: customer === null ? null : (partyOf(requested) ?? customer),
      });
    if (chosen === null) {
      place(email(links), requested);
    } else {
      // Names that are elsewhere stay there, and link nothing.
      const all = email(links);
      const counting = links.filter((link) => (ownerOf(all, link) ?? chosen) === chosen);
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
    email.messageIds.push(name);
    const known = new Set([thread, ...ownersOf([name, ...state.waitingFor(email)])]);
    const isNamed = owners.has(name) || state.waitingFor({ ...email, messageIds: [name] }).length > 0;
    if (!owners.has(name)) owners.set(name, thread);
    if (!isNamed) return;
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
    places,
    isDecided: ({ label, messageIds }) => label !== null || messageIds.some((name) => state.labels.has(name)),
    names: () => [...owners.keys()],
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
