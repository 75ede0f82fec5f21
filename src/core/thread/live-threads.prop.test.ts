/**
 * Law: emails that are placed one after the other, as they are recorded, make the threads that all of them make together. A
 * model of recording without a database: what joins a thread without a further question, what merges threads, and when
 * the links of a cluster are weighed. More runs: `LIVE_RUNS=10000`.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { groupByLinks } from './link-graph.ts';
import type { LinkedEmail, LinkGraph } from './linked-email.ts';

const RUNS = Number(process.env.LIVE_RUNS ?? 1000);
const NAMES = Array.from({ length: 10 }, (_, index) => `m${index}`);

const arrival = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('receive' as const),
      own: fc.uniqueArray(fc.constantFrom(...NAMES.slice(0, 7)), { minLength: 1, maxLength: 2 }),
      links: fc.uniqueArray(fc.constantFrom(...NAMES), { maxLength: 4 }),
      day: fc.nat(2),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('send' as const),
      own: fc.constantFrom(...NAMES.slice(7)),
      /** The nth email that it is put beside; null: it begins a conversation. */
      beside: fc.option(fc.nat(20), { nil: null }),
      customer: fc.option(fc.constantFrom('A', 'B', 'C'), { nil: null, freq: 4 }),
      day: fc.nat(2),
    }),
  },
);
type Arrival = typeof arrival extends fc.Arbitrary<infer T> ? T : never;

const NO_SEPARATIONS: LinkGraph['separations'] = [];

function createModel() {
  const emails: LinkedEmail[] = [];
  /** Of emails and Message-IDs. */
  const threads = new Map<string, number>();
  const owners = new Map<string, number>();
  const clusters = new Map<number, number>();
  let made = 0;

  const within = (found: ReadonlySet<number>) => emails.filter(({ id }) => found.has(threads.get(id)!));
  const partiesOf = (found: ReadonlySet<number>) => within(found).flatMap(({ partyId }) => partyId ?? []);

  function place(email: LinkedEmail, known: ReadonlySet<number>): void {
    const names = [...email.messageIds, ...email.links];
    const isNamed = email.messageIds.some((own) => owners.has(own));
    const isApart = [...known].some((thread) => clusters.has(thread));
    const parties = new Set([...partiesOf(known), ...(email.partyId === null ? [] : [email.partyId])]);
    if (parties.size > 1 || (isApart && (known.size > 1 || isNamed))) {
      weigh(email, known);
      return;
    }
    const [thread = made++] = known;
    for (const map of [threads, owners]) {
      for (const [key, value] of map) if (known.has(value)) map.set(key, thread);
    }
    threads.set(email.id, thread);
    for (const name of names) owners.set(name, thread);
    emails.push(email);
  }

  function weigh(email: LinkedEmail, known: ReadonlySet<number>): void {
    const near = new Set([...known].flatMap((thread) => clusters.get(thread) ?? []));
    const all = new Set([
      ...known,
      ...[...clusters].flatMap(([thread, one]) => (near.has(one) ? [thread] : [])),
    ]);
    const weighed = [...within(all), email];
    const names = new Set([
      ...[...owners].flatMap(([name, thread]) => (all.has(thread) ? [name] : [])),
      ...email.messageIds,
      ...email.links,
    ]);
    const messageIds = new Map([...names].map((name) => [name, null]));
    const groups = groupByLinks({ emails: weighed, messageIds, separations: NO_SEPARATIONS });
    const first = made;
    const cluster = [...near][0] ?? first;
    const threadOf = (group: number) => first + group;
    made += weighed.length + names.size;
    for (const [index, { id }] of weighed.entries()) threads.set(id, threadOf(groups.emails[index]!));
    for (const [name, group] of groups.messageIds) owners.set(name, threadOf(group));
    emails.push(email);
    for (const thread of all) clusters.delete(thread);
    if (near.size > 0 || groups.refused.length > 0) {
      for (const group of new Set([...groups.emails, ...groups.messageIds.values()])) {
        clusters.set(threadOf(group), cluster);
      }
      for (const [thread, one] of clusters) if (near.has(one)) clusters.set(thread, cluster);
    }
  }

  return {
    take(one: Arrival): void {
      const id = `e${emails.length}`;
      const fields = { id, date: new Date(one.day), label: null };
      if (one.kind === 'receive') {
        const email = { ...fields, messageIds: one.own, links: one.links, anchorId: null, partyId: null };
        place(email, new Set([...one.own, ...one.links].flatMap((name) => owners.get(name) ?? [])));
        return;
      }
      if (emails.some(({ messageIds }) => messageIds.includes(one.own))) return;
      const beside = one.beside === null ? undefined : emails[one.beside % Math.max(emails.length, 1)];
      const thread = beside === undefined ? undefined : threads.get(beside.id);
      const [party] = thread === undefined ? [] : partiesOf(new Set([thread]));
      const email = {
        ...fields,
        messageIds: [one.own],
        links: beside === undefined ? [] : beside.messageIds.slice(0, 1),
        anchorId: beside?.id ?? null,
        partyId: one.customer === null ? null : (party ?? one.customer),
      };
      const names = [...email.messageIds, ...email.links].flatMap((name) => owners.get(name) ?? []);
      place(email, new Set([...names, ...(thread === undefined ? [] : [thread])]));
    },
    /** Which emails and Message-IDs are together, as it came to be and as it should be. */
    compare() {
      const messageIds = new Map([...owners.keys()].map((name) => [name, null]));
      const groups = groupByLinks({ emails, messageIds, separations: NO_SEPARATIONS });
      const stored = partition([...threads, ...owners]);
      const expected = partition([
        ...emails.map(({ id }, index) => [id, groups.emails[index]!] as const),
        ...groups.messageIds,
      ]);
      return { stored, expected };
    },
  };
}

function partition(places: readonly (readonly [string, number])[]): readonly string[] {
  const members = new Map<number, string[]>();
  for (const [name, group] of places) members.set(group, [...(members.get(group) ?? []), name]);
  return [...members.values()].map((names) => names.sort().join(' ')).sort();
}

it('placed one after the other, emails make the threads that all of them make together', () => {
  fc.assert(
    fc.property(fc.array(arrival, { minLength: 2, maxLength: 12 }), (arrivals) => {
      const model = createModel();
      for (const one of arrivals) {
        model.take(one);
        const { stored, expected } = model.compare();
        expect(stored).toEqual(expected);
      }
    }),
    { numRuns: RUNS },
  );
});
