import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { messageIdArbitrary } from '../../../test/helpers/arbitrary/message-id.ts';
import { createMessageId, formatMessageId, parseMessageId } from './message-id.ts';

describe('Message-IDs', () => {
  it('read back what was formatted', () => {
    fc.assert(
      fc.property(messageIdArbitrary, (id) => {
        expect(parseMessageId(formatMessageId(id))).toBe(id);
        expect(parseMessageId(id)).toBe(id);
      }),
    );
  });

  it('of ours are dot-atoms and differ when the random bytes do', () => {
    const bytes = fc.uint8Array({ minLength: 16, maxLength: 32 }).map((given) => Buffer.from(given));
    fc.assert(
      fc.property(bytes, bytes, fc.date({ noInvalidDate: true, min: new Date(0) }), (a, b, now) => {
        const [first, second] = [a, b].map((random) => createMessageId(random, now, 'x.test'));
        expect(first).toMatch(/^[a-z0-9]+\.[0-9a-f]{32,64}@x\.test$/);
        expect(first === second).toBe(a.equals(b));
      }),
    );
  });
});
