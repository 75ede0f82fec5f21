/** Law: a snippet equals the result for all of the text that may be read. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SNIPPET_MAX_CHARS, SNIPPET_SOURCE_CHARS, toSnippet } from './snippet.ts';

/** The simplest implementation. */
function expected(text: string): string {
  const line = text
    .slice(0, SNIPPET_SOURCE_CHARS)
    .replace(/(?:[\p{Cc}\p{Cf}]|\u034f)+/gu, ' ')
    .replace(/([^\p{L}\p{N}\s])\1{4,}/gu, '$1')
    .replace(/\s+/gu, ' ')
    .trim();
  if (line.length <= SNIPPET_MAX_CHARS && text.length <= SNIPPET_SOURCE_CHARS) return line.toWellFormed();
  const cut = line.slice(0, SNIPPET_MAX_CHARS - 1);
  const lastSpace = cut.lastIndexOf(' ');
  const atWord = line.length >= SNIPPET_MAX_CHARS && lastSpace > SNIPPET_MAX_CHARS / 2;
  return `${(atWord ? cut.slice(0, lastSpace) : cut).replace(/[\ud800-\udbff]$/, '').toWellFormed()}…`;
}

/** Words, rules, white space, invisible signs and pairs, in any lengths. */
const text = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        'Grüße',
        'a',
        'Bestellung',
        '😀',
        ' ',
        '\r\n',
        '-',
        '=',
        '\u200b',
        '\u034f',
        '\ud83d',
        '1',
      ),
      fc
        .tuple(fc.constantFrom('-', '=', ' ', '\u200b', 'x', '😀', '\n'), fc.nat(400))
        .map(([sign, n]) => sign.repeat(n)),
    ),
    { maxLength: 120 },
  )
  .map((parts) => parts.join(''));

it('is the same as of all of it', () => {
  fc.assert(
    fc.property(text, (one) => {
      expect(toSnippet(one)).toBe(expected(one));
    }),
    { numRuns: 2000 },
  );
});
