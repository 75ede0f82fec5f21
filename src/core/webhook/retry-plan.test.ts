import { describe, expect, it } from 'vitest';
import { GIVE_UP_AFTER_MS, nextDeliveryInMs, parseRetryAfter } from './retry-plan.ts';

const failed = { attempts: 1, failingMs: 0, retryAfterMs: null, random: 0.5 };

describe('the next attempt', () => {
  it('comes exponentially later, at most eight hours, and is the last one after three days', () => {
    const delays: number[] = [];
    let failingMs = 0;
    for (let attempts = 1; ; attempts += 1) {
      const next = nextDeliveryInMs({ ...failed, attempts, failingMs });
      if (next === null) break;
      delays.push(next / 1000);
      failingMs += next;
    }
    expect(delays.slice(0, 8)).toEqual([5, 20, 80, 320, 1280, 5120, 20480, 28800]);
    expect(delays).toHaveLength(16);
    expect(failingMs).toBe(GIVE_UP_AFTER_MS);
  });

  it('is moved by up to a fifth, so that endpoints do not come together', () => {
    expect(nextDeliveryInMs({ ...failed, random: 0 })).toBe(4000);
    expect(nextDeliveryInMs({ ...failed, random: 0.999_999_99 })).toBe(6000);
  });

  it.each([
    [0, 1],
    [7000, 7],
    [3_600_000, 3600],
    [30 * 86_400_000, 86_400],
  ])('follows a Retry-After of %d ms, within bounds: %d s', (retryAfterMs, seconds) => {
    expect(nextDeliveryInMs({ ...failed, retryAfterMs })).toBe(seconds * 1000);
  });

  it('is not put off by Retry-After beyond the last one', () => {
    const failingMs = GIVE_UP_AFTER_MS - 60_000;
    expect(nextDeliveryInMs({ ...failed, failingMs, retryAfterMs: 3_600_000 })).toBe(60_000);
    const last = { ...failed, attempts: 4, failingMs: GIVE_UP_AFTER_MS, retryAfterMs: 1000 };
    expect(nextDeliveryInMs(last)).toBeNull();
  });

  it('comes also after three days when there were few attempts, as after a jump of the clock', () => {
    const failingMs = 200 * GIVE_UP_AFTER_MS;
    expect(nextDeliveryInMs({ ...failed, attempts: 2, failingMs })).toBe(20_000);
    expect(nextDeliveryInMs({ ...failed, attempts: 11, failingMs })).toBe(28_800_000);
    expect(nextDeliveryInMs({ ...failed, attempts: 12, failingMs })).toBeNull();
    expect(nextDeliveryInMs({ ...failed, attempts: 3, failingMs, retryAfterMs: 7000 })).toBe(7000);
  });
});

describe('Retry-After', () => {
  it.each([
    ['120', 120_000],
    [' 0 ', 0],
    ['Sun, 01 Mar 2026 12:00:30 GMT', 30_000],
    ['Sun, 01 Mar 2026 11:00:00 GMT', 0],
    ['-5', null],
    ['1.5', null],
    ['soon', null],
    ['Sunday', null],
    ['2026-03-01', null],
    ['99999999999999999999', null],
    ['', null],
    [undefined, null],
  ])('%j means %j ms', (text, ms) => {
    expect(parseRetryAfter(text, new Date('2026-03-01T12:00:00Z'))).toBe(ms);
  });
});
