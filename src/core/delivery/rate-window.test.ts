import { describe, expect, it } from 'vitest';
import { roomIn } from './rate-window.ts';

describe('the room in a rate window', () => {
  it.each([
    ['is the limit at the beginning', 0, 0, 0, 10, { messages: 10, waitMs: 0 }],
    ['is what is not used', 3, 0, 1000, 10, { messages: 7, waitMs: 0 }],
    ['counts the whole previous window at first', 0, 10, 0, 10, { messages: 0, waitMs: 6000 }],
    ['counts half of the previous window halfway through', 0, 10, 30_000, 10, { messages: 5, waitMs: 0 }],
    ['is none when all is used', 10, 0, 20_000, 10, { messages: 0, waitMs: 46_000 }],
    ['of a limit of one is a whole period', 1, 0, 0, 1, { messages: 0, waitMs: 120_000 }],
    ['does not take a clock that is behind for a debt', 0, 5, -50, 10, { messages: 5, waitMs: 0 }],
    ['is none below nothing', 20, 0, 0, 10, { messages: 0, waitMs: 93_000 }],
  ])('%s', (_title, count, previousCount, elapsedMs, limit, expected) => {
    expect(roomIn({ count, previousCount, elapsedMs }, limit, 'minute')).toEqual(expected);
  });
});
