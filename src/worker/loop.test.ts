/** When the rounds of a loop begin. */
import { expect, it } from 'vitest';
import { createManualTimers } from '../../test/helpers/manual-timers.ts';
import { silentLogger } from '../../test/helpers/silent-logger.ts';
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
