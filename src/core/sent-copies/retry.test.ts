import { describe, expect, it } from 'vitest';
import { copyRetryDelay } from './retry.ts';

describe('a copy that could not be stored', () => {
  it('is tried again after ever longer delays, of at least three quarters of a minute and little more than an hour', () => {
    const delays = [1, 2, 3, 6, 7, 1000].map((tries) => copyRetryDelay(tries, 0.5) / 60_000);
    expect(delays).toEqual([1, 2, 4, 32, 60, 60]);
    expect(copyRetryDelay(0, 0)).toBe(45_000);
    expect(copyRetryDelay(1000, 0.999)).toBeLessThan(75.1 * 60_000);
  });
});
