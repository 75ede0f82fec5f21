import { describe, expect, it } from 'vitest';
import { expectCpuBelow } from '../../../../test/readers/cpu-time.ts';
import { htmlToText, renderHtml } from './html-to-text.ts';

describe('htmlToText', () => {
  it.each([
    ['paragraphs', '<p>Guten Tag,</p><p>bis&nbsp;morgen</p>', 'Guten Tag,\n\nbis\u00a0morgen'],
    ['line breaks', 'a<br>b<br/>c', 'a\nb\nc'],
    ['character references', '&Auml;&#246;&#x20AC; &lt;b&gt; &amp;', 'Äö€ <b> &'],
    ['links', '<a href="https://x.test/?a=1&amp;b">hier</a>', 'hier <https://x.test/?a=1&b>'],
    ['links that show their address', '<a href="https://x.test/">https://x.test/</a>', 'https://x.test/'],
    ['images by their alternative text', '<img src="cid:1" alt="Logo"><img src="x">', 'Logo'],
    ['headings in their own case', '<h1>Größe</h1><p>x</p>', 'Größe\n\nx'],
    ['lists', '<ul><li>a</li><li>b</li></ul>', ' * a\n * b'],
    ['tables', '<table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>', 'a b\nc d'],
    ['quotes', '<blockquote>a<br>b</blockquote>', '> a\n> b'],
    ['no scripts, styles and comments', '<style>p{}</style><script>x()</script><!-- c --><p>a</p>', 'a'],
    ['nothing', '', ''],
    ['text without tags', ' a\r\n b ', 'a b'],
    ['tags that never end', '<p>a <b', 'a'],
    ['a body in a document', '<html><head><title>t</title></head><body>a</body></html>', 'a'],
    [
      'what stands outside of the body',
      '<p>a</p><html><head><xml><o:p>96</o:p></xml><title>t</title></head><body><p>b</p></body></html><p>c</p>',
      'a\n\nb\n\nc',
    ],
    ['a head that never ends', '<html><head><title>t</title><meta name="x"><div>a</div>', 'a'],
    ['several bodies', '<body>a</body><br><body>b</body>', 'a\nb'],
    ['no NUL and no half characters', 'a\0b&#0;c&#xd800;d\ud800', 'ab\ufffdc\ufffdd\ufffd'],
  ])('renders %s', (_, html, expected) => {
    expect(htmlToText(html)).toBe(expected);
  });

  it('loses no text that is nested too deep for the library', () => {
    expect(htmlToText(`${'<div>'.repeat(200)}deep &amp; dark`)).toBe('deep & dark');
  });

  it('keeps text, links, lists and tables of HTML with too many tags', () => {
    const html =
      '<head><title>t</title><style>p{}</style></head><!-- a > b --><table><tr><td>a</td> <td>b</td></tr>\n<tr><td>c</td>' +
      '</tr></table><p>1 < 2 &lt; 3</p><ul><li>x</li><li>y</li></ul><a class=q href=\'u&amp;v\'>l</a><img alt="pic">' +
      '<b></b>'.repeat(3000);
    expect(htmlToText(html)).toBe('a b\nc\n\n1 < 2 < 3\n * x\n * y\nl <u&v>pic');
  });

  it('keeps what stands outside of the body of HTML with too many tags', () => {
    const html =
      '<html><head><title>t</title><meta name=x><style>p{}</style></head><body>a</body></html><p>b</p>';
    expect(htmlToText(html + '<b></b>'.repeat(3000))).toBe('a\n\nb');
    expect(htmlToText('<head><title>t</title>a' + '<b></b>'.repeat(3000))).toBe('a');
  });

  it('says that it cut what is too large', () => {
    expect(htmlToText('x'.repeat(2_000_001))).toBe(`${'x'.repeat(2_000_000)}\n\n[…]`);
  });

  it.each([
    ['<div>', 200_000],
    ['<table><tr><td>', 60_000],
    ['<ul><li>', 100_000],
    ['<b>', 4990],
    ['<div></p>', 2490],
    ['<a href=x>', 100_000],
    ['<', 1_000_000],
    ['<!--', 250_000],
    ['<a href="\'', 100_000],
    ['<script>', 100_000],
    ['&', 1_000_000],
    ['&#', 500_000],
    ['<br>', 250_000],
    ['<p>Hello <b>world</b></p>', 40_000],
    ['x ', 1_000_000],
    ['<p>          ', 100_000],
  ])('does not get stuck in many %j', (unit, count) => {
    expectCpuBelow(1500, () => htmlToText(unit.repeat(count)));
  });

  it.each([
    [
      'numbers far above those of real lists',
      '<ol start=999999999999999><li>'.repeat(48) + '<pre>',
      'x\n',
      300_000,
    ],
    ['lists in lists', '<ol><li>'.repeat(48) + '<pre>', 'x\n', 300_000],
    ['quotes in quotes', '<blockquote>'.repeat(98) + '<pre>', 'x\n', 300_000],
    ['quotes in quotes and line breaks', '<blockquote>'.repeat(99), 'x<br>', 4800],
    ['rules', '', '<hr>', 4900],
    ['quotes in lists in quotes', '<blockquote><ul><li>'.repeat(30) + '<pre>', '\n', 900_000],
    ['links in links', '<a href=https://x.example/>'.repeat(98), 'x ', 300_000],
    ['a long link around many links', `<a href="${'y'.repeat(100_000)}">`, '<a href=x>x</a>', 2000],
  ])('gives a text that is not much longer than the HTML of %s', (_, before, unit, count) => {
    const html = before + unit.repeat(count);
    const { text } = renderHtml(html);
    expect(text.length).toBeLessThanOrEqual(Math.min(4 * html.length + 1000, 3_000_100));
    // Only marks are left out.
    expect(text.split('x').length).toBeGreaterThanOrEqual(unit.startsWith('x') ? count : 1);
  });

  it('says that it left out marks of quotes, and keeps them where there is room', () => {
    expect(renderHtml('<blockquote>'.repeat(98) + '<pre>' + 'x\n'.repeat(300_000)).isCut).toBe(true);
    const nested = renderHtml('<blockquote>'.repeat(10) + 'a<br>b' + '</blockquote>'.repeat(10));
    expect(nested).toEqual({ text: `${'> '.repeat(10)}a\n${'> '.repeat(10)}b`, isCut: false });
  });

  it.each([
    ['<ol start=3><li>a</li><li>b</li></ol>', ' 3. a\n 4. b'],
    ['<ol type=a start=26><li>a</li><li>b</li></ol>', ' z.  a\n aa. b'],
    ['<ol type=I start=1994><li>a</li></ol>', ' MCMXCIV. a'],
    ['<ol type=i start=3999><li>a</li><li>b</li></ol>', ' mmmcmxcix. a\n 4000.      b'],
    ['<ol type=i start=50000><li>a</li></ol>', ' 50000. a'],
    ['<ol type=A start=-5><li>a</li></ol>', ' -5. a'],
    ['<ol start=x><li>a</li></ol>', ' 1. a'],
    ['<ol start=1e300><li>a</li></ol>', ' 1. a'],
    ['<ol><li>a<ul><li>b<br>c</li></ul></li><li>d</li></ol>', ' 1. a\n    * b\n      c\n 2. d'],
  ])('numbers the items of %s', (html, expected) => {
    expect(htmlToText(html)).toBe(expected);
  });

  it.each(['<style>x{}</style>', '<STYLE>x{}</Style>', '<script>x</script>'])(
    'hides %s behind characters that are longer in lower case',
    (hidden) => {
      const html = `${'İ'.repeat(1000)}${hidden}<p>y`;
      expect(htmlToText(html)).toBe(`${'İ'.repeat(1000)}\n\ny`);
      expect(htmlToText(html + '<b></b>'.repeat(3000))).toBe(`${'İ'.repeat(1000)}\ny`);
    },
  );
});
