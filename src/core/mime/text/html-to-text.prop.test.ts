import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { htmlToText } from './html-to-text.ts';
import { runs } from '../../../../test/helpers/runs.ts';

describe('htmlToText', () => {
  it('never throws, and gives text that a database takes', () => {
    const token = fc.oneof(
      fc.constantFrom(
        '<',
        '>',
        '</',
        '<p>',
        '</p>',
        '<a href="',
        '"',
        "'",
        '&amp',
        '&#x',
        '<!--',
        '-->',
        '<pre>',
        '\0',
      ),
      fc.constantFrom(
        '<table>',
        '<tr>',
        '<td>',
        '</table>',
        '<ul>',
        '<li>',
        '<img alt=',
        '<script>',
        '<svg>',
        '\ud800',
      ),
      fc.string({ unit: 'binary', maxLength: 5 }),
    );
    fc.assert(
      fc.property(fc.array(token, { maxLength: 60 }), (tokens) => {
        const html = tokens.join('');
        for (const text of [htmlToText(html), htmlToText('<b></b>'.repeat(3000) + html)]) {
          expect(text.isWellFormed()).toBe(true);
          expect(text).not.toContain('\0');
        }
      }),
      { numRuns: runs(500) },
    );
  });
});
