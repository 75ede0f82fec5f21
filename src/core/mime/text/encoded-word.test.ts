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
    ['a byte order mark', ['=?utf-8?B?77u/UmU6?='], 'Re:'],
    ['a language', ['=?us-ascii*en-US?Q?x?='], 'x'],
    ['a character between two words', ['=?utf-8?B?4oI=?=', '=?utf-8?B?rA==?='], '€'],
    ['escape sequences', ['=?iso-2022-jp?B?GyRCRnxLXBsoQg==?='], '日本'],
    ['bytes that the charset lacks', ['=?shift_jis?q?=FF?='], '\ufffd'],
    ['windows-1252 labelled as UTF-8', ['=?utf-8?q?Gr=FC=DFe?='], 'Grüße'],
    ['an unknown charset that is UTF-8', ['=?klingon?q?gr=C3=BCn?='], 'grün'],
    ['an unknown charset that is none', ['=?klingon?q?gr=FCn?='], 'grün'],
    ['a character between two words of an unknown charset', ['=?x-9?B?4oI=?=', '=?X-9?B?rA==?='], '€'],
    [
      'shift states that begin again in each word',
      ['=?iso-2022-jp?B?GyRCRnwbKEI=?=', '=?iso-2022-jp?B?GyRCS1wbKEI=?=', '=?ISO-2022-JP?Q?_x?='],
      '日本 x',
    ],
    [
      'a shift state that goes on in the next word',
      ['=?iso-2022-jp?B?GyRCRnw=?=', '=?iso-2022-jp?B?S1wbKEI=?='],
      '日本',
    ],
    [
      'a character of two bytes between two words',
      ['=?iso-2022-jp?B?GyRCRg==?=', '=?iso-2022-jp?B?fEtcGyhC?='],
      '日本',
    ],
    ['Base64 that was cut anywhere', ['=?utf-8?B?5pel5p?=', '=?utf-8?B?ys6Kqe?='], '日本語'],
    ['Base64 without its padding', ['=?utf-8?B?w6Q?=', '=?utf-8?B?w7Y?='], 'äö'],
    ['UTF-8 under a label of another language', ['=?gb2312?B?R3LDvMOfZSDmnKw=?='], 'Grüße 本'],
  ])('reads %s', (_, words, expected) => {
    expect(decodeEncodedWords(words)).toBe(expected);
  });
});
