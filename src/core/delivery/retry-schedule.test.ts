import { describe, expect, it } from 'vitest';
import {
  DEFAULT_RETRY_SCHEDULE,
  nextAttemptInMs,
  type PutOff,
  type RetrySchedule,
} from './retry-schedule.ts';

const schedule: RetrySchedule = { delaysMs: [1000, 5000], giveUpAfterMs: 60_000 };

function delayOf(putOff: Partial<PutOff> = {}, of = schedule): number | null {
  const giveUpInMs = of.giveUpAfterMs;
  return nextAttemptInMs(of, { attempts: 1, failure: 'reply', giveUpInMs, random: 0.5, ...putOff });
}

describe('the next attempt', () => {
  it.each([
    ['comes after the first delay', {}, 1000],
    ['after the second one', { attempts: 2 }, 5000],
    ['and after the last one for ever', { attempts: 99 }, 5000],
    ['comes sooner when the server could not be reached', { failure: 'connection' as const }, 200],
    ['is spread to earlier', { random: 0 }, 800],
    ['and to later', { random: 0.999999 }, 1200],
    ['may be right at the time to give up', { giveUpInMs: 1000 }, 1000],
    ['is not made after that', { giveUpInMs: 999 }, null],
    ['is made while the clock that decides it is in doubt', { giveUpInMs: null }, 1000],
  ])('%s', (_title, putOff, expected) => {
    expect(delayOf(putOff)).toBe(expected);
  });

  it('is made at least twice in the first hour and for four days by default (RFC 5321 §4.5.4.1)', () => {
    const attempts = [0];
    for (;;) {
      const atMs = attempts.at(-1)!;
      const next = nextAttemptInMs(DEFAULT_RETRY_SCHEDULE, {
        attempts: attempts.length,
        failure: 'reply',
        giveUpInMs: DEFAULT_RETRY_SCHEDULE.giveUpAfterMs - atMs,
        random: 0.5,
      });
      if (next === null) break;
      attempts.push(atMs + next);
    }
    const hours = attempts.map((atMs) => atMs / 3_600_000);
    expect(hours.filter((hour) => hour > 0 && hour <= 1).length).toBeGreaterThanOrEqual(2);
    expect(hours.at(-1)).toBeGreaterThan(91);
    expect(hours.length).toBeLessThan(40);
  });
});
