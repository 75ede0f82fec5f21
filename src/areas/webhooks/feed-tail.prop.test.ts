/** Readers of the end of the feed, at any positions, get what they would read from the feed itself. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { runs } from '../../../test/helpers/runs.ts';
import type { EventFeed, EventFilter, FeedEvent } from '../events/event-ports.ts';
import { FeedTail } from './feed-tail.ts';

const ACCOUNTS = ['main', 'sales'];
const CUSTOMERS = ['6f1c2a9e-3b47-4d58-8e0a-5c7d9b1f2e34', null];
const TYPES = ['email.sent', 'email.received'] as const;
/** More than the tail keeps, when some are added. */
const MANY = 900;

interface Added {
  readonly type: (typeof TYPES)[number];
  readonly account: string;
  readonly customer: string | null;
  readonly historical: boolean;
}

function createFeed() {
  const events: (FeedEvent & Added)[] = [];
  const passes = (event: FeedEvent & Added, filter: EventFilter) =>
    (filter.types?.includes(event.type) ?? true) &&
    (filter.accountId === null || filter.accountId === event.account) &&
    (filter.customerId === null || filter.customerId === event.customer) &&
    (filter.isHistorical === null || filter.isHistorical === event.historical);
  const feed: Pick<EventFeed, 'read' | 'readLatest'> = {
    async read(after, filter, limit) {
      const found = events.filter((event) => event.position > after && passes(event, filter)).slice(0, limit);
      const latest = events.at(-1)?.position ?? 0;
      await Promise.resolve();
      const isLast = found.length < limit;
      return {
        events: found,
        next: isLast ? Math.max(after, latest) : (found.at(-1)?.position ?? after),
        isLast,
      };
    },
    readLatest: async () => events.at(-1)?.position ?? 0,
  };
  return {
    feed,
    add(added: Added) {
      const position = (events.at(-1)?.position ?? 0) + 1 + (events.length % 3);
      const { type, account, customer, historical } = added;
      const json = JSON.stringify({
        type,
        account_id: account,
        customer_id: customer,
        historical,
        data: { position },
      });
      events.push({ position, json, ...added });
    },
    wanted: (filter: EventFilter) =>
      events.filter((event) => passes(event, filter)).map(({ position }) => position),
  };
}

const added = fc.record({
  type: fc.constantFrom(...TYPES),
  account: fc.constantFrom(...ACCOUNTS),
  customer: fc.constantFrom(...CUSTOMERS),
  historical: fc.boolean(),
});
const filters = fc.record({
  types: fc.constantFrom(null, ['email.sent'] as const),
  accountId: fc.constantFrom(null, 'sales'),
  customerId: fc.constantFrom(null, CUSTOMERS[0] ?? null),
  isHistorical: fc.constantFrom(null, false),
});
const steps = fc.oneof(
  fc.record({ kind: fc.constant('add' as const), event: added, count: fc.constantFrom(1, 3, MANY) }),
  fc.record({
    kind: fc.constant('read' as const),
    reader: fc.nat(2),
    limit: fc.integer({ min: 1, max: 60 }),
    times: fc.constantFrom(1, 40),
  }),
);

it('each reader gets each event that it wants once, in order, however far apart they are', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(filters, { minLength: 3, maxLength: 3 }),
      fc.array(steps, { maxLength: 25 }),
      async (wanted, script) => {
        const { feed, add, wanted: wantedOf } = createFeed();
        const tail = new FeedTail(feed);
        const readers = wanted.map((filter) => ({ filter, at: 0, got: [] as number[] }));
        const read = async (reader: (typeof readers)[number], limit: number) => {
          const page = await tail.read(reader.at, reader.filter, limit);
          reader.got.push(...page.events.map(({ position }) => position));
          reader.at = page.next;
          return page;
        };
        for (const step of script) {
          if (step.kind === 'add') {
            for (let count = 0; count < step.count; count += 1) add(step.event);
            tail.grown();
          } else {
            const reader = readers[step.reader] as (typeof readers)[number];
            for (let time = 0; time < step.times; time += 1) await read(reader, step.limit);
          }
        }
        // In parallel, as in the service.
        await Promise.all(
          readers.map(async (reader) => {
            for (;;) if ((await read(reader, 50)).isLast) return;
          }),
        );
        for (const { filter, got } of readers) expect(got).toEqual(wantedOf(filter));
      },
    ),
    { numRuns: runs(200) },
  ));

it('has the thin form of an event once, without its data', async () => {
  const { feed, add } = createFeed();
  add({ type: 'email.sent', account: 'main', customer: null, historical: false });
  const tail = new FeedTail(feed);
  const all = { types: null, accountId: null, customerId: null, isHistorical: null };
  const [event] = (await tail.read(0, all, 10)).events;
  expect(JSON.parse(event?.thin ?? '')).toEqual({
    type: 'email.sent',
    account_id: 'main',
    customer_id: null,
    historical: false,
  });
});
