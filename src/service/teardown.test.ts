import { expect, it } from 'vitest';
import { silentLogger } from '../../test/helpers/silent-logger.ts';
import { takeDown, together } from './teardown.ts';

it('tells all loops to end before it waits for one, and waits for all of them, also when one fails', async () => {
  const told: string[] = [];
  let endSlow: () => void = () => {};
  const slow = new Promise<void>((resolve) => (endSlow = resolve));
  const part = (name: string, end: Promise<void>) => ({
    stop: () => {
      told.push(name);
      return end;
    },
  });
  let isDown = false;
  const down = takeDown(
    [
      async () => void (isDown = true),
      together([
        part('slow', slow),
        part('broken', Promise.reject(new Error('no'))),
        part('quick', Promise.resolve()),
      ]),
    ],
    silentLogger,
  );
  expect(told).toEqual(['slow', 'broken', 'quick']);
  await new Promise((resolve) => setImmediate(resolve));
  expect(isDown).toBe(false);
  endSlow();
  await down;
  expect(isDown).toBe(true);
});
