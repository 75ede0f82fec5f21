import { describe, expect, it } from 'vitest';
import { lookalikeOf } from './lookalike.ts';

describe('a domain', () => {
  it.each([
    ['a letter of another script', 'b\u0430nk.example'],
    ['the same in A-labels', 'www.xn--bnk-6cd.example', 'www.b\u0430nk.example'],
    ['a whole word of another script', '\u0430\u0440\u0440\u04cf\u0435.com'],
    ['letters of its own script that look like others', 'm\u0131crosoft.com'],
    ['Greek and Cyrillic letters', '\u03b1\u0436.gr'],
    ['the same in capitals', 'B\u0410NK.example', 'b\u0430nk.example'],
  ])('may be taken for another by %s', (_, domain, shown = domain) => {
    expect(lookalikeOf(domain)).toBe(shown);
  });

  it.each([
    'bank.example',
    'müller.de',
    'xn--mller-kva.de',
    'straße.de',
    'łódź.pl',
    'почта.рф',
    '\u0441\u043e\u0440.\u0440\u0444',
    'παράδειγμα.gr',
    '日本ドメイン.jp',
    'xn--zzzzz-.example',
    '127.0.0.1',
    '',
  ])('is taken for none: %s', (domain) => {
    expect(lookalikeOf(domain)).toBeNull();
  });
});
