/** Tests when the rounds of a loop begin. */
import { expect, it } from 'vitest';
import { createManualTimers } from '../../../test/helpers/manual-timers.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { currentRequestId, inRequest } from './request-scope.ts';
import { systemTimers } from './timers.ts';
import { startLoop } from './loop.ts';

it('repeats a round that failed sooner than one that worked', async () => {
  const timers = createManualTimers();
  const begun: number[] = [];
  const loop = startLoop({
    intervalMs: 1000,
    retryMs: 100,
    failure: 'it failed',
    logger: silentLogger,
    timers,
    async run() {
      begun.push(timers.now());
      if (begun.length === 2) throw new Error('away');
    },
  });
  await timers.advance(2500);
  await loop.stop();
  expect(begun).toEqual([0, 1000, 1100, 2100]);
});

it('has its pause cut short by a wake, but not below the shortest one', async () => {
  const timers = createManualTimers();
  const begun: number[] = [];
  const loop = startLoop({
    intervalMs: 1000,
    wokenMs: 100,
    failure: 'it failed',
    logger: silentLogger,
    timers,
    async run() {
      begun.push(timers.now());
      // While a round is under way.
      if (begun.length === 4) loop.wake();
    },
  });
  await timers.advance(30);
  loop.wake();
  loop.wake();
  await timers.advance(520);
  loop.wake();
  await timers.advance(1000);
  await timers.advance(1000);
  await loop.stop();
  loop.wake();
  await timers.advance(5000);
  expect(begun).toEqual([0, 100, 550, 1550, 1650]);
});

it('is work of no request, whichever one woke it', async () => {
  const requests: (string | undefined)[] = [];
  let hasRun: () => void = () => undefined;
  const loop = startLoop({
    intervalMs: 1,
    waitsForWake: true,
    failure: 'it failed',
    logger: silentLogger,
    async run() {
      requests.push(currentRequestId());
      hasRun();
    },
  });
  for (const id of ['one', 'two', 'three']) {
    const ran = new Promise<void>((resolve) => (hasRun = resolve));
    inRequest(id, loop.wake);
    await ran;
  }
  await loop.stop();
  expect(new Set(requests)).toEqual(new Set([undefined]));
});

it('has timers that are work of no request', async () => {
  const seen = await inRequest(
    'one',
    () => new Promise((resolve) => systemTimers.after(0, () => resolve(currentRequestId()))),
  );
  expect(seen).toBeUndefined();
});
