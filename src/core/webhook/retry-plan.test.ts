import { describe, expect, it } from 'vitest';
import { GIVE_UP_AFTER_MS, nextDeliveryAt, parseRetryAfter } from './retry-plan.ts';

const START = new Date('2026-03-01T12:00:00Z');
const at = (seconds: number) => new Date(START.getTime() + seconds * 1000);
const failed = { attempts: 1, failingSince: START, now: START, retryAfterMs: null, random: 0.5 };

describe('the next attempt', () => {
  it('comes exponentially later, at most eight hours, and is the last one after three days', () => {
    const delays: number[] = [];
    let now = START;
    for (let attempts = 1; ; attempts += 1) {
      const next = nextDeliveryAt({ ...failed, attempts, now });
      if (next === null) break;
      delays.push((next.getTime() - now.getTime()) / 1000);
      now = next;
    }
    expect(delays.slice(0, 8)).toEqual([5, 20, 80, 320, 1280, 5120, 20480, 28800]);
    expect(delays).toHaveLength(16);
    expect(now.getTime() - START.getTime()).toBe(GIVE_UP_AFTER_MS);
  });

  it('is moved by up to a fifth, so that endpoints do not come together', () => {
    expect(nextDeliveryAt({ ...failed, random: 0 })).toEqual(at(4));
    expect(nextDeliveryAt({ ...failed, random: 0.999_999_99 })).toEqual(at(6));
  });

  it.each([
    [0, 1],
    [7000, 7],
    [3_600_000, 3600],
    [30 * 86_400_000, 86_400],
  ])('follows a Retry-After of %d ms, within bounds: %d s', (retryAfterMs, seconds) => {
    expect(nextDeliveryAt({ ...failed, retryAfterMs })).toEqual(at(seconds));
  });

  it('is not put off by Retry-After beyond the last one', () => {
    const now = new Date(START.getTime() + GIVE_UP_AFTER_MS - 60_000);
    const last = new Date(START.getTime() + GIVE_UP_AFTER_MS);
    expect(nextDeliveryAt({ ...failed, now, retryAfterMs: 3_600_000 })).toEqual(last);
    expect(nextDeliveryAt({ ...failed, now: last, retryAfterMs: 1000 })).toBeNull();
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
    expect(parseRetryAfter(text, START)).toBe(ms);
  });
});
