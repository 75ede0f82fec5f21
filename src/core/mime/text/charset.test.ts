import { describe, expect, it } from 'vitest';
import { decodeCharset } from './charset.ts';

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');

describe('decodeCharset', () => {
  it.each([
    ['UTF-8', Buffer.from('Grüße €'), 'utf-8', 'Grüße €', null],
    ['a byte order mark', Buffer.from('\ufeffa'), 'utf-8', 'a', null],
    ['windows-1252 labelled as ISO-8859-1', latin1('5 \x80 \x84x\x93'), 'iso-8859-1', '5 € „x“', null],
    ['no label, not UTF-8', latin1('Gr\xfc\xdfe'), null, 'Grüße', null],
    ['no label, UTF-8', Buffer.from('Grüße'), null, 'Grüße', null],
    ['UTF-8 labelled as US-ASCII', Buffer.from('Grüße'), 'us-ascii', 'Grüße', 'wrong_charset'],
    ['windows-1252 labelled as UTF-8', latin1('Gr\xfc\xdfe'), 'utf-8', 'Grüße', 'wrong_charset'],
    [
      'cut UTF-8',
      Buffer.from('Größe und Maß').subarray(0, -1),
      'utf-8',
      'Größe und Ma\ufffd',
      'invalid_characters',
    ],
    ['an unknown label', Buffer.from('ü'), 'klingon', 'ü', 'unknown_charset'],
    ['quotes around the label', latin1('\xe4'), "'ISO-8859-1'", 'ä', null],
    ['UTF-7', latin1('+AOQ-'), 'utf-7', 'ä', null],
    ['IBM 850', latin1('\x81'), 'cp850', 'ü', null],
    ['ISO-2022-JP', latin1('\x1b$B$3\x1b(B'), 'iso-2022-jp', 'こ', null],
    [
      'ISO-2022-JP with escapes next to each other',
      latin1('\x1b$B$3\x1b(B\x1b$B$s\x1b(B\x1b(J\x1b(Bx'),
      'iso-2022-jp',
      'こんx',
      null,
    ],
    ['ISO-2022-JP-3', latin1('\x1b$B$3\x1b(B'), 'iso-2022-jp-3', 'こ', null],
    ['UTF-8 labelled as ISO-2022-JP', Buffer.from('こん'), 'iso-2022-jp', 'こん', 'wrong_charset'],
    ['UTF-8 labelled as Shift_JIS', Buffer.from('日本語です'), 'shift_jis', '日本語です', 'wrong_charset'],
    [
      'UTF-8 with a damaged byte',
      Buffer.concat([Buffer.from('Grüße '), latin1('\xfc'), Buffer.from(' für Ömer')]),
      'utf-8',
      'Grüße ü für Ömer',
      'invalid_characters',
    ],
    [
      'UTF-8 with a damaged byte and no label',
      Buffer.concat([Buffer.from('Grüße für Ömer'), latin1('\x80')]),
      null,
      'Grüße für Ömer€',
      'invalid_characters',
    ],
    [
      'UTF-8 with a footer in windows-1252',
      Buffer.concat([Buffer.from('日本語、Grüße'), latin1(' Gr\xfc\xdfe')]),
      'iso-8859-1',
      '日本語、Grüße Grüße',
      'wrong_charset',
    ],
    [
      'windows-1252 with one valid sequence',
      latin1('CAF\xc9\xbb f\xfcr \xc4rger'),
      'utf-8',
      'CAFÉ» für Ärger',
      'wrong_charset',
    ],
    [
      'overlong forms and surrogates',
      latin1('\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc0\xaf\xed'),
      'utf-8',
      'ääääÀ¯\ufffd',
      'invalid_characters',
    ],
    ['GB 18030 under GB2312', latin1('\xc4\xe3'), 'gb2312', '你', null],
    ['Korean', latin1('\xb0\xa1'), 'ks_c_5601-1987', '가', null],
    ['KOI8-R', latin1('\xf0'), 'koi8-r', 'П', null],
    ['no codec of bytes', latin1('abcd'), 'base64', 'abcd', 'unknown_charset'],
  ])('reads %s', (_, bytes, label, text, defect) => {
    expect(decodeCharset(bytes, label)).toEqual({ text, defect });
  });
});
