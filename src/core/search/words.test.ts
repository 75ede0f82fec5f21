import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_WORD_CHARS, wordsOf } from './words.ts';

const words = (text: string) => [...wordsOf(text)].map((forms) => forms.join('|'));

describe('wordsOf', () => {
  it.each([
    ['letter case', 'Rechnung RECHNUNG', ['rechnung', 'rechnung']],
    ['umlauts, both ways', 'Müller Mueller MÜLLER', ['muller|mueller', 'mueller', 'muller|mueller']],
    ['umlauts of two code points', 'Mu\u0308ller', ['muller|mueller']],
    ['sharp s', 'Straße STRASSE', ['strasse', 'strasse']],
    ['accents', 'Café São Łódź', ['cafe', 'sao', 'lodz']],
    ['other scripts', 'Привет Ελλάδα', ['привет', 'ελλαδα']],
    ['marks that are letters', 'हिन्दी', ['हिन्दी']],
    ['points and vowel signs', 'שָׁלוֹם مُحَمَّد', ['שלום', 'محمد']],
    ['scripts without spaces', '東京タワー', ['東', '京', 'タ', 'ワ', 'ー']],
    ['both kinds in a row', 'iPhone東京2', ['iphone', '東', '京', '2']],
    ['addresses', 'Jörg <joerg.k@mail.example.com>', ['jorg|joerg', 'joerg', 'k', 'mail', 'example', 'com']],
    ['numbers', 'RE-2024/4711', ['re', '2024', '4711']],
    ['compatibility forms', 'ﬁne Ｆｕｌｌ', ['fine', 'full']],
    ['Turkish capitals', 'İstanbul', ['istanbul']],
    ['signs', `' & | ! : * ( ) <-> \\ " \u0301 --`, []],
  ])('reads %s', (_, text, expected) => {
    expect(words(text)).toEqual(expected);
  });

  it('cuts a long word', () => {
    expect(words('x'.repeat(1000))).toEqual(['x'.repeat(MAX_WORD_CHARS)]);
    expect(words('ü'.repeat(1000))).toEqual([
      `${'u'.repeat(MAX_WORD_CHARS)}|${'ue'.repeat(MAX_WORD_CHARS / 2)}`,
    ]);
  });

  it('gives nothing but letters, digits and their marks, within the bound', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        for (const forms of wordsOf(text)) {
          for (const form of forms) {
            expect(form).toMatch(/^[\p{L}\p{N}\p{M}]{1,64}$/u);
            expect(form.isWellFormed()).toBe(true);
          }
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('reads what it gave as the same word', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 100 }), (text) => {
        for (const [plain] of wordsOf(text))
          expect([...wordsOf(plain)].map(([form]) => form).join('')).toBe(plain);
      }),
      { numRuns: 1000 },
    );
  });
});
