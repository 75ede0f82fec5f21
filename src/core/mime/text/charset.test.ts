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
    ['Korean beyond KS X 1001', latin1('\x8cc\xb0\xa1'), 'ks_c_5601-1987', '똠가', null],
    ['EUC-KR', latin1('\x8cc\xb0\xa1'), 'EUC-KR', '똠가', null],
    ['CP949', latin1('\x8cc\xb0\xa1'), 'cp949', '똠가', null],
    ['windows-949', latin1('\x8cc\xb0\xa1'), 'windows-949', '똠가', null],
    ['bytes that are no Korean', latin1('\xb0\xa1\xff'), 'euc-kr', '가\ufffd', 'invalid_characters'],
    ['four bytes under GB2312', latin1('\xc4\xe3\x819\xee9\xba\xc3'), 'gb2312', '你㐀好', null],
    ['four bytes under GBK', latin1('\xc4\xe3\x819\xee9\xba\xc3'), 'gbk', '你㐀好', null],
    ['the euro sign of GBK', latin1('\x80\xa2\xe3'), 'gbk', '€€', null],
    ['Big5', latin1('\xa7A\xa6n'), 'big5', '你好', null],
    ['Big5 of Hong Kong', latin1('\xa7A\x87@'), 'big5-hkscs', '你䏰', null],
    ['HZ', latin1('a~~ ~{<:Ky2;~}b'), 'hz-gb-2312', 'a~ 己所不b', null],
    ['HZ with lines', latin1('~{VP\n~{VP~}~\nx'), 'HZ', '中\n中x', null],
    ['GB 2312 under HZ', latin1('\xc4\xe3~'), 'hz-gb-2312', '你~', null],
    ['UTF-8 labelled as EUC-KR', Buffer.from('한국어 메일'), 'euc-kr', '한국어 메일', 'wrong_charset'],
    ['KOI8-R', latin1('\xf0'), 'koi8-r', 'П', null],
    ['no codec of bytes', latin1('abcd'), 'base64', 'abcd', 'unknown_charset'],
  ])('reads %s', (_, bytes, label, text, defect) => {
    expect(decodeCharset(bytes, label)).toEqual({ text, defect });
  });
});
