import { describe, expect, it } from 'vitest';
import { expectCpuBelow } from '../../../../test/readers/cpu-time.ts';
import { charsetOfHtml, decodeHtmlCharset } from './html-charset.ts';

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');

describe('charsetOfHtml', () => {
  it.each([
    ['<meta charset=windows-1251>', 'windows-1251'],
    ['<meta charset="ISO-8859-2"/>', 'iso-8859-2'],
    [`<META CharSet = 'gb2312' >`, 'gbk'],
    ['<meta/charset=shift_jis>', 'shift_jis'],
    ['<meta http-equiv=Content-Type content="text/html; charset=shift_jis">', 'shift_jis'],
    ['<meta content="text/html;charset=koi8-r" http-equiv="content-type">', 'koi8-r'],
    [`<meta http-equiv=content-type content='text/html; charset="koi8-r"'>`, 'koi8-r'],
    ['<!DOCTYPE html><html lang="a>b"><head>\n<title>x</title><meta charset=big5>', 'big5'],
    ['<?xml version="1.0" encoding="x"?><html><meta charset=big5>', 'big5'],
    ['<!-- <meta charset=big5> --><meta charset=koi8-r>', 'koi8-r'],
    ['<meta charset=klingon><meta charset=koi8-r>', 'koi8-r'],
    ['<meta name="<meta charset=big5>"><meta charset=koi8-r>', 'koi8-r'],
    ['<meta charset=big5 charset=koi8-r>', 'big5'],
    ['<meta charset=iso-2022-jp>', 'iso-2022-jp'],
    // Not declarations
    ['<meta content="text/html;charset=koi8-r">', null],
    ['<meta name=description content="charset=koi8-r">', null],
    ['<metacharset=big5>', null],
    ['<!-- <meta charset=big5>', null],
    ['<meta charset=big5 x="', 'big5'],
    ['<meta charset=utf-16le>', null],
    ['<meta charset=utf-7>', null],
    ['<meta charset=ibm037>', null],
    ['a < b <', null],
    ['', null],
  ])('of %s is %s', (html, charset) => {
    expect(charsetOfHtml(latin1(html))).toBe(charset);
  });

  it('is looked for in the first 1,024 bytes', () => {
    const meta = '<meta charset=big5>';
    expect(charsetOfHtml(latin1(`${' '.repeat(1024 - meta.length)}${meta}`))).toBe('big5');
    expect(charsetOfHtml(latin1(`${' '.repeat(1024)}${meta}`))).toBeNull();
  });
});

describe('decodeHtmlCharset', () => {
  const html = latin1('<meta charset=windows-1251><p>\xcf\xf0\xe8\xe2\xe5\xf2');
  const russian = '<meta charset=windows-1251><p>Привет';

  it.each([null, 'us-ascii', 'US-ASCII', 'x-unknown', 'klingon', '8bit'])(
    'lets the HTML decide under %s',
    (label) => {
      expect(decodeHtmlCharset(html, label)).toEqual({ text: russian, defect: null });
    },
  );

  it('lets a label that says something decide', () => {
    expect(decodeHtmlCharset(html, 'koi8-r').text).toContain('оПХБЕР');
    expect(decodeHtmlCharset(html, 'iso-8859-1').text).toContain('Ïðèâåò');
  });

  it('reads UTF-8 as such, whatever the HTML names', () => {
    const utf8 = Buffer.from('<meta charset=windows-1251><p>Привет');
    expect(decodeHtmlCharset(utf8, null)).toEqual({ text: russian, defect: null });
  });

  it('reads ISO-2022-JP, of which all bytes are ASCII', () => {
    const bytes = latin1('<meta charset=iso-2022-jp>\x1b$B$3\x1b(B');
    expect(decodeHtmlCharset(bytes, null).text).toBe('<meta charset=iso-2022-jp>こ');
  });

  it('reads HTML that names none as decodeCharset does', () => {
    expect(decodeHtmlCharset(latin1('<p>Gr\xfc\xdfe'), null)).toEqual({ text: '<p>Grüße', defect: null });
    expect(decodeHtmlCharset(latin1('<p>\xfc'), 'klingon')).toEqual({
      text: '<p>ü',
      defect: 'unknown_charset',
    });
  });

  it.each(['<', '<!--', '<meta ', '<meta charset=x>', '<a b="', '<!', '='])(
    'takes no time for many %j',
    (unit) => {
      const bytes = Buffer.concat([latin1('\xff'), latin1(unit.repeat(500_000))]);
      expectCpuBelow(1000, () => decodeHtmlCharset(bytes, null));
    },
  );
});
