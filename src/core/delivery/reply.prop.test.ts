import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatReply, parseReply } from './reply.ts';

const word = fc.string({ unit: 'binary', maxLength: 30 });

describe('parseReply', () => {
  it('never throws, and what it returns keeps its bounds', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          word.map((text) => `250 ${text}`),
        ),
        (raw) => {
          const reply = parseReply(raw);
          if (reply === null) return;
          expect(reply.code).toBeGreaterThanOrEqual(200);
          expect(reply.code).toBeLessThanOrEqual(599);
          expect(reply.text.length).toBeLessThanOrEqual(1000);
          expect(reply.text).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
          expect(reply.text.isWellFormed()).toBe(true);
        },
      ),
    );
  });

  it('reads back what formatReply wrote', () => {
    const reply = fc.record({
      code: fc.integer({ min: 200, max: 599 }),
      enhancedStatus: fc.constantFrom('2.0.0', '4.2.2', '5.7.133'),
      text: word.map((text) => text.replace(/[^\p{L}\p{N}]/gu, '')),
    });
    fc.assert(
      fc.property(reply, (written) => {
        expect(parseReply(formatReply(written))).toEqual(written);
      }),
    );
  });
});
