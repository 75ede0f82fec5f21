import { expect, it } from 'vitest';
import { createManualTimers } from '../../../test/helpers/manual-timers.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { startAccountWatch } from './account-watch.ts';

it.each([
  ['the watch looks often enough', 2000, [0, 30_000]],
  ['the watch looks rarely', 60_000, [0, 2000, 4000]],
])('follows within two seconds when %s', async (_, workPollMs, expected) => {
  const timers = createManualTimers();
  const looks: number[] = [];
  const refresh = async () => void looks.push(timers.now());
  const loop = startAccountWatch({ refresh }, workPollMs, silentLogger, timers);
  await timers.advance(workPollMs === 2000 ? 31_000 : 5000);
  expect(looks).toEqual(expected);
  loop.wake();
  await timers.advance(200);
  expect(looks).toHaveLength(expected.length + 1);
  await loop.stop();
});
