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
    ['GB 18030 under GB2312', latin1('\xc4\xe3'), 'gb2312', '你', null],
    ['Korean', latin1('\xb0\xa1'), 'ks_c_5601-1987', '가', null],
    ['KOI8-R', latin1('\xf0'), 'koi8-r', 'П', null],
    ['no codec of bytes', latin1('abcd'), 'base64', 'abcd', 'unknown_charset'],
  ])('reads %s', (_, bytes, label, text, defect) => {
    expect(decodeCharset(bytes, label)).toEqual({ text, defect });
  });
});
