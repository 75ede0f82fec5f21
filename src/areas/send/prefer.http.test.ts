import { describe, expect, it } from 'vitest';
import { prefersAsync } from './prefer.ts';

describe('prefersAsync', () => {
  it.each([
    ['respond-async', true],
    ['Respond-Async', true],
    ['wait=10, respond-async', true],
    ['respond-async; foo=bar', true],
    [['return=minimal', 'respond-async'], true],
    ['return=representation', false],
    ['x-respond-async', false],
    ['respond-asynchronously', false],
    ['', false],
    [undefined, false],
  ])('%j → %s', (header, expected) => {
    expect(prefersAsync(header)).toBe(expected);
  });
});
