import { describe, expect, it } from 'vitest';
import { withoutActive } from './without-active.ts';

const kept = (html: string): string => withoutActive(html).html;

describe('withoutActive', () => {
  it.each([
    '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN">\r\n<HTML><Head><style>.a{color:red}</style></Head>\n<BODY bgcolor=#fff >\n<p class=\'a\'>Hallo &amp; &nbsp;Welt</BODY></HTML>\n',
    '<p>Hallo<br>Welt<p>ohne Ende',
    '<!--[if mso]><table><tr><td width="300"><![endif]--><div>Spalte</div><!--[if mso]></td></tr></table><![endif]-->',
    '<img src="cid:logo@a.test" alt="JavaScript: ein Buch"><img src="data:image/png;base64,AAAA">',
    '<a href="https://a.test/?q=javascript:1" title="onclick=1">x</a><a href="mailto:a@b.test">y</a>',
    '<table width=600 background="https://a.test/b.png"><tr><td style="background:url(\'https://a.test/c.png\');mso-hide:all">x',
    '<meta http-equiv="Content-Type" content="text/html; charset=utf-8"><meta name="viewport" content="width=device-width">',
    '<svg viewBox="0 0 1 1"><path d="M0 0"/></svg><o:p></o:p><v:shape></v:shape>',
    '<div style="opacity:0;max-height:0">Vorschau</div><img src="https://a.test/pixel" width=1 height=1>',
    '<p onclick-hint>a</p>'.replace(' onclick-hint', ' data-onclick="x"'),
  ])('keeps every byte of %s', (html) => {
    expect(kept(html)).toBe(html);
  });

  it.each([
    ['a<script>alert(1)</script>b', 'ab'],
    ['a<SCRIPT src=//x.test>', 'a'],
    ['<p onclick="x()" class="a">b</p>', '<p  class="a">b</p>'],
    ['<p ONMOUSEOVER=x()>b</p>', '<p >b</p>'],
    ['<p onclick=a onclick=b>c</p>', '<p  >c</p>'],
    ['<a href="java\tscript:x()">b</a>', '<a >b</a>'],
    ['<a href=" &#1;JAVASCRIPT&colon;x()">b</a>', '<a >b</a>'],
    ['<a href="data:text/html,<script>1</script>">b</a>', '<a >b</a>'],
    ['<svg><a xlink:href="javascript:x()">b</a></svg>', '<svg><a >b</a></svg>'],
    ['<svg><animate attributeName="href" values="javascript:x()"/>b</svg>', '<svg>b</svg>'],
    ['<svg><script>x()</script>b</svg>', '<svg>b</svg>'],
    ['a<iframe srcdoc="<script>1</script>">x</iframe>b', 'ab'],
    ['a<object data="x.swf"><embed src="x.swf"></object>b', 'ab'],
    ['<meta http-equiv="refresh" content="0;url=https://x.test">b', 'b'],
    ['<link rel="import" href="https://x.test">b', 'b'],
    ['<base href="javascript:1//">b', '<base >b'],
    ['<form action="https://x.test"><input name=a>b</form>', '<input name=a>b'],
    ['<button formaction="javascript:x()">b</button>', '<button >b</button>'],
    ['<p style="width:expression(x())">b</p>', '<p >b</p>'],
    ['<p style="width:exp/**/ression(x())">b</p>', '<p >b</p>'],
    ['<p style="width:\\65xpression(x())">b</p>', '<p >b</p>'],
    ['<style>p{behavior:url(x.htc)}</style>b', 'b'],
    ['<!--[if IE]><script>x()</script><![endif]-->b', 'b'],
    ['<template><script>x()</script>b</template>', '<template>b</template>'],
  ])('takes what runs out of %s', (html, expected) => {
    expect(kept(html)).toEqual(expected);
    expect(kept(kept(html))).toBe(kept(html));
  });

  it.each([
    '<noscript><p title="</noscript><script>x()</script>">b</noscript>',
    '<noscript><script>x()</script></noscript><script>y()</script>',
  ])('reads %s with and without scripts', (html) => {
    expect(kept(html)).not.toMatch(/<script/i);
  });

  it('gives up where cutting brings ever more to life', () => {
    expect(() => withoutActive(`<p ${'onclick=a '.repeat(20)}>`)).toThrow('active content');
  });

  it.each([
    ['<p>x', ''],
    ['<html><body class=a><p>x', '<html><body class=a>'],
    [
      '<!doctype html><html><head><title>t</title></head><p>x',
      '<!doctype html><html><head><title>t</title></head>',
    ],
    ['<!DOCTYPE html>\n<p>x', '<!DOCTYPE html>'],
    ['<html><p>x', '<html>'],
  ])('finds the beginning of the body of %s', (html, before) => {
    expect(html.slice(0, withoutActive(html).start)).toBe(before);
  });
});
