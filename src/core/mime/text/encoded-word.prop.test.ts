import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeEncodedWords, encodeWords, isEncodedWord } from './encoded-word.ts';
import { runs } from '../../../../test/helpers/runs.ts';

describe('encoded words', () => {
  it('read back what was encoded, are short enough, and split no character', () => {
    const text = fc.oneof(
      fc
        .string({ unit: 'binary', maxLength: 200 })
        .map((given) => given.toWellFormed().replaceAll('\ufeff', '')),
      fc.string({ unit: 'grapheme', maxLength: 100 }),
      fc.string({ maxLength: 300 }),
    );
    fc.assert(
      fc.property(text, fc.integer({ min: 40, max: 75 }), (given, firstWordChars) => {
        const words = encodeWords(given, firstWordChars);
        expect(decodeEncodedWords(words)).toBe(given);
        // Each word alone is whole characters (RFC 2047 §5).
        expect(words.map((word) => decodeEncodedWords([word])).join('')).toBe(given);
        expect(words.every((word, index) => word.length <= (index === 0 ? firstWordChars : 75))).toBe(true);
        expect(words.every((word) => isEncodedWord(word) && /^[!-~]+$/.test(word))).toBe(true);
      }),
      { numRuns: runs(1000) },
    );
  });

  it('of any content decode to well-formed text', () => {
    const word = fc
      .tuple(
        fc.constantFrom('utf-8', 'iso-2022-jp', 'x', 'UTF-16'),
        fc.constantFrom('q', 'B'),
        fc.string({ unit: 'binary' }),
      )
      .map(([charset, encoding, content]) => `=?${charset}?${encoding}?${content.replace(/[? ]/g, '')}?=`);
    fc.assert(
      fc.property(fc.array(word, { maxLength: 4 }), (words) => {
        expect(decodeEncodedWords(words.map((given) => given.toWellFormed())).isWellFormed()).toBe(true);
      }),
    );
  });
});
