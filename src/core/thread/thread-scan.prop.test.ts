import fc from 'fast-check';
import { expect, it } from 'vitest';
import { groupByLinks } from './link-graph.ts';
import { idOfPoint, madeKnownBy, nodesOf, pointOf } from './meeting-points.ts';
import { ThreadScan } from './thread-scan.ts';
import { runs } from '../../../test/helpers/runs.ts';

const uuid = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`;
const ids = Array.from({ length: 10 }, (_, index) => `m${index}`);
const KEYS = ['k0', 'k1'];
const points = ids.slice(0, 4).flatMap((id) => KEYS.map((key) => pointOf(id, key)));
const names = [...ids, ...points];

/** What stands for a name after a deletion. */
const standInOf = (name: string) => (name.startsWith('~') ? name : `~${name}`);

/** Its Message-IDs are known. */
const SENT = { accountId: 'a', meetingKeys: [], isSend: true, anchor: null } as const;

/** Emails with links, and arbitrary threads for them, for Message-IDs and for meeting points. */
const states = fc.record({
  emails: fc.array(
    fc.record({
      messageIds: fc.uniqueArray(fc.constantFrom(...ids), { minLength: 1, maxLength: 2 }),
      links: fc.array(fc.constantFrom(...ids), { maxLength: 2 }),
      meetingKeys: fc.uniqueArray(fc.constantFrom(...KEYS), { minLength: 1 }),
      isSend: fc.boolean(),
      thread: fc.nat(5),
    }),
    { maxLength: 8 },
  ),
  owners: fc.array(fc.option(fc.nat(5), { nil: null, freq: 3 }), {
    minLength: names.length,
    maxLength: names.length,
  }),
  /** Whether rows have the stand-in, and points wait for it. */
  standing: fc.array(fc.record({ name: fc.boolean(), waitsFor: fc.boolean() }), {
    minLength: names.length,
    maxLength: names.length,
  }),
});

it('finds every thread that is not what its links say', () => {
  fc.assert(
    fc.property(states, ({ emails, owners, standing }) => {
      const scan = new ThreadScan(standInOf);
      const written = (name: string, stands = false) => (stands ? standInOf(name) : name);
      const ownerOf = new Map(names.map((name, index) => [name, owners[index] ?? null]));
      for (const [index, name] of names.entries()) {
        const owner = ownerOf.get(name) ?? null;
        const stands = standing[index];
        const waitsFor = idOfPoint(name) === name ? null : written(idOfPoint(name), stands?.waitsFor);
        if (owner !== null) scan.addMessageId('a', written(name, stands?.name), uuid(owner), waitsFor);
      }
      for (const { thread, ...email } of emails) {
        scan.addEmail({ ...email, accountId: 'a', threadId: uuid(thread), anchor: null });
      }
      const suspects = scan.suspects();

      // The rule in its simplest form: one group is in one thread, and one thread in one group.
      const borne = new Set(emails.flatMap(madeKnownBy));
      const isKnown = (id: string) => borne.has(id) || (ownerOf.get(id) ?? null) !== null;
      const tied = emails.map((email, index) => ({
        ...email,
        messageIds: email.messageIds.flatMap((id) => nodesOf(id, email.meetingKeys, isKnown)),
        links: email.links.flatMap((id) => nodesOf(id, email.meetingKeys, isKnown)),
        id: String(index),
        anchorId: null,
        partyId: null,
        date: new Date(0),
        label: null,
      }));
      const there = new Set([
        ...names.filter((name) => (ownerOf.get(name) ?? null) !== null),
        ...tied.flatMap(({ messageIds, links }) => [...messageIds, ...links]),
      ]);
      const groups = groupByLinks({
        emails: tied,
        messageIds: new Map([...there].map((name) => [name, null])),
        points: new Map(
          [...there]
            .filter((name) => idOfPoint(name) !== name && isKnown(idOfPoint(name)))
            .map((name) => [name, idOfPoint(name)]),
        ),
        separations: [],
      });
      const placed = [
        ...emails.map(({ thread }, index) => [groups.emails[index]!, thread] as const),
        ...[...there].map((name) => [groups.messageIds.get(name)!, ownerOf.get(name) ?? null] as const),
      ];
      const wrong = placed.flatMap(([group, thread]) =>
        placed.filter(([otherGroup, otherThread]) => {
          if (thread === null || otherThread === null) return false;
          const unit = suspects.find((threads) => threads.includes(uuid(thread)));
          return (group === otherGroup) !== (thread === otherThread) && !unit?.includes(uuid(otherThread));
        }),
      );
      expect(wrong).toEqual([]);
    }),
    { numRuns: runs(2000) },
  );
});

it('suspects nothing in a state that its links make', () => {
  const scan = new ThreadScan(standInOf);
  for (let thread = 0; thread < 500; thread += 1) {
    for (let n = 0; n < 5; n += 1) scan.addMessageId('a', `${thread}-${n}`, uuid(thread), null);
  }
  for (let thread = 0; thread < 500; thread += 1) {
    for (let n = 0; n < 4; n += 1) {
      scan.addEmail({
        ...SENT,
        threadId: uuid(thread),
        messageIds: [`${thread}-${n}`],
        links: [`${thread}-${n + 1}`],
      });
    }
  }
  expect(scan.suspects()).toEqual([]);
});
