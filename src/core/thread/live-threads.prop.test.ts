/**
 * Laws of threads on a model of recording, for any mix of received mail, sends, relays' Message-IDs and decisions: placed one
 * after the other, emails make the threads that all of them make together, which is what `rethread` would make; and
 * the order in which mail comes does not count. `src/areas/threads/threads.db.prop.test.ts` compares the service with the
 * model step by step.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ModelDecision } from '../../../test/helpers/thread-model-decisions.ts';
import { createThreadModel, type ModelStep, type ThreadModel } from '../../../test/helpers/thread-model.ts';
import { idOfPoint } from './meeting-points.ts';
import { runs } from '../../../test/helpers/runs.ts';

const RUNS = runs(1000);
const TIMEOUT_MS = 60_000 + RUNS * 100;

/** Message-IDs; few, so that they meet. Sends have the last ones. */
const NAMES = Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? `m${index}` : `m${index}.1234567`));
const RECEIVED = NAMES.slice(0, 7);
const SENT = NAMES.slice(7);

/** Of counterparties, and of two people; few, so that they meet. */
const keys = fc.uniqueArray(fc.constantFrom('k0', 'k1', 'k2'), { minLength: 1, maxLength: 2 });
const date = fc.nat(2).map((day) => new Date(day));
const links = fc.uniqueArray(fc.constantFrom(...NAMES), { maxLength: 4 });
const customer = fc.option(fc.constantFrom('A', 'B', 'C'), { nil: null, freq: 4 });
/** The nth email, counted round. */
const nth = fc.nat(40);

const received = fc.record({
  kind: fc.constant('receive' as const),
  own: fc.uniqueArray(fc.constantFrom(...RECEIVED), { minLength: 1, maxLength: 2 }),
  links,
  keys,
  date,
});
const step = fc.oneof(
  { weight: 6, arbitrary: received },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('send' as const),
      own: fc.constantFrom(...SENT),
      links,
      keys: keys.map((all) => all.slice(0, 1)),
      thread: fc.option(nth, { nil: null, freq: 2 }),
      answered: fc.option(fc.constantFrom(...NAMES), { nil: null }),
      customer,
      date,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('split' as const, 'move' as const, 'merge' as const),
      at: nth,
      emails: fc.uniqueArray(nth, { minLength: 1, maxLength: 3 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('relay' as const),
      email: nth,
      name: fc.constantFrom(...NAMES),
    }),
  },
);

/** Applies a step as the service would: numbers of existing emails, no Message-ID sent twice. */
function take(model: ThreadModel, one: ModelStep): void {
  const { emails } = model;
  const isBorne = (name: string) => emails.some(({ messageIds }) => messageIds.includes(name));
  const at = (index: number) => index % Math.max(emails.length, 1);
  if (one.kind === 'receive') model.take(one);
  else if (one.kind === 'send') {
    if (emails.some(({ isSent, messageIds }) => isSent && messageIds[0] === one.own)) return;
    const named = one.answered === null ? one.links : [...new Set([one.answered, ...one.links])];
    model.take({ ...one, links: named, thread: one.thread === null ? null : at(one.thread) });
  } else if (one.kind === 'relay') {
    const email = emails[at(one.email)];
    const mayHave = email?.isSent === true && email.messageIds.length === 1;
    if (mayHave && !isBorne(one.name)) model.take({ ...one, email: at(one.email) });
  } else {
    model.take({ ...one, at: at(one.at), emails: [...new Set(one.emails.map(at))] });
  }
}

/** The emails that were split off are together, and so are those that stay. */
function requireSplit(
  model: ThreadModel,
  { at, emails: named }: ModelDecision,
  before: ThreadModel['places'],
): void {
  const idOf = (index: number) => model.emails[index % model.emails.length]?.id ?? '';
  const inThread = [...before.keys()].filter((id) => before.get(id) === before.get(idOf(at)));
  const off = inThread.filter((id) => named.some((index) => idOf(index) === id));
  const staying = inThread.filter((id) => !off.includes(id));
  if (off.length === 0 || staying.length === 0) return;
  const [threads, others] = [off, staying].map((ids) => new Set(ids.map((id) => model.places.get(id))));
  expect([threads?.size, others?.size, new Set([...(threads ?? []), ...(others ?? [])]).size]).toEqual([
    1, 1, 2,
  ]);
}

/** Thread → the customers that sends named for it. */
function partiesOf(model: ThreadModel): ReadonlyMap<string, ReadonlySet<string>> {
  const parties = new Map<string, Set<string>>();
  for (const { id, partyId } of model.emails) {
    const thread = model.places.get(id) ?? '';
    const known = parties.get(thread) ?? new Set();
    parties.set(thread, partyId === null ? known : known.add(partyId));
  }
  return parties;
}

function requireOneParty(model: ThreadModel): void {
  for (const parties of partiesOf(model).values()) expect(parties.size).toBeLessThanOrEqual(1);
}

/** Without a decision, a send stays beside the email that its caller chose, unless that turned out to be another customer's. */
function requireAnchors(model: ThreadModel): void {
  const parties = partiesOf(model);
  for (const send of model.emails) {
    const anchor = model.emails.find(({ id }) => id === send.anchorId);
    if (anchor === undefined || model.isDecided(send) || anchor.label !== null) continue;
    const [own = '', chosen = ''] = [model.places.get(send.id), model.places.get(anchor.id)];
    if (own === chosen) continue;
    expect([parties.get(own)?.size, parties.get(chosen)?.size]).toEqual([1, 1]);
  }
}

it(
  'placed one after the other, emails make the threads that all of them make together',
  () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 2, maxLength: 14 }), (steps) => {
        const model = createThreadModel();
        for (const one of steps) {
          const before = new Map(model.places);
          take(model, one);
          expect(model.stored()).toEqual(model.expected());
          requireOneParty(model);
          requireAnchors(model);
          if (one.kind === 'split') requireSplit(model, one, before);
        }
      }),
      { numRuns: RUNS },
    );
  },
  TIMEOUT_MS,
);

it(
  'after any mix of sends and decisions, the order in which mail comes does not count',
  () => {
    const histories = fc.record({
      before: fc.array(step, { maxLength: 8 }),
      later: fc
        .uniqueArray(received, { minLength: 2, maxLength: 6, selector: (mail) => JSON.stringify(mail) })
        .chain((mails) =>
          fc.tuple(fc.constant(mails), fc.shuffledSubarray(mails, { minLength: mails.length })),
        ),
    });
    fc.assert(
      fc.property(histories, ({ before, later }) => {
        const threads = later.map((mails) => {
          const model = createThreadModel();
          for (const one of before) take(model, one);
          const known = model.emails.length;
          for (const mail of mails) model.take(mail);
          return namedByMail(model, known, mails);
        });
        expect(threads[1]).toEqual(threads[0]);
      }),
      { numRuns: RUNS },
    );
  },
  TIMEOUT_MS,
);

/** The threads and refused links; emails from the `known`th on are identified by the content of their mail. */
function namedByMail(model: ThreadModel, known: number, mails: readonly object[]): unknown {
  const names = new Map(
    model.emails.slice(known).map(({ id }, index) => [id, JSON.stringify(mails[index])] as const),
  );
  // Points of known Message-IDs are left from when they were not.
  const all = new Set(model.names());
  const isLeft = (name: string) => idOfPoint(name) !== name && all.has(idOfPoint(name));
  const named = (separator: string) => (text: string) =>
    text
      .split(separator)
      .filter((word) => !isLeft(word))
      .map((word) => names.get(word) ?? word)
      .sort()
      .join(separator);
  const { threads, refused } = model.stored();
  return {
    threads: threads
      .map(named(' | '))
      .filter((text) => text !== '')
      .sort(),
    refused: refused.map(named(' ')).sort(),
  };
}
