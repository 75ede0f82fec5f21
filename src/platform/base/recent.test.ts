import { expect, it } from 'vitest';
import { Recent } from './recent.ts';

it('forgets what is old, and the oldest of too much', () => {
  let now = 1000;
  const recent = new Recent<number>({ maxAgeMs: 100, maxEntries: 2, now: () => now });
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
});
