/** A mailbox on a server that follows the rules, read only by plans: whatever happens in between, the set is right. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareUids, NEVER_OPENED, planSync, sinceOf, type MailboxProgress } from './sync-plan.ts';
import { differenceOf, joinRanges, NO_UIDS, toUidSet, type UidSet } from './uid-set.ts';
import { runs } from '../../../test/helpers/runs.ts';

interface Server {
  uidValidity: number;
  uidNext: number;
  modSeq: bigint;
  uids: Set<number>;
  /** Expunged UID → mod-sequence. */
  vanished: Map<number, bigint>;
}

interface Reader {
  progress: MailboxProgress;
  known: UidSet;
}

type Step =
  | { readonly kind: 'arrive'; readonly count: number; readonly gap: number }
  | { readonly kind: 'expunge'; readonly share: number }
  | { readonly kind: 'renew'; readonly keepUids: boolean }
  | {
      readonly kind: 'look';
      readonly cutBefore: 'changes' | 'progress' | 'never';
      readonly between: Step | null;
    };

const change: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant('arrive' as const),
    count: fc.integer({ min: 1, max: 4 }),
    gap: fc.integer({ min: 0, max: 2 }),
  }),
  fc.record({ kind: fc.constant('expunge' as const), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: change },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('renew' as const), keepUids: fc.boolean() }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('look' as const),
      cutBefore: fc.constantFrom('changes', 'progress', 'never'),
      between: fc.option(change),
    }),
  },
);

function apply(server: Server, reader: Reader, step: Step, options: Options): void {
  if (step.kind === 'arrive') {
    for (let index = 0; index < step.count; index += 1) server.uids.add(server.uidNext++);
    server.uidNext += step.gap;
    server.modSeq += 1n;
  } else if (step.kind === 'expunge') {
    server.modSeq += 1n;
    for (const uid of [...server.uids].filter((_, index) => (index % 7) / 7 < step.share)) {
      server.uids.delete(uid);
      server.vanished.set(uid, server.modSeq);
    }
  } else if (step.kind === 'renew') {
    server.uidValidity += 1;
    if (!step.keepUids) server.uids = new Set([...server.uids].map((_, index) => index + 1));
    server.uidNext = Math.max(0, ...server.uids) + 1;
    server.vanished.clear();
  } else {
    look(server, reader, options, step);
  }
}

interface Options {
  readonly qresync: boolean;
  readonly tellsUidNext: boolean;
}

/** As areas/mailboxes/sync-mailbox.ts does it; returns the number of commands. */
function look(
  server: Server,
  reader: Reader,
  options: Options,
  { cutBefore, between }: { cutBefore: string; between: Step | null } = { cutBefore: 'never', between: null },
): number {
  const { progress } = reader;
  const modSeq = progress.highestModSeq;
  const opened = {
    uidValidity: server.uidValidity,
    uidNext: options.tellsUidNext ? server.uidNext : null,
    exists: server.uids.size,
    highestModSeq: options.qresync ? server.modSeq : null,
    vanished:
      options.qresync && modSeq !== null && progress.uidValidity === server.uidValidity
        ? toUidSet([...server.vanished].filter(([, at]) => at > modSeq).map(([uid]) => uid))
        : null,
  };
  const since = sinceOf(progress, null);
  const plan = planSync(progress, opened, since);
  if (plan.kind === 'nothing') return 1;
  if (plan.kind === 'compare' && plan.newGeneration) reader.known = NO_UIDS;
  if (between !== null) apply(server, reader, between, options);
  if (cutBefore === 'changes') {
    // The state of another generation is useless, and nothing of this one is recorded yet.
    if (plan.kind === 'compare' && plan.newGeneration) reader.progress = NEVER_OPENED;
    return 2;
  }
  const listed = toUidSet([...server.uids].filter((uid) => plan.kind === 'compare' || uid >= plan.from));
  const changes =
    plan.kind === 'compare'
      ? compareUids(reader.known, listed)
      : { arrived: differenceOf(listed, reader.known), gone: plan.gone };
  reader.known = differenceOf(joinRanges([...reader.known, ...changes.arrived]), changes.gone);
  if (cutBefore === 'progress') {
    if (plan.kind === 'compare' && plan.newGeneration) reader.progress = NEVER_OPENED;
    return 2;
  }
  reader.progress = { ...opened, since };
  return 2;
}

const newServer = (): Server => ({
  uidValidity: 1,
  uidNext: 1,
  modSeq: 1n,
  uids: new Set(),
  vanished: new Map(),
});

describe.each([
  { qresync: false, tellsUidNext: true },
  { qresync: true, tellsUidNext: true },
  { qresync: false, tellsUidNext: false },
])('plans with %o', (options) => {
  it('end with exactly the right set after any interleaving, and then ask for nothing more', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const server = newServer();
        const reader: Reader = { progress: NEVER_OPENED, known: NO_UIDS };
        for (const one of steps) apply(server, reader, one, options);
        look(server, reader, options);
        expect(reader.known).toEqual(toUidSet(server.uids));
        const before = structuredClone(reader);
        const commands = look(server, reader, options);
        expect(reader).toEqual(before);
        expect(commands).toBe(options.tellsUidNext ? 1 : 2);
      }),
      { numRuns: runs(500) },
    );
  });
});

describe('the first day of a mailbox', () => {
  const day = (text: string) => new Date(`${text}T00:00:00Z`);
  const known = { ...NEVER_OPENED, uidValidity: 1, uidNext: 5, since: day('2026-02-01') };

  it.each([
    ['is the wanted one at first', NEVER_OPENED, day('2026-03-01'), day('2026-03-01')],
    ['moves back', known, day('2026-01-01'), day('2026-01-01')],
    ['never moves forward', known, day('2026-03-01'), day('2026-02-01')],
    ['goes when all are wanted', known, null, null],
    ['does not come back', { ...known, since: null }, day('2026-03-01'), null],
  ])('%s', (_title, progress, wanted, expected) => {
    expect(sinceOf(progress, wanted)).toEqual(expected);
  });

  it('has all listed again when it moves', () => {
    const server = { uidValidity: 1, uidNext: 5, exists: 0, highestModSeq: null, vanished: null };
    expect(planSync(known, server, day('2026-02-01'))).toEqual({ kind: 'nothing' });
    expect(planSync(known, server, day('2026-01-01'))).toEqual({ kind: 'compare', newGeneration: false });
  });

  it('has all listed again by a server whose UIDNEXT shrinks', () => {
    const server = { uidValidity: 1, uidNext: 4, exists: 0, highestModSeq: null, vanished: NO_UIDS };
    expect(planSync(known, server, known.since)).toEqual({ kind: 'compare', newGeneration: false });
  });
});
