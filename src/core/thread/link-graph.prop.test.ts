import fc from 'fast-check';
import { expect, it } from 'vitest';
import { groupByLinks } from './link-graph.ts';
import type { LinkedEmail, LinkGraph } from './linked-email.ts';
import { runs } from '../../../test/helpers/runs.ts';

const ids = Array.from({ length: 9 }, (_, index) => `m${index}`);
const labels = ['A', 'B', 'C', 'D'];
const label = fc.option(fc.constantFrom(...labels), { nil: null, freq: 2 });
const separation = fc.tuple(fc.constantFrom(...labels), fc.constantFrom(...labels)).filter(([a, b]) => a < b);

const graphs: fc.Arbitrary<LinkGraph> = fc.record({
  emails: fc
    .array(
      fc.record({
        messageIds: fc.uniqueArray(fc.constantFrom(...ids), { minLength: 1, maxLength: 2 }),
        links: fc.uniqueArray(fc.constantFrom(...ids), { maxLength: 4 }),
        date: fc.nat(3).map((ms) => new Date(ms)),
        partyId: fc.option(fc.constantFrom('P', 'Q', 'R'), { nil: null, freq: 1 }),
        label,
      }),
      { maxLength: 9 },
    )
    .map((emails) =>
      emails.map((email, index): LinkedEmail => ({ ...email, id: `e${index}`, anchorId: null })),
    ),
  messageIds: fc
    .array(label, { minLength: ids.length, maxLength: ids.length })
    .map((given) => new Map(ids.map((id, index) => [id, given[index]!]))),
  separations: fc.array(separation, { maxLength: 4 }),
});

/** Equal for equal groupings; uses the names of the emails and Message-IDs. */
function partition(graph: LinkGraph): readonly string[] {
  const groups = groupByLinks(graph);
  const members = new Map<number, string[]>();
  const add = (group: number, name: string) => members.set(group, [...(members.get(group) ?? []), name]);
  for (const [index, { id }] of graph.emails.entries()) add(groups.emails[index]!, id);
  for (const [id, group] of groups.messageIds) add(group, id);
  return [...members.values()].map((names) => names.sort().join(' ')).sort();
}

it('does not depend on any order', () => {
  fc.assert(
    fc.property(
      graphs.chain((graph) =>
        fc.tuple(
          fc.constant(graph),
          fc.shuffledSubarray([...graph.emails], { minLength: graph.emails.length }),
          fc.shuffledSubarray([...graph.messageIds], { minLength: ids.length }),
        ),
      ),
      ([graph, emails, messageIds]) => {
        expect(partition({ ...graph, emails, messageIds: new Map(messageIds) })).toEqual(partition(graph));
      },
    ),
    { numRuns: runs(2000) },
  );
});

it('keeps equal labels together and separated ones apart', () => {
  fc.assert(
    fc.property(graphs, (graph) => {
      const groups = groupByLinks(graph);
      const groupOf = new Map<string, number>();
      const labelled = [
        ...graph.emails.map((email, index) => [email.label, groups.emails[index]!] as const),
        ...[...graph.messageIds].map(([id, value]) => [value, groups.messageIds.get(id)!] as const),
      ];
      for (const [value, group] of labelled) {
        if (value === null) continue;
        expect(groupOf.get(value) ?? group).toBe(group);
        groupOf.set(value, group);
      }
      const joined = graph.separations.filter(
        ([a, b]) => groupOf.has(a) && groupOf.get(a) === groupOf.get(b),
      );
      expect(joined).toEqual([]);
    }),
    { numRuns: runs(2000) },
  );
});

it('joins no two parties by a link, and says which links it refused', () => {
  fc.assert(
    fc.property(graphs, ({ emails, messageIds }) => {
      const graph = {
        emails,
        messageIds: new Map([...messageIds.keys()].map((id) => [id, null])),
        separations: [],
      };
      const unlabelled = { ...graph, emails: emails.map((email) => ({ ...email, label: null })) };
      const groups = groupByLinks(unlabelled);
      const partyOf = new Map<number, string>();
      for (const [index, { partyId }] of emails.entries()) {
        if (partyId === null) continue;
        const group = groups.emails[index]!;
        expect(partyOf.get(group) ?? partyId).toBe(partyId);
        partyOf.set(group, partyId);
      }
      // Each email and other group once; all other ties hold.
      const groupOf = (id: string) => groups.messageIds.get(id)!;
      const expected = new Set(
        emails.flatMap(({ id, messageIds: own, links }, index) =>
          [...own, ...links]
            .filter((name) => groupOf(name) !== groups.emails[index])
            .map((name) => `${id} ${groupOf(name)}`),
        ),
      );
      const refused = groups.refused.map(({ emailId, messageId }) => `${emailId} ${groupOf(messageId)}`);
      expect(refused.toSorted()).toEqual([...expected].sort());
    }),
    { numRuns: runs(2000) },
  );
});

it('changes nothing when an email comes whose known links all lead to one group', () => {
  // This law lets an email join a thread without weighing all links again.
  fc.assert(
    fc.property(
      graphs,
      fc.nat(),
      fc.array(fc.nat(8), { maxLength: 4 }),
      fc.nat(3),
      fc.boolean(),
      (graph, at, links, ms, isKnown) => {
        fc.pre(graph.emails.length > 0);
        // Where threads are kept apart, an email whose Message-ID others named is weighed: their links count more now.
        const parties = new Set(graph.emails.flatMap(({ partyId }) => partyId ?? []));
        fc.pre(!isKnown || (graph.separations.length === 0 && parties.size < 2));
        const before = groupByLinks(graph);
        const group = before.emails[at % graph.emails.length]!;
        const named = links.map((index) => ids[index]!).filter((id) => before.messageIds.get(id) === group);
        fc.pre(named.length > 0);
        const email: LinkedEmail = {
          id: 'new',
          messageIds: [isKnown ? named.at(-1)! : 'own'],
          partyId: null,
          links: ['unknown', ...named],
          anchorId: null,
          date: new Date(ms),
          label: null,
        };
        const messageIds = new Map([['own', null], ['unknown', null], ...graph.messageIds] as const);
        const after = groupByLinks({ ...graph, emails: [...graph.emails, email], messageIds });
        const same = (a: number, b: number) => (a === b ? 1 : 0);
        for (const [i, groupOf] of before.emails.entries()) {
          for (const [id, other] of before.messageIds) {
            expect(same(after.emails[i]!, after.messageIds.get(id)!)).toBe(same(groupOf, other));
          }
        }
        expect(after.emails.at(-1)).toBe(after.messageIds.get(named[0]!));
      },
    ),
    { numRuns: runs(3000) },
  );
});
