import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { hzToGbk } from './hz.ts';

const chinese = fc
  .array(fc.tuple(fc.integer({ min: 0x21, max: 0x77 }), fc.integer({ min: 0x21, max: 0x7e })), {
    minLength: 1,
  })
  .map((pairs) => pairs.flat());
const latin = fc.array(fc.integer({ min: 0x20, max: 0x7e }));

it('HZ reads back as what it was made of', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(chinese, latin)), (pieces) => {
      const hz = pieces.flatMap(([wide, narrow]) => [
        ...Buffer.from('~{'),
        ...wide,
        ...Buffer.from('~}'),
        ...narrow.flatMap((byte) => (byte === 0x7e ? [byte, byte] : [byte])),
      ]);
      const plain = pieces.flatMap(([wide, narrow]) => [...wide.map((byte) => byte | 0x80), ...narrow]);
      expect(hzToGbk(Buffer.from(hz))).toEqual(Buffer.from(plain));
    }),
  );
});

it('HZ of any bytes does not become longer', () => {
  const bytes = fc.array(fc.oneof(fc.constantFrom(0x7e, 0x7b, 0x7d, 0x0a), fc.integer({ min: 0, max: 255 })));
  fc.assert(
    fc.property(bytes, (given) => {
      expect(hzToGbk(Buffer.from(given)).length).toBeLessThanOrEqual(given.length);
    }),
  );
});
