import fc from 'fast-check';
import { expect, it } from 'vitest';
import { MboxProgress } from './import-progress.ts';

it('an mbox file is read again from the first email that is not done, in whatever order they end', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ size: fc.integer({ min: 1, max: 100 }), isDone: fc.boolean() }), { minLength: 1 }),
      fc.infiniteStream(fc.nat()),
      fc.nat({ max: 1000 }),
      (emails, picks, start) => {
        const progress = new MboxProgress(start, () => undefined);
        const open: { offset: number; isDone: boolean }[] = [];
        const undone = new Set<number>();
        let offset = start;
        const endOne = () => {
          const [email] = open.splice(picks.next().value % open.length, 1);
          if (email?.isDone !== true) return;
          progress.done(email.offset);
          undone.delete(email.offset);
        };
        const position = () => Math.min(...undone, offset);
        for (const { size, isDone } of emails) {
          progress.begin(offset);
          undone.add(offset);
          open.push({ offset, isDone });
          // Some emails are under way at the same time.
          while (open.length > 4) endOne();
          expect(progress.position).toBeLessThanOrEqual(position());
          offset += size;
        }
        progress.end(offset);
        while (open.length > 0) endOne();
        expect(progress.position).toBe(position());
      },
    ),
  );
});
