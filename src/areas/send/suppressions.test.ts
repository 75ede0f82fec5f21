import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { ServiceError } from '../../core/errors.ts';
import type { Timers } from '../../platform/base/timers.ts';
import type { SuppressionChange } from './suppression-store.ts';
import { createSuppressionList } from './suppressions.ts';

const SINCE = new Date('2026-01-31T12:00:00.000Z');

const TEST_DIGEST_KEY = { inner: Buffer.alloc(64, 1), outer: Buffer.alloc(64, 2) };

/** A list whose true state a test changes. */
function createTruth(timers?: Timers) {
  const changes: SuppressionChange[] = [];
  /** `gate` delays the end of each reading of changes. */
  const truth = { away: false, lookups: 0, readings: 0, gate: Promise.resolve() };
  const answer = <T>(value: T): T => {
    if (truth.away) throw new ServiceError('database_unavailable');
    return value;
  };
  const events: Record<string, unknown>[] = [];
  const list = createSuppressionList({
    seed: 1,
    logger: silentLogger,
    ...(timers === undefined ? {} : { timers }),
    security: { note: (event, fields) => events.push({ event, ...fields }) },
    store: {
      readDigestKey: async () => TEST_DIGEST_KEY,
      async changesAfter(version, limit) {
        truth.readings += 1;
        const found = answer(changes.filter((change) => change.version > version).slice(0, limit));
        await truth.gate;
        return found;
      },
      async findSuppressed(addresses) {
        truth.lookups += 1;
        const latest = new Map(answer(changes).map((change) => [change.address, change]));
        return addresses.flatMap((address) => {
          const found = latest.get(address);
          if (found?.active !== true) return [];
          return [{ ...found, status: null, diagnostic: '', note: null, emailId: null, reportId: null }];
        });
      },
    },
  });
  const change = (address: string, active: boolean) => {
    changes.push({ address, active, reason: 'hard_bounce', since: SINCE, version: changes.length + 1 });
  };
  return { truth, list, change, events };
}

const to = (localPart: string) => [{ name: '', localPart, domain: 'example.com' }];

describe('the copy of the list', () => {
  it('does not ask the database about other addresses', async () => {
    const { truth, list, change } = createTruth();
    change('gone@example.com', true);
    await list.refresh();
    expect(list.refuseSuppressed(to('fine'))).toBeNull();
    expect(truth.lookups).toBe(0);
  });

  it('refuses an address in upper or lower case, and names address, reason and time', async () => {
    const { list, change } = createTruth();
    change('gone@example.com', true);
    await list.refresh();
    await expect(list.refuseSuppressed(to('GONE'))).rejects.toMatchObject({
      code: 'recipient_suppressed',
      status: 422,
      text: 'An gone@example.com wird nichts gesendet: Die Adresse ist seit 2026-01-31T12:00:00.000Z gesperrt (die Adresse nimmt keine E-Mails an). Die Sperre muss erst aufgehoben werden.',
    });
  });

  it('lets through what was lifted, before it is refreshed and after', async () => {
    const { truth, list, change } = createTruth();
    change('gone@example.com', true);
    await list.refresh();
    change('gone@example.com', false);
    await expect(list.refuseSuppressed(to('gone'))).resolves.toBeUndefined();
    expect(truth.lookups).toBe(1);
    await list.refresh();
    expect(list.refuseSuppressed(to('gone'))).toBeNull();
  });

  it('decides alone while the database is unavailable', async () => {
    const { truth, list, change } = createTruth();
    change('gone@example.com', true);
    await list.refresh();
    truth.away = true;
    await expect(list.refresh()).rejects.toMatchObject({ code: 'database_unavailable' });
    await expect(list.refuseSuppressed(to('gone'))).rejects.toMatchObject({ code: 'recipient_suppressed' });
    expect(list.refuseSuppressed(to('fine'))).toBeNull();
    truth.away = false;
    change('fine@example.com', true);
    await list.refresh();
    await expect(list.refuseSuppressed(to('fine'))).rejects.toMatchObject({ code: 'recipient_suppressed' });
  });
});

describe('until the copy is complete', () => {
  function hold(truth: { gate: Promise<void> }): () => void {
    let open = () => {};
    truth.gate = new Promise((resolve) => (open = resolve));
    return open;
  }

  it('the database is asked about every recipient, and those on the list are refused', async () => {
    const { truth, list, change } = createTruth();
    change('gone@example.com', true);
    const release = hold(truth);
    const reading = list.refresh();
    await expect(list.refuseSuppressed([...to('fine'), ...to('Gone')])).rejects.toMatchObject({
      code: 'recipient_suppressed',
      text: expect.stringContaining('gone@example.com'),
    });
    await expect(list.refuseSuppressed(to('fine'))).resolves.toBeUndefined();
    expect(truth.lookups).toBe(2);
    release();
    await reading;
    expect(list.refuseSuppressed(to('fine'))).toBeNull();
    await expect(list.refuseSuppressed(to('gone'))).rejects.toMatchObject({ code: 'recipient_suppressed' });
  });

  it('nothing is sent while the database does not answer', async () => {
    const { truth, list } = createTruth();
    truth.away = true;
    await expect(list.refresh()).rejects.toMatchObject({ code: 'database_unavailable' });
    await expect(list.refuseSuppressed(to('fine'))).rejects.toMatchObject({ code: 'database_unavailable' });
    truth.away = false;
    await list.refresh();
    truth.away = true;
    expect(list.refuseSuppressed(to('fine'))).toBeNull();
  });

  it('a caller that changes the list does not wait for it, and it is not complete without the change', async () => {
    const { truth, list, change } = createTruth();
    const release = hold(truth);
    const reading = list.refresh();
    // It has already read, and is only delayed.
    change('late@example.com', true);
    await list.refresh();
    await expect(list.refuseSuppressed(to('late'))).rejects.toMatchObject({ code: 'recipient_suppressed' });
    release();
    await reading;
    const { lookups } = truth;
    await expect(list.refuseSuppressed(to('late'))).rejects.toMatchObject({ code: 'recipient_suppressed' });
    expect(list.refuseSuppressed(to('fine'))).toBeNull();
    expect(truth.lookups).toBe(lookups + 1);
  });
});

describe('the security log', () => {
  it('holds every change, by any process, with the state before; not the entries that were there at the start', async () => {
    const { list, change, events } = createTruth();
    change('old@example.com', true);
    await list.refresh();
    expect(events).toEqual([]);
    change('new@example.com', true);
    change('old@example.com', false);
    await list.refresh();
    await list.refresh();
    const event = 'suppression.changed';
    expect(events).toEqual([
      { event, address: 'new@example.com', before: null, after: 'hard_bounce', since: SINCE },
      { event, address: 'old@example.com', before: 'hard_bounce', after: null, since: SINCE },
    ]);
  });
});

describe('the freshness of the copy', () => {
  /** A clock that a test moves. */
  function createClock() {
    let nowMs = 0;
    let waiting: { at: number; run: () => void }[] = [];
    const timers: Timers = {
      now: () => nowMs,
      after(delayMs, run) {
        const timer = { at: nowMs + delayMs, run };
        waiting.push(timer);
        return () => (waiting = waiting.filter((other) => other !== timer));
      },
    };
    const pass = (ms: number) => {
      nowMs += ms;
      for (const timer of waiting.filter(({ at }) => at <= nowMs)) timer.run();
      waiting = waiting.filter(({ at }) => at > nowMs);
    };
    return { timers, pass };
  }

  const settled = () => new Promise((resolve) => setImmediate(resolve));

  it('is restored by the first send after a rest, which is refused what another process suppressed', async () => {
    const { timers, pass } = createClock();
    const { truth, list, change } = createTruth(timers);
    await list.refresh();
    pass(3_600_000);
    change('gone@example.com', true);
    expect(truth.readings).toBe(1);
    await expect(list.refuseSuppressed(to('gone'))).rejects.toMatchObject({ code: 'recipient_suppressed' });
    expect(truth.readings).toBe(2);
  });

  it('makes no send wait while sends come, and costs one query each half second', async () => {
    const { timers, pass } = createClock();
    const { truth, list, change } = createTruth(timers);
    await list.refresh();
    truth.readings = 0;
    for (let sends = 0; sends < 100; sends += 1) {
      pass(25);
      expect(list.refuseSuppressed(to('fine'))).toBeNull();
      await settled();
    }
    expect(truth.readings).toBe(5);
    change('gone@example.com', true);
    // Within a second, no send waits for it, and no suppressed one passes afterwards.
    for (let passed = 0; passed < 1000; passed += 25) {
      pass(25);
      void list.refuseSuppressed(to('fine'));
      await settled();
    }
    await expect(list.refuseSuppressed(to('gone'))).rejects.toMatchObject({ code: 'recipient_suppressed' });
  });

  it('holds up one send for a moment when the database does not answer, and no other', async () => {
    const { timers, pass } = createClock();
    const { truth, list, change } = createTruth(timers);
    change('gone@example.com', true);
    await list.refresh();
    pass(3_600_000);
    let answer = () => {};
    truth.gate = new Promise((resolve) => (answer = resolve));
    const first = list.refuseSuppressed(to('fine'));
    expect(first).not.toBeNull();
    pass(250);
    await first;
    for (let sends = 0; sends < 10; sends += 1) {
      pass(1000);
      expect(list.refuseSuppressed(to('fine'))).toBeNull();
      await expect(list.refuseSuppressed(to('gone'))).rejects.toMatchObject({ code: 'recipient_suppressed' });
    }
    answer();
    await settled();
    pass(1000);
    expect(list.refuseSuppressed(to('fine'))).not.toBeNull();
  });

  it('does not make sends wait for a database that is unavailable', async () => {
    const { timers, pass } = createClock();
    const { truth, list } = createTruth(timers);
    await list.refresh();
    truth.away = true;
    pass(10_000);
    await list.refuseSuppressed(to('fine'));
    for (let sends = 0; sends < 10; sends += 1) {
      pass(1000);
      expect(list.refuseSuppressed(to('fine'))).toBeNull();
      await settled();
    }
  });
});
