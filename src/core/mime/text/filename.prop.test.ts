import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { filenameArbitrary } from '../../../../test/helpers/arbitrary/draft.ts';
import { displayFilename, StorageNames } from './filename.ts';
import { runs } from '../../../../test/helpers/runs.ts';

describe('file names', () => {
  it('for display are clean, bounded, never empty, and stay so', () => {
    fc.assert(
      fc.property(filenameArbitrary, (given) => {
        const name = displayFilename(given);
        expect(name).toMatch(/^[^/\\\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]+$/u);
        expect(name.trim()).toBe(name);
        expect(name).not.toMatch(/^\.*$/);
        expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
        expect(displayFilename(name)).toBe(name);
      }),
      { numRuns: runs(1000), examples: [[`${'.'.repeat(300)} a b`], [`${'a'.repeat(254)} b`]] },
    );
  });

  it('for storage are safe path segments, each different from the others', () => {
    fc.assert(
      fc.property(fc.array(filenameArbitrary, { maxLength: 12 }), (given) => {
        const names = new StorageNames();
        const taken = new Set<string>();
        for (const name of [...given, ...given].map(displayFilename)) {
          const segment = names.add(name);
          expect(segment).toMatch(/^[^./\\:*?"<>|\p{Cc}\p{Cs}\s][^/\\:*?"<>|\p{Cc}\p{Cs}]*$/u);
          expect(segment).not.toMatch(/[. ]$/);
          expect(segment).not.toMatch(/^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i);
          expect(segment.normalize('NFC')).toBe(segment);
          expect(Buffer.byteLength(segment)).toBeLessThanOrEqual(200);
          taken.add(segment);
        }
        expect(new Set(Array.from(taken, (name) => name.toLowerCase())).size).toBe(given.length * 2);
      }),
      { numRuns: runs(500) },
    );
  });
});
