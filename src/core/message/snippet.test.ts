import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SNIPPET_MAX_CHARS, toSnippet } from './snippet.ts';

describe('toSnippet', () => {
  it.each([
    ['a short text', 'Guten Tag', 'Guten Tag'],
    ['lines and indents', '  Guten Tag,\r\n\r\n\tanbei\u00a0die Rechnung ', 'Guten Tag, anbei die Rechnung'],
    ['rules of signs', 'Hallo\n--------------\nWelt', 'Hallo - Welt'],
    ['invisible filling', 'Angebot\u200c\u00ad\u034f \u200cheute', 'Angebot heute'],
    ['nothing', '', ''],
  ])('makes one line of %s', (_, text, expected) => {
    expect(toSnippet(text)).toBe(expected);
  });

  it('cuts a long text at a word and says so', () => {
    const snippet = toSnippet('Wort '.repeat(100));
    expect(snippet).toMatch(/ Wort…$/);
    expect(snippet.length).toBeLessThanOrEqual(SNIPPET_MAX_CHARS);
  });

  it('says that something is left out when white space hides how much', () => {
    expect(toSnippet(`Hallo${' '.repeat(2000)}Welt`)).toBe('Hallo…');
  });

  it('is never longer than its bound, one line, and well-formed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 2000 }), (text) => {
        const snippet = toSnippet(text);
        expect(snippet.length).toBeLessThanOrEqual(SNIPPET_MAX_CHARS);
        expect(snippet.isWellFormed()).toBe(true);
        expect(snippet).not.toMatch(/[\r\n]/);
      }),
    );
  });
});
