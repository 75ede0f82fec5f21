import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { LinePositions } from './line-positions.ts';

const texts = fc.string({ unit: fc.constantFrom('a', '\n', '\r', 'ü', '😀') });

it('finds the line and column that counting from the start does, whichever texts come before', () => {
  const positions = new LinePositions();
  fc.assert(
    fc.property(texts, fc.nat({ max: 20 }), (text, position) => {
      const lines = text.slice(0, position).split('\n');
      const column = Math.min(position, text.length) - lines.slice(0, -1).join('').length - lines.length + 2;
      expect(positions.find(text, Math.min(position, text.length))).toEqual([lines.length, column]);
    }),
  );
});
