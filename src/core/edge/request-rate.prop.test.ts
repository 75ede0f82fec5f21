import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { RequestRate } from './request-rate.ts';

it('allows a minute of requests at once, and never more than two within any minute', () => {
  const pauses = fc.array(fc.nat({ max: 2000 }), { maxLength: 300 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 50 }), pauses, (perMinute, list) => {
      const rate = new RequestRate(perMinute);
      for (let index = 0; index < perMinute; index++) expect(rate.take(0)).toBeNull();
      const taken = Array.from({ length: perMinute }, () => 0);
      let now = 0;
      for (const pauseMs of list) {
        now += pauseMs;
        if (rate.take(now) === null) taken.push(now);
      }
      for (const end of taken) {
        const within = taken.filter((at) => at > end - 60_000 && at <= end);
        expect(within.length).toBeLessThanOrEqual(2 * perMinute);
      }
    }),
  );
});

it('allows the next request after the time that it names, and not before', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10_000 }), fc.nat({ max: 1e7 }), (perMinute, start) => {
      const rate = new RequestRate(perMinute);
      while (rate.take(start) === null);
      const waitMs = rate.take(start) ?? 0;
      expect(waitMs).toBeGreaterThan(0);
      expect(rate.take(start + waitMs / 2)).not.toBeNull();
      expect(rate.take(start + waitMs + 0.01)).toBeNull();
    }),
  );
});

it('counts what is left, and when all is left again', () => {
  const rate = new RequestRate(60);
  expect([rate.left(0), rate.secondsUntilFull(0)]).toEqual([60, 0]);
  for (let index = 0; index < 10; index++) rate.take(0);
  expect([rate.left(0), rate.secondsUntilFull(0)]).toEqual([50, 10]);
  expect([rate.left(4000), rate.secondsUntilFull(4000)]).toEqual([54, 6]);
  expect([rate.left(99_000), rate.secondsUntilFull(99_000)]).toEqual([60, 0]);
});
