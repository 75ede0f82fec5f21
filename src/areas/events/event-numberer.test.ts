import { expect, it } from 'vitest';
import { createManualTimers } from '../../../test/helpers/manual-timers.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { ServiceError } from '../../core/errors.ts';
import { startEventNumberer } from './event-numberer.ts';

function createNumberer() {
  const timers = createManualTimers();
  const database = { isAway: false, unnumbered: 0 };
  const numbered: number[] = [];
  const tries: number[] = [];
  let notices = 0;
  const lines: string[] = [];
  const log = (_fields: object, text: string) => lines.push(text);
  const numberer = startEventNumberer({
    feed: {
      async number(atMost) {
        tries.push(timers.now());
        if (database.isAway) throw new ServiceError('database_unavailable');
        const moved = Math.min(atMost, database.unnumbered);
        database.unnumbered -= moved;
        if (moved > 0) numbered.push(timers.now());
        return moved;
      },
      readLatest: async () => 0,
    },
    signal: {
      waiting: 0,
      onGrowth: () => undefined,
      notify: () => void (notices += 1),
      wait: async () => {},
    },
    logger: { ...silentLogger, warn: log, error: log },
    timers,
  });
  const write = (count = 1) => {
    database.unnumbered += count;
    numberer.wake();
  };
  return { numberer, timers, database, numbered, tries, lines, write, noticesSoFar: () => notices };
}

it('numbers what is written within some milliseconds, and tells those who wait', async () => {
  const { timers, numbered, write, noticesSoFar } = createNumberer();
  await timers.advance(5000);
  write(3);
  await timers.advance(20);
  expect(numbered).toEqual([5015]);
  expect(noticesSoFar()).toBe(1);
});

it('numbers more than a batch in one go', async () => {
  const { timers, database, write } = createNumberer();
  write(450);
  await timers.advance(20);
  expect(database.unnumbered).toBe(0);
});

it('numbers what was written during an outage within a second of its end', async () => {
  const { timers, database, numbered, lines, write } = createNumberer();
  await timers.advance(5000);
  database.isAway = true;
  write();
  await timers.advance(60_000);
  expect(numbered).toEqual([]);
  expect(lines).toEqual(['events could not be numbered']);
  database.isAway = false;
  await timers.advance(1000);
  expect(numbered).toHaveLength(1);
});

it('finds what a killed process left within ten seconds, and asks no more often than that', async () => {
  const { timers, database, numbered, tries } = createNumberer();
  await timers.advance(5000);
  database.unnumbered = 1;
  await timers.advance(55_000);
  expect(numbered).toHaveLength(1);
  expect(numbered[0]).toBeLessThanOrEqual(15_000);
  expect(tries.length).toBeLessThanOrEqual(7);
});

it('does nothing after it was stopped', async () => {
  const { numberer, timers, tries, write } = createNumberer();
  await timers.advance(100);
  await numberer.stop();
  const before = tries.length;
  write();
  await timers.advance(60_000);
  expect(tries.length).toBe(before);
});
