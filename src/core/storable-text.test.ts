import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findUnstorable, isStorable, toStorable, toStorableJson } from './storable-text.ts';

const text = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('\0', '\ud800', '\udfff', '\\', '\\u0000', '\\ud800', '"', '\ufffd'),
    ),
  )
  .map((pieces) => pieces.join(''));
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.integer(),
    fc.constant(null),
    fc.array(tie('any')),
    fc.dictionary(text, tie('any')),
  ),
})).any;

const storable = (any: unknown): unknown => {
  if (typeof any === 'string') return toStorable(any);
  if (Array.isArray(any)) return any.map(storable);
  if (typeof any !== 'object' || any === null) return any;
  return Object.fromEntries(Object.entries(any).map(([key, inner]) => [toStorable(key), storable(inner)]));
};

describe('text that can not be stored', () => {
  it('becomes U+FFFD wherever it is in JSON, and nothing else changes', () => {
    fc.assert(
      fc.property(fc.array(value), (values) => {
        // Keys that differ only in such characters become one: the last counts, as in JSON itself.
        expect(JSON.parse(toStorableJson(values))).toEqual(storable(values));
      }),
      { numRuns: 500 },
    );
  });

  it('is found with its path, and only then', () => {
    fc.assert(
      fc.property(fc.array(value), (values) => {
        expect(findUnstorable(values) === null).toBe(toStorableJson(values) === JSON.stringify(values));
      }),
      { numRuns: 500 },
    );
    expect(findUnstorable({ a: [{ b: 'x' }, { b: '\0' }] })).toBe('a[1].b');
    expect(findUnstorable({ a: { 'k\0': 1 } })).toBe('a.k\ufffd');
  });

  it('is no longer there', () => {
    fc.assert(fc.property(text, (any) => isStorable(toStorable(any))));
  });
});
