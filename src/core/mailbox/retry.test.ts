import { describe, expect, it } from 'vitest';
import { accountRetryDelay, messageRetry, type MessageFailure, type MessageRetry } from './retry.ts';

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

function failInTurn(...failures: readonly MessageFailure[]): readonly MessageRetry[] {
  const retries: MessageRetry[] = [];
  for (const failure of failures) {
    retries.push(messageRetry(failure, retries.at(-1) ?? { tries: 0, quarantineDelays: null }));
  }
  return retries;
}

describe('a message that could not be taken', () => {
  it('is only put off when neither it nor the connection is at fault', () => {
    const waiting = { tries: 3, quarantineDelays: null };
    expect(messageRetry('put_off', waiting)).toEqual({ ...waiting, delayMs: 5000 });
  });

  it('is set aside at once when it is its own fault, and tried ever more rarely', () => {
    const retries = failInTurn('bad', 'bad', 'bad', 'bad', 'bad');
    expect(retries.map(({ tries }) => tries)).toEqual([1, 2, 3, 4, 5]);
    expect(retries.map(({ quarantineDelays }) => quarantineDelays)).toEqual([1, 2, 3, 4, 5]);
    expect(retries.map(({ delayMs }) => delayMs / 60_000)).toEqual([15, 60, 360, 1440, 1440]);
  });

  it('is set aside after the fourth try when it may be the connection’s fault', () => {
    const retries = failInTurn('doubtful', 'doubtful', 'doubtful', 'doubtful', 'bad');
    expect(retries.map(({ quarantineDelays }) => quarantineDelays)).toEqual([null, null, null, 1, 2]);
    expect(retries.map(({ delayMs }) => delayMs / 1000)).toEqual([5, 10, 20, 900, 3600]);
  });

  it('stays set aside, whatever fails then', () => {
    const retries = failInTurn('bad', 'doubtful', 'put_off', 'doubtful');
    expect(retries.map(({ quarantineDelays }) => quarantineDelays)).toEqual([1, 2, 2, 3]);
    expect(retries.map(({ delayMs }) => delayMs / 1000)).toEqual([900, 3600, 5, 21_600]);
  });

  it('begins with the shortest delay again when an operator asked for the try', () => {
    const asked = { tries: 7, quarantineDelays: 0 };
    expect(messageRetry('bad', asked)).toEqual({ tries: 8, quarantineDelays: 1, delayMs: 900_000 });
  });
});
