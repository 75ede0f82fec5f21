import { expect, it } from 'vitest';
import { createManualTimers } from '../../../test/helpers/manual-timers.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import type { DueNow } from './due-work.ts';
import { ServiceError } from '../../core/errors.ts';
import { WorkWatch, type WorkKind } from './work-watch.ts';

const NOTHING: DueNow = {
  sendInMs: null,
  search: false,
  customers: false,
  reports: false,
  copies: false,
  absences: false,
  erasures: false,
  removals: false,
  deletedFiles: false,
  sentCopies: false,
  mailboxes: false,
  rules: false,
  webhooks: false,
  webhookVersion: 0,
  feedPosition: null,
  suppressionVersion: 0,
  accountVersion: 0,
};
const KINDS = [
  'sends',
  'search',
  'customers',
  'reports',
  'copies',
  'mailboxes',
  'rules',
  'suppressions',
  'webhooks',
  'accounts',
] as const;

/** A watch whose clock and database a test moves. */
function createWatch(pollMs = 2000) {
  const timers = createManualTimers();
  const database = { due: NOTHING, isAway: false };
  const looks: number[] = [];
  const woken: { kind: WorkKind; at: number }[] = [];
  const lines: string[] = [];
  const log = (_fields: object, text: string) => lines.push(text);
  const watch = new WorkWatch(
    {
      async find() {
        looks.push(timers.now());
        if (database.isAway) throw new ServiceError('database_unavailable');
        return database.due;
      },
    },
    { pollMs, logger: { ...silentLogger, warn: log, error: log }, timers },
  );
  for (const kind of KINDS) watch.on(kind, () => woken.push({ kind, at: timers.now() }));
  return { watch, database, looks, woken, lines, advance: timers.advance };
}

it('looks every two seconds while nothing happens, and wakes no loop but those whose lists it has not seen', async () => {
  const { watch, looks, woken, advance } = createWatch();
  watch.start();
  await advance(10_000);
  // The first look reads the list's version, and another follows soon.
  expect(looks).toEqual([0, 500, 2500, 4500, 6500, 8500]);
  expect(woken).toEqual([
    { kind: 'suppressions', at: 0 },
    { kind: 'webhooks', at: 0 },
    { kind: 'accounts', at: 0 },
  ]);
});

it.each([
  ['search', { search: true }],
  ['customers', { customers: true }],
  ['reports', { reports: true }],
  ['copies', { copies: true }],
  ['mailboxes', { mailboxes: true }],
  ['suppressions', { suppressionVersion: 7 }],
  ['accounts', { accountVersion: 7 }],
  ['sends', { sendInMs: -3 }],
] as const)(
  'wakes the loop of %s for what another process left, and that loop alone',
  async (kind, found) => {
    const { watch, database, woken, advance } = createWatch();
    watch.start();
    await advance(1000);
    woken.length = 0;
    database.due = { ...NOTHING, ...found };
    await advance(2000);
    expect(woken[0]).toEqual({ kind, at: 2500 });
    expect(new Set(woken.map((one) => one.kind))).toEqual(new Set([kind]));
  },
);

it('looks at once at what this process wrote, and twice a second while it goes on writing', async () => {
  const { watch, looks, advance } = createWatch();
  watch.start();
  await advance(3000);
  looks.length = 0;
  for (let writes = 0; writes < 29; writes += 1) {
    watch.soon();
    await advance(50);
  }
  expect(looks).toEqual([3000, 3500, 4000]);
});

it.each([
  ['is changed', { webhookVersion: 1 }],
  ['is free', { webhooks: true }],
  ['gets events of other processes', { feedPosition: 7 }],
])('wakes the deliverer when a webhook %s', async (_, due) => {
  const { watch, database, woken, advance } = createWatch();
  watch.start();
  await advance(1000);
  woken.length = 0;
  database.due = { ...NOTHING, ...due };
  await advance(2000);
  expect(woken[0]?.kind).toBe('webhooks');
});
it('looks again when something is written during a look', async () => {
  const { watch, looks, advance } = createWatch();
  watch.start();
  await advance(4500);
  watch.soon();
  await advance(1000);
  expect(looks.slice(-2)).toEqual([4500, 5000]);
});

it('wakes the send queue in the very moment in which the first send is due', async () => {
  const { watch, database, woken, advance } = createWatch();
  watch.start();
  await advance(1000);
  database.due = { ...NOTHING, sendInMs: 1234 };
  woken.length = 0;
  await advance(1500 + 1234);
  expect(woken[0]).toEqual({ kind: 'sends', at: 2500 + 1234 });
});

it('logs an outage once, and wakes every loop after it', async () => {
  const { watch, database, woken, lines, advance } = createWatch();
  watch.start();
  await advance(1000);
  database.isAway = true;
  await advance(60_000);
  expect(lines).toHaveLength(1);
  woken.length = 0;
  database.isAway = false;
  await advance(2000);
  expect(woken.map(({ kind }) => kind)).toEqual([...KINDS]);
});

it('does nothing after its stop', async () => {
  const { watch, looks, advance } = createWatch();
  watch.start();
  await advance(1000);
  await watch.stop();
  looks.length = 0;
  watch.soon();
  await advance(10_000);
  expect(looks).toEqual([]);
});
