import { describe, expect, it } from 'vitest';
import { decodeEncodedWords, encodeWords } from './encoded-word.ts';

describe('encodeWords', () => {
  it('takes the shorter of Q and B', () => {
    expect(encodeWords('Alles in Größe XL')).toEqual(['=?utf-8?Q?Alles_in_Gr=C3=B6=C3=9Fe_XL?=']);
    expect(encodeWords('日本語')).toEqual(['=?utf-8?B?5pel5pys6Kqe?=']);
  });

  it('escapes everything that means something in a header', () => {
    expect(encodeWords('a plain phrase so that Q is shorter (a?b)="c_d"')).toEqual([
      '=?utf-8?Q?a_plain_phrase_so_that_Q_is_shorter_=28a=3Fb=29=3D=22c=5Fd=22?=',
    ]);
  });

  it('makes no word of nothing', () => {
    expect(encodeWords('')).toEqual([]);
  });
});

describe('decodeEncodedWords', () => {
  it.each([
    ['Q', ['=?ISO-8859-15?q?=A4_x?='], '€ x'],
    ['B', ['=?UTF-8?b?4oKs?='], '€'],
    ['a language', ['=?us-ascii*en-US?Q?x?='], 'x'],
    ['a character between two words', ['=?utf-8?B?4oI=?=', '=?utf-8?B?rA==?='], '€'],
    ['escape sequences', ['=?iso-2022-jp?B?GyRCRnxLXBsoQg==?='], '日本'],
    ['bytes that the charset lacks', ['=?utf-8?q?=FF?='], '\ufffd'],
    ['an unknown charset as it is', ['=?klingon?q?x?='], '=?klingon?q?x?='],
  ])('reads %s', (_, words, expected) => {
    expect(decodeEncodedWords(words)).toBe(expected);
  });
});
