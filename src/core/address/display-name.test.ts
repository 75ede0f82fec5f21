import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../test/helpers/runs.ts';
import { MAX_SHOWN_NAME_CHARS, toShownName } from './display-name.ts';

describe('toShownName', () => {
  it.each([
    ['a name', 'Ada Lovelace', 'Ada Lovelace'],
    ['white space as single spaces', '  Ada\t\r\n  Lovelace\u2028', 'Ada Lovelace'],
    ['nothing that turns the direction', 'Ada \u202egnp.exe\u202c', 'Ada gnp.exe'],
    ['no isolates', '\u2066Ada\u2069', 'Ada'],
    ['no controls', 'A\u0000d\u001ba\u007f', 'Ada'],
    ['no invisible letters', 'A\u200bd\ufeffa\u00ad', 'Ada'],
    ['no tags', `Ada${String.fromCodePoint(0xe0041, 0xe007f)}`, 'Ada'],
    ['no half of a pair', 'Ada\ud83d', 'Ada'],
    ['emoji that are joined', '👩\u200d🚀', '👩\u200d🚀'],
    ['scripts with marks', 'नमस्ते', 'नमस्ते'],
    ['no name of signs alone', '---', ''],
    ['at most four marks on a letter', `a${'\u0316'.repeat(50)}`, `a${'\u0316'.repeat(4)}`],
    ['accents in one form', 'Rene\u0301', 'René'],
  ])('keeps %s', (_, text, shown) => {
    expect(toShownName(text)).toBe(shown);
  });

  it('cuts a long name between characters', () => {
    expect([...toShownName('😀'.repeat(5000))]).toHaveLength(MAX_SHOWN_NAME_CHARS);
  });

  it('gives one line without hidden signs, and the same again, whatever it is given', () => {
    const any = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.string({
        unit: fc.constantFrom(...'aä\u0301\u202e\u2066\u200d\u0000\n \ud83d😀-'),
        maxLength: 60,
      }),
    );
    fc.assert(
      fc.property(any, (text) => {
        const shown = toShownName(text);
        expect(shown).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069\u200e\u200f]|\s{2}|^\s|\s$/u);
        expect(toShownName(shown)).toBe(shown);
      }),
      { numRuns: runs(1000) },
    );
  });
});
