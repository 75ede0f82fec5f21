import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { base64LinesOctets, encodeBase64Lines, streamBase64Lines } from './base64.ts';
import { runs } from '../../../../test/helpers/runs.ts';

async function* toChunks(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  let at = 0;
  for (const size of sizes) {
    yield bytes.subarray(at, at + size);
    at += size;
  }
  yield bytes.subarray(at);
}

describe('base64 in lines', () => {
  it('is what Node writes, in lines of 76', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        const expected =
          Buffer.from(bytes)
            .toString('base64')
            .match(/.{1,76}/g)
            ?.join('\r\n') ?? '';
        expect(encodeBase64Lines(bytes).toString('latin1')).toBe(expected);
        expect(base64LinesOctets(bytes.length)).toBe(expected.length);
      }),
      { numRuns: runs(1000) },
    );
  });

  it('is the same wherever chunks end', async () => {
    const size = fc.oneof(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 0, max: 200_000 }));
    await fc.assert(
      fc.asyncProperty(size, fc.array(size, { maxLength: 10 }), async (total, sizes) => {
        const bytes = Buffer.from(Uint8Array.from({ length: total }, (_, index) => (index * 31) % 253));
        const chunks: Buffer[] = [];
        for await (const chunk of streamBase64Lines(toChunks(bytes, sizes))) chunks.push(chunk);
        expect(Buffer.concat(chunks).equals(encodeBase64Lines(bytes))).toBe(true);
        expect(chunks.every((chunk) => chunk.length <= 170_000)).toBe(true);
      }),
      {
        numRuns: runs(200),
        examples: [
          [58_368, [58_368]],
          [58_369, [1, 58_368]],
          [116_736, []],
        ],
      },
    );
  });
});
