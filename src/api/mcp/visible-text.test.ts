import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toVisible } from './visible-text.ts';

const tags = (text: string) =>
  [...text].map((letter) => String.fromCodePoint(0xe0000 + (letter.codePointAt(0) ?? 0))).join('');

describe('text that a model is shown', () => {
  it.each([
    ['tag characters', `Hi${tags('AB')}`, 'Hi<U+E0041><U+E0042>'],
    ['bytes in variation selectors', 'a\u{e0100}\u{e01ef}\ufe0f', 'a<U+E0100><U+E01EF><U+FE0F>'],
    ['a variation selector behind an emoji that has one already', '❤\ufe0f\ufe0f', '❤\ufe0f<U+FE0F>'],
    ['zero width', 'pay\u200bpal\u200c\u200d\u2060\ufeff', 'pay<U+200B>pal<U+200C><U+200D><U+2060><U+FEFF>'],
    ['directions', '\u202egpj.exe\u2066\u061c', '<U+202E>gpj.exe<U+2066><U+061C>'],
    ['fillers and soft hyphens', '\u3164\u115f\u00ad\u034f', '<U+3164><U+115F><U+00AD><U+034F>'],
    ['controls of terminals', '\u001b[2J\u0085\u007f', '<U+001B>[2J<U+0085><U+007F>'],
    ['separators of lines', 'a\u2028b\u2029', 'a<U+2028>b<U+2029>'],
    ['private use and half characters', '\ue000\ud83d', '<U+E000><U+D83D>'],
    ['tags behind a flag that is not one', `🏴${tags('xx')}`, '🏴<U+E0078><U+E0078>'],
  ])('shows %s', (_what, text, expected) => {
    expect(toVisible(text)).toBe(expected);
  });

  it.each([
    ['lines and tabs', 'a\tb\r\nc'],
    [
      'emoji with joiners, selectors and flags',
      `❤\ufe0f 👨\u200d👩\u200d👧 🇩🇪 1\ufe0f⃣ 🏴${tags('gbeng')}\u{e007f}`,
    ],
    ['scripts', 'Größe, Ελλάδα, 北京, नमस्ते, مرحبا'],
  ])('leaves %s as they are', (_what, text) => {
    expect(toVisible(text)).toBe(text);
  });

  it('is the same when it is shown twice, and holds nothing unseen beside emoji', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const shown = toVisible(text);
        expect(toVisible(shown)).toBe(shown);
        expect(shown).not.toMatch(/[\u200b\u202a-\u202e\u2066-\u2069\ufeff]|\p{Cs}/u);
      }),
    );
  });
});
