import { describe, expect, it } from 'vitest';
import { accountRetryDelay, messageRetry } from './retry.ts';

describe('the delay after a failure of an account', () => {
  it.each([
    ['begins small for a connection', 'connection', 1, 0.5, 1000],
    ['doubles', 'connection', 4, 0.5, 8000],
    ['has an end', 'connection', 50, 0.5, 300_000],
    ['is long for a wrong password from the first', 'credentials', 1, 0.5, 300_000],
    ['is never longer than an hour and a quarter', 'credentials', 1000, 0.999_999_9, 4_500_000],
    ['is spread', 'service', 1, 0, 750],
  ] as const)('%s', (_title, failure, failures, random, expected) => {
    expect(accountRetryDelay(failure, failures, random)).toBe(expected);
  });
});

describe('a message that could not be taken', () => {
  it('is only put off when it is nobody’s fault', () => {
    expect(messageRetry('put_off', 3)).toEqual({ tries: 3, delayMs: 5000, quarantined: false });
  });

  it('is set aside at once when it is its own fault, and tried ever more rarely', () => {
    const delays = [0, 1, 2, 3, 40].map((tries) => messageRetry('bad', tries));
    expect(delays.every(({ quarantined }) => quarantined)).toBe(true);
    expect(delays.map(({ delayMs }) => delayMs / 60_000)).toEqual([15, 60, 360, 1440, 1440]);
  });

  it('is set aside after the fourth try when it may be the connection’s fault', () => {
    const retries = [0, 1, 2, 3, 4].map((tries) => messageRetry('doubtful', tries));
    expect(retries.map(({ quarantined }) => quarantined)).toEqual([false, false, false, true, true]);
    expect(retries.map(({ delayMs }) => delayMs / 1000)).toEqual([5, 10, 20, 900, 3600]);
  });
});
