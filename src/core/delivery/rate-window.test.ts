import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { roomIn, type RateEntry } from './rate-window.ts';

const entry = (ageMs: number, messages = 1): RateEntry => ({ ageMs, messages });

describe('the room in a rate window', () => {
  it.each([
    ['is the limit at the beginning', [], 10, { messages: 10, waitMs: 0 }],
    ['is what is not used', [entry(1000, 3)], 10, { messages: 7, waitMs: 0 }],
    [
      'is none when all is used, until the oldest has left',
      [entry(59_000), entry(20_000)],
      2,
      { messages: 0, waitMs: 1000 },
    ],
    [
      'waits for as many as it takes',
      [entry(50_000), entry(40_000), entry(30_000)],
      2,
      { messages: 0, waitMs: 20_000 },
    ],
    ['of a limit of one is a whole period', [entry(0)], 1, { messages: 0, waitMs: 60_000 }],
    ['comes with all messages of an entry', [entry(10_000, 20)], 10, { messages: 0, waitMs: 50_000 }],
  ] as const)('%s', (_title, entries, limit, expected) => {
    expect(roomIn(entries, limit, 'minute')).toEqual(expected);
  });

  it('lets exactly the limit through in any minute, and never more, whoever asks when', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.array(fc.integer({ min: 1, max: 40_000 }), { maxLength: 60 }),
        (limit, pauses) => {
          const sent: number[] = [];
          let now = 0;
          for (const pause of pauses) {
            now += pause;
            const within = sent.filter((at) => now - at < 60_000);
            const { messages, waitMs } = roomIn(
              within.map((at) => entry(now - at)),
              limit,
              'minute',
            );
            expect(messages).toBe(limit - within.length);
            expect(waitMs > 0).toBe(messages === 0);
            if (waitMs > 0) now += waitMs;
            sent.push(now);
            expect(sent.filter((at) => now - at < 60_000).length).toBeLessThanOrEqual(limit);
          }
        },
      ),
    );
  });
});
