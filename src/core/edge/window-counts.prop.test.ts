import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isWorthTelling, WindowCounts } from './window-counts.ts';

const WINDOW_MS = 100;
const MAX_KEYS = 5;

describe('WindowCounts', () => {
  it('counts as a model that forgets nothing does, as long as it has room, and never holds more keys', () => {
    const steps = fc.array(
      fc.record({ key: fc.constantFrom('a', 'b', 'c', 'd', 'e'), pauseMs: fc.nat({ max: 60 }) }),
    );
    fc.assert(
      fc.property(steps, (list) => {
        const counts = new WindowCounts({ windowMs: WINDOW_MS, maxKeys: MAX_KEYS });
        const model = new Map<string, { count: number; endsAt: number }>();
        let now = 0;
        for (const { key, pauseMs } of list) {
          now += pauseMs;
          const before = model.get(key);
          const live =
            before !== undefined && before.endsAt > now ? before : { count: 0, endsAt: now + WINDOW_MS };
          model.set(key, { ...live, count: live.count + 1 });
          expect(counts.add(key, now)).toEqual(model.get(key));
          expect(counts.size).toBeLessThanOrEqual(MAX_KEYS);
        }
      }),
    );
  });

  it('holds no more keys than it may, whatever comes', () => {
    const counts = new WindowCounts({ windowMs: WINDOW_MS, maxKeys: MAX_KEYS });
    for (let key = 0; key < 1000; key++) counts.add(String(key), key / 100);
    expect(counts.size).toBe(MAX_KEYS);
  });
});

it('tells of the first, the tenth, the hundredth', () => {
  expect([0, 1, 2, 9, 10, 11, 99, 100, 101, 1000].filter(isWorthTelling)).toEqual([1, 10, 100, 1000]);
});
