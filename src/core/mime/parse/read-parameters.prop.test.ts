import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { readParameters } from './read-parameters.ts';

const comment = fc.letrec<{ comment: string }>((tie) => ({
  comment: fc
    .array(
      fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom('a', ' ', ';', '=', '"', '\\)', '\\(', '\\\\'),
        tie('comment'),
      ),
      {
        maxLength: 5,
      },
    )
    .map((pieces) => `(${pieces.join('')})`),
})).comment;
const space = fc
  .array(fc.oneof(fc.constant(' '), comment), { maxLength: 3 })
  .map((pieces) => ` ${pieces.join('')} `);

it('comments change nothing of a field that is written as RFC 2045 has it', () => {
  const between = fc.tuple(space, space, space, space, space, space, space, space);
  fc.assert(
    fc.property(between, fc.boolean(), ([a, b, c, d, e, f, g, h], isQuoted) => {
      const boundary = isQuoted ? '"B (1); \\"x"' : 'B';
      const text = `${a}text/html${b};${c}charset${d}=${e}koi8-r${f};boundary=${boundary}${g};filename="f (1).x"${h}`;
      const { value, parameters } = readParameters(text);
      expect(value).toBe('text/html');
      expect(Object.fromEntries(parameters)).toEqual({
        charset: 'koi8-r',
        boundary: isQuoted ? 'B (1); "x' : 'B',
        filename: 'f (1).x',
      });
    }),
  );
});
