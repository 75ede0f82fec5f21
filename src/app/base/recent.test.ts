import { expect, it } from 'vitest';
import { Recent } from './recent.ts';

it('forgets what is old, and the oldest of too much', () => {
  let now = 1_000_000;
  const recent = new Recent<number>({ maxAgeMs: 100, maxEntries: 2, clock: () => new Date(now) });
  recent.set('a', 1);
  now += 99;
  expect(recent.get('a')).toBe(1);
  now += 1;
  expect(recent.get('a')).toBeUndefined();
  recent.set('a', 2);
  recent.set('b', 3);
  recent.set('a', 4);
  recent.set('c', 5);
  expect([recent.get('a'), recent.get('b'), recent.get('c')]).toEqual([4, undefined, 5]);
  // The clock was set back by a day.
  now -= 86_400_000;
  expect(recent.get('a')).toBeUndefined();
});
