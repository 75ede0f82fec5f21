import fc from 'fast-check';
import { expect, it } from 'vitest';
import { groupByLinks } from './link-graph.ts';
import { ThreadScan } from './thread-scan.ts';
import { runs } from '../../../test/helpers/runs.ts';

const uuid = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`;
const ids = Array.from({ length: 12 }, (_, index) => `m${index}`);

/** Emails with links, and arbitrary threads for them and the Message-IDs. */
const states = fc.record({
  emails: fc.array(
    fc.record({
      messageIds: fc.uniqueArray(fc.constantFrom(...ids), { minLength: 1, maxLength: 2 }),
      links: fc.array(fc.constantFrom(...ids), { maxLength: 2 }),
      thread: fc.nat(5),
    }),
    { maxLength: 8 },
  ),
  owners: fc.array(fc.option(fc.nat(5), { nil: null, freq: 9 }), {
    minLength: ids.length,
    maxLength: ids.length,
  }),
});

it('finds every thread that is not what its links say', () => {
  fc.assert(
    fc.property(states, ({ emails, owners }) => {
      const scan = new ThreadScan();
      for (const [index, owner] of owners.entries()) {
        if (owner !== null) scan.addMessageId('a', ids[index]!, uuid(owner));
      }
      for (const { messageIds, links, thread } of emails) {
        scan.addEmail({ accountId: 'a', threadId: uuid(thread), messageIds, links, anchorMessageId: null });
      }
      const suspects = scan.suspects();

      // The rule in its simplest form: one group is in one thread, and one thread in one group.
      const groups = groupByLinks({
        emails: emails.map((email, index) => ({
          ...email,
          id: String(index),
          anchorId: null,
          partyId: null,
          date: new Date(0),
          label: null,
        })),
        messageIds: new Map(ids.map((id) => [id, null])),
        separations: [],
      });
      const placed = [
        ...emails.map(({ thread }, index) => [groups.emails[index]!, thread] as const),
        ...ids.map((id, index) => [groups.messageIds.get(id)!, owners[index] ?? null] as const),
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
  const scan = new ThreadScan();
  for (let thread = 0; thread < 500; thread += 1) {
    for (let n = 0; n < 5; n += 1) scan.addMessageId('a', `${thread}-${n}`, uuid(thread));
  }
  for (let thread = 0; thread < 500; thread += 1) {
    for (let n = 0; n < 4; n += 1) {
      scan.addEmail({
        accountId: 'a',
        threadId: uuid(thread),
        messageIds: [`${thread}-${n}`],
        links: [`${thread}-${n + 1}`],
        anchorMessageId: null,
      });
    }
  }
  expect(scan.suspects()).toEqual([]);
});
