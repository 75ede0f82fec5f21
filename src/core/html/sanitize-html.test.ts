import { describe, expect, it } from 'vitest';
import { HOSTILE_HTML } from '../../../test/fixtures/hostile-html.ts';
import { expectCpuBelow } from '../../../test/readers/cpu-time.ts';
import { MAX_SAFE_INPUT_CHARS } from './limits.ts';
import { nothingRemoved } from './removed.ts';
import { sanitizeHtml, type SafeHtml } from './sanitize-html.ts';
import { BOX } from './text-as-html.ts';

const OWN = '/api/images/1?expires=2&signature=x';
const images = new Map([['logo@a.test', OWN]]);
const PIXEL = 'data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs=';

const make = (html: string, allowRemote = false): SafeHtml => sanitizeHtml(html, { allowRemote, images });

/** The content of the box. */
function safe(html: string, allowRemote = false): string {
  const [, inner] =
    /^<div data-email-body="1" style="[^"]*">(.*)<\/div>$/s.exec(make(html, allowRemote).html) ?? [];
  if (inner === undefined) throw new Error('no box');
  return inner;
}

describe('what mail looks like', () => {
  it.each([
    [
      'text and its marks',
      '<p>a <b>b</b> <i>c</i><br>d &amp; <font color="#ff0000" face="Arial, sans-serif" size="2">e</font></p>',
    ],
    ['lists', '<ul type="disc"><li>a</li></ul><ol start="3"><li value="4">b</li></ol>'],
    [
      'headings and quotes',
      '<h1>a</h1><blockquote dir="rtl" lang="he">b</blockquote><pre>c\n d</pre><hr size="1">',
    ],
    [
      'tables that lay out',
      '<table width="600" cellpadding="0" cellspacing="0" border="0" role="presentation" bgcolor="#eeeeee"><tbody>' +
        '<tr><td colspan="2" align="center" valign="top" style="padding:10px 20px;color:#333">a</td></tr></tbody></table>',
    ],
    [
      'styles',
      '<p style="margin:0 0 10px;font:12px/1.5 Arial,sans-serif;color:rgb(1,2,3);border:1px solid #ccc;text-decoration:none">a</p>',
    ],
    ['embedded images', `<img alt="a" width="10" height="20" src="${PIXEL}">`],
  ])('keeps %s', (_, html) => {
    expect(safe(html).replaceAll('&#x26;', '&amp;')).toBe(html);
  });

  it('makes style sheets a part of the elements they are about', () => {
    const css =
      '<!-- p.MsoNormal, li.MsoNormal { margin: 0cm; font-size: 11pt } a:link, span.x { color: blue !important } ' +
      '#y { color: red } td p { color: green } @media print { p { color: green } } p:hover { color: green } -->';
    expect(
      safe(`<style>${css}</style><p class=MsoNormal style="color:#333">a</p><p>b</p><i id=y class=x>c</i>`),
    ).toBe('<p style="margin:0cm;font-size:11pt;color:#333">a</p><p>b</p><i style="color:red">c</i>');
  });

  it.each([
    ['a fill', 'color:transparent;-webkit-text-fill-color:#333', ''],
    ['an outline before it', '-webkit-text-stroke:1px #333;color:rgba(0,0,0,0)', ''],
    ['a shadow', 'color:#0000;text-shadow:0 0 1px #333', ''],
    [
      'a background that is cut out',
      'background:linear-gradient(90deg,red,blue);-webkit-background-clip:text;color:transparent;margin:1px',
      'margin:1px',
    ],
    ['an animation', 'opacity:0;animation:show 1s forwards', ''],
  ])('does not hide text that %s shows, where that is left out', (_, style, kept) => {
    expect(safe(`<p style="${style}">a</p>`)).toBe(kept === '' ? '<p>a</p>' : `<p style="${kept}">a</p>`);
    expect(safe('<p style="color:transparent;opacity:0">a</p>')).toContain('opacity:0');
  });

  it('follows no declaration whose mark is not `!important`', () => {
    expect(safe('<p style="display:none !ie;color:red !IMPORTANT">a</p>')).toBe('<p style="color:red">a</p>');
  });

  it('gives the box the colours of the body', () => {
    const { html } = make(
      '<body bgcolor="#eee" text=black style="font-family:Arial;position:fixed;display:inline">x',
    );
    expect(html).toContain(`style="${BOX};background-color:#eee;color:black;font-family:Arial"`);
  });

  it('shows images of the email at their signed addresses', () => {
    const src = OWN.replaceAll('&', '&#x26;');
    expect(safe('<img src="cid:logo@a.test"><img src="CID:logo%40a.test">')).toBe(
      `<img src="${src}"><img src="${src}">`,
    );
    expect(safe('<p style="background:#fff url(cid:logo@a.test) no-repeat">x</p>')).toContain(
      `url(&#x22;${src}&#x22;)`,
    );
    expect(safe('<img src="cid:other" alt="Logo">')).toBe('<img alt="Logo">');
  });
});

describe('what is left out', () => {
  it.each([
    ['scripts', '<script>x</script><a href="javascript:x">a</a>', { scripts: 2 }],
    ['handlers', '<p onclick=x onload=y>a</p>', { event_handlers: 2 }],
    ['forms', '<form><input><button>a</button></form>', { forms: 3 }],
    ['frames', '<iframe></iframe><object></object><embed>', { frames: 3 }],
    ['media', '<video src="https://a.test/x"></video><audio></audio>', { media: 2, remote_content: 1 }],
    [
      'vector graphics',
      '<svg><script>x</script><path></svg><math><mi>x</mi></math>',
      { vector_graphics: 2, scripts: 1 },
    ],
    [
      'metadata',
      '<base href="https://a.test"><meta charset=x><link rel=x href="https://a.test/x">',
      { metadata: 3, remote_content: 2 },
    ],
    ['styles', '<p style="position:fixed;z-index:9;color:red;mso-x:y">a</p>', { styles: 2 }],
    ['links', '<a href="ftp://a.test">a</a><a href="/x">b</a><a href="#c">c</a>', { links: 2 }],
    ['remote images', '<img src="https://a.test/x"><img src="//a.test/y" alt=y>', { remote_images: 2 }],
    ['other images', '<img src="data:image/svg+xml,x"><img src="x.png">', { images: 2 }],
    [
      'remote backgrounds',
      '<p style="background:url(https://a.test/x)">a</p><table background="https://a.test/x"></table>',
      { remote_images: 2 },
    ],
  ])('is counted: %s', (_, html, removed) => {
    expect(make(html).removed).toEqual({ ...nothingRemoved(), ...removed });
  });

  it('keeps the text of forms, the colour of backgrounds, and the alternative text of images', () => {
    expect(safe('<form>a<button>b</button></form>')).toBe('ab');
    expect(safe('<p style="background:#abc url(https://a.test/x)">a</p>')).toBe(
      '<p style="background-color:#abc">a</p>',
    );
    expect(safe('<img src="https://a.test/x" alt="Offer" width="10">')).toBe('<img alt="Offer" width="10">');
  });

  it('leaves no trace of images that only count readers', () => {
    expect(safe('<p>a<img src="https://a.test/track?x"></p>')).toBe('<p>a</p>');
  });

  it('keeps remote images when they are allowed, and nothing else that is remote', () => {
    const html =
      '<img src="http://a.test/x"><img src="ftp://a.test/x"><p style="background:url(https://a.test/y) no-repeat;cursor:url(https://a.test/z)">a</p>';
    expect(safe(html, true).replaceAll('&#x22;', "'")).toBe(
      '<img src="http://a.test/x" referrerpolicy="no-referrer">' +
        `<p style="background:url('https://a.test/y') no-repeat">a</p>`,
    );
  });
});

describe('links', () => {
  it('open in a window of their own and tell nothing', () => {
    expect(safe('<a href="https://a.test/x?y=1#z" title=t target=_top>a</a>')).toBe(
      '<a href="https://a.test/x?y=1#z" target="_blank" rel="noopener noreferrer nofollow">a</a>',
    );
    expect(safe('<a href="mailto:ann@a.test?subject=x">a</a> <a href="tel:+49123">b</a>')).toContain(
      'href="tel:+49123"',
    );
  });

  it.each([
    ['www.paypal.com', 'https://evil.example/x', 'www.paypal.com'],
    ['https://www.paypal.com/login', 'https://evil.example/x', 'www.paypal.com'],
    ['<b>www.</b>pay<i>pal</i>.com', 'https://evil.example/x', 'www.paypal.com'],
    ['Go to paypal.com now', 'https://paypal.com.evil.example/', 'paypal.com'],
    ['pay\u200bpal.com', 'https://evil.example/', 'paypal.com'],
    ['shop.myshopify.com', 'https://evil.myshopify.com/', 'shop.myshopify.com'],
    ['p\u0430ypal.com', 'https://paypal.com/', 'xn--pypal-4ve.com'],
    ['paypal。com', 'https://evil.example/', 'paypal.com'],
    ['x', 'https://paypal.com@evil.example/', 'paypal.com'],
    ['http://192.0.2.1/', 'https://evil.example/', '192.0.2.1'],
  ])('are told when %s leads to %s', (text, href, shown) => {
    const result = make(`<a href="${href}">${text}</a>`);
    expect(result.deceptiveLinks).toBe(1);
    expect(result.html).toContain(`data-shown-host="${shown}"`);
    expect(result.html).toContain(`title="${new URL(href).host}"`);
  });

  it.each([
    ['hidden text first', '<span style="font-size:0">evil.com </span>https://www.paypal.com'],
    ['text that is not drawn first', '<i style="display:none">evil.com </i>https://www.paypal.com/login'],
    ['text that can not be seen first', '<i style="visibility:hidden">evil.com </i>www.paypal.com'],
    ['clear text first', '<i style="opacity:0">evil.com </i>www.paypal.com'],
    ['the right site first', 'evil.com https://www.paypal.com/login'],
    ['the right site on the line above', 'evil.com<br>www.paypal.com'],
    ['the right site with a place, and blanks', 'evil.com/\u2800\u3164https://www.paypal.com/'],
    ['the right site with another as its place', 'evil.com/www.paypal.com'],
    ['the right site with an address as its place', 'evil.com/x//www.paypal.com/'],
    [
      'an image that is not fetched',
      '<img alt="https://www.paypal.com/login" src="https://x.test/a" width=9>',
    ],
    ['an image that is shown', `<img alt="www.paypal.com" src="${PIXEL}">`],
    ['a label for those who do not see it', '<b aria-label="www.paypal.com">Hier</b>'],
    ['an image as a part of it', 'www.paypal<img alt=".com">'],
    ['a hidden point', 'www.paypal<span style="display:none">.</span>.com'],
    ['a point without a size', '<b style="font:0/0 a">.</b>www.paypal<b style="font-size:0px">x</b>.com'],
    ['a point that may be seen', 'www.paypal<span style="opacity:0">.</span>.com'],
    ['a space that is too small', 'www.paypal.<span style="font-size:1px"> </span>com'],
    ['a space in a colour', 'www.paypal.<font color=white>: </font>com'],
    ['many words first', `<span style="font-size:0">${'x '.repeat(3000)}</span>https://www.paypal.com/login`],
    ['many words first that are shown', `${'x '.repeat(30_000)}https://www.paypal.com/login`],
    ['the direction of writing', '<span dir=rtl>moc.lapyap.www//:sptth</span>'],
    ['the direction in a style', '<span style="direction:rtl"><i>.com</i><i>paypal</i></span>'],
    ['a mark that turns it', '\u202emoc.lapyap'],
    ['a mark that turns it, around the link', 'moc.lapyap.www'],
    ['an escaped point', 'https://paypal%2ecom/'],
    ['backslashes', 'https:\\\\www.paypal.com'],
    ['a scheme on a line of its own', 'https://<br>www.paypal.com'],
    ['wide letters', 'ｗｗｗ．ｐａｙｐａｌ．ｃｏｍ'],
    ['cells of a table', '<table><tr><td>www.paypal.c</td><td>om</td></tr></table>'],
    ['parts that float', '<b style="float:left">www.paypal.c</b><b style="float:left">om</b>'],
    [
      'blocks on one line',
      '<div style="display:inline">www.paypal.c</div><div style="display:inline">om</div>',
    ],
    ['another address', 'boss@paypal.com'],
    ['a name that no registry has', '<b>https://</b><i><u>bank-paypal.test</u></i>'],
    ['a name with www that no registry has', 'www.paypal.bank'],
    ['a point in brackets', 'paypal[.]com'],
    ['a point as a word', 'paypal(dot)com'],
    ['a scheme with other letters', 'hxxps://paypal.bank/x'],
    ['capitals', 'HTTPS://WWW.PAYPAL.COM'],
    ['what a pointer shows', '<img title="https://paypal.com/" src="cid:logo@a.test">'],
    [
      'a badge like that of the service before the link',
      '</a><b>[paypal.com]</b> <a href="https://evil.com/">Hier',
    ],
    ['a name before @', 'https://www.paypal.com@evil.com/'],
  ])('are told where %s hides another site', (_, text) => {
    const result = make(`<a href="https://evil.com/">${text}</a>`);
    expect(result.deceptiveLinks).toBe(1);
    expect(result.html).toContain('data-link-host="evil.com"');
    expect(result.html).toMatch(/data-shown-host="[^"]*paypal/);
  });

  it.each([
    ['boss@exam.test', 'mailto:evil@evil.com'],
    ['boss@exam.test', 'mailto:evil@exam.test'],
    ['Boss &lt;BOSS@exam.test&gt;', 'mailto:boss@exam.test?cc=evil@evil.com'],
    ['www.exam.com', 'mailto:evil@evil.com'],
  ])('are told when the address %s leads to %s', (text, href) => {
    const result = make(`<a href="${href}">${text}</a>`);
    expect(result.deceptiveLinks).toBe(1);
    expect(result.html).toMatch(/data-link-host="[^"]*evil@/);
  });

  it.each([
    ['1.2.3.4', 'https://evil.example/'],
    ['http://1.2.3.4:80/x', 'https://1.2.3.5/'],
    ['evil.myshopify.com', 'https://shop.myshopify.com/'],
    ['www.gov.uk', 'https://evil.co.uk/'],
    ['Hier', 'https://p\u0430yp\u0430l.com/'],
    ['p\u0430yp\u0430l.com', 'https://p\u0430yp\u0430l.com/'],
    ['Hier', 'mailto:boss@p\u0430yp\u0430l.com'],
  ])('are told when %s leads to %s, too', (text, href) => {
    expect(make(`<a href="${href}">${text}</a>`).deceptiveLinks).toBe(1);
  });

  it('have no other address around them that a pointer shows', () => {
    const { html } = make(
      '<div title="https://paypal.com/"><p title="Zum Shop"><a href="https://evil.com/">Hier</a></p></div><i title="a.b">x</i>',
    );
    expect(html).not.toContain('paypal');
    expect(html).toContain('title="Zum Shop"');
    expect(html).toContain('title="a.b"');
  });

  it('are told when there is too much to look at', () => {
    const many = `<a href="https://shop.example/">${'shop.example '.repeat(200)}</a>`.repeat(120);
    expect(make(many).deceptiveLinks).toBeGreaterThan(0);
    expect(make(many.slice(0, many.length / 4)).deceptiveLinks).toBe(0);
  });

  it.each([
    ['<table><tr><td>Besuchen Sie</td><td>shop.example.com</td></tr></table>', 'https://example.com/x'],
    ['<p>Sie finden alles hier.</p><p>Info und Shop</p>', 'https://a.example/'],
    ['Alles hier.<br>Shop', 'https://a.example/'],
    ['Weiterlesen...Online', 'https://a.example/'],
    ['Muster GmbH &amp; Co.KG', 'https://a.example/'],
    ['<i style="display:none">www.paypal.com</i>Jetzt kaufen', 'https://a.example/'],
    ['https://shop.com/go/readme.md?by=ann@paypal.com', 'https://shop.com/go/readme.md?by=ann@paypal.com'],
    ['https://archive.org/web/http://paypal.com/', 'https://archive.org/web/http://paypal.com/'],
    ['<div>Angebot bei</div><div>www.shop.com</div><div>Jetzt</div>', 'https://news.shop.com/x'],
    ['Ann <b>(ann@paypal.com)</b>', 'mailto:Ann%2Bx@PayPal.com?subject=www.shop.com'],
    ['ann@a.com, bob@b.com', 'mailto:ann@a.com,bob@b.com'],
    ['www.paypal.com', 'tel:+49123'],
    ['ann@paypal.com', 'mailto:'],
    ['www.shop.example', 'https://shop.example/x'],
    ['shop.example', 'https://mail.shop.example/x'],
    ['Vertrag.docx', 'https://files.example/x'],
    ['ann@paypal.com', 'mailto:ann@paypal.com'],
    ['3.14', 'https://a.example/'],
    ['Click here', 'https://a.example/'],
    ['Firmware 1.2.3.4', 'https://a.example/'],
    ['1.2.3.4', 'http://1.2.3.4/'],
    ['müller.de', 'https://müller.de/'],
    ['Hier', 'https://xn--mller-kva.de/'],
    ['</a>[1] <a href="https://a.example/">Weiter', 'https://a.example/'],
  ])('are not told when %s leads to %s', (text, href) => {
    expect(make(`<a href="${href}">${text}</a>`).deceptiveLinks).toBe(0);
  });
});

describe('whatever comes', () => {
  it.each(HOSTILE_HTML.map((html) => [html]))('is the same when it is made safe again: %s', (html) => {
    for (const allowRemote of [false, true]) {
      const once = make(html, allowRemote).html;
      expect(make(once, allowRemote).html).toBe(once);
    }
  });

  it.each([
    ['deep nesting', '<div>'.repeat(10_000)],
    ['very many elements', '<br>'.repeat(200_000)],
    [
      'open tags that every paragraph repeats',
      `<p>${Array.from({ length: 300 }, (_, index) => `<b title=${index}>`).join('')}${'</p><p>x'.repeat(10_000)}`,
    ],
  ])('is given up when it takes too much: %s', (_, html) => {
    expect(() => make(html)).toThrow(/more than|deeper than/);
  });

  it.each([
    ['rules of many elements', '<p class="c0 c1 c2 c3 c4 c5 c6 c7 c8 c9" style="color:red">x', 'p.c'],
    ['rules of every element', '<p style="color:red">x', '*:not(.y'],
  ])('keeps its own styles alone when its style sheets cost too much: %s', (_, element, selector) => {
    const rules = Array.from(
      { length: 1999 },
      (__, index) => `${selector}${index % 100}){margin:${index % 100}px}`,
    );
    const css = selector.includes('(') ? rules : rules.map((rule) => rule.replace(')', ''));
    const html = `<style>${css.join('')}</style>${element.repeat(4000)}`;
    const result = make(html);
    expect(result.html.match(/<p style="color:red">/g)).toHaveLength(4000);
    expect(result.removed).toEqual({ ...nothingRemoved(), style_sheets: 1 });
  });

  it.each([
    ['links of nothing but hosts', `<a href="https://a.example/">${'a.b-'.repeat(100)}</a>`.repeat(4000)],
    ['letters that stand for many', `<a href="https://a.example/">${'\ufdfa'.repeat(600_000)}</a>`],
    ['a place without end', `<a href="https://a.example/">${'a.example/'.repeat(180_000)}</a>`],
    ['links in links', '<a href="https://a.example/"><table><tr><td>a.example '.repeat(70) + 'x'.repeat(1e6)],
  ])('takes no time without bounds to compare the texts of links: %s', (_, html) => {
    let found = 0;
    expectCpuBelow(4000, () => {
      found = make(html).deceptiveLinks;
    });
    expect(found).toBeGreaterThan(0);
  });

  it('is cut when it is too long', () => {
    const result = make('a'.repeat(MAX_SAFE_INPUT_CHARS + 1));
    expect(result.isCut).toBe(true);
    expect(result.html.length).toBeLessThan(MAX_SAFE_INPUT_CHARS + 200);
  });

  it('is one empty box when there is nothing', () => {
    expect(make('').html).toBe(`<div data-email-body="1" style="${BOX}"></div>`);
  });
});

describe('for an answer', () => {
  const quote = (html: string) =>
    sanitizeHtml(html, { allowRemote: false, images: new Map([['logo', 'cid:new']]), isQuote: true }).html;

  it('has images by their new Content-IDs, and the alternative texts of all others', () => {
    const html =
      '<img src="cid:logo" alt="a"><img src="cid:other" alt="<b>b</b>"><img src="https://x.test/1" alt="c"><img src="//x.test/2" width="1">' +
      '<img src="cid:new" alt="d"><img alt="e">';
    expect(quote(html)).toMatch(
      /^<div [^>]*><img alt="a" src="cid:new">&#x3C;b>b&#x3C;\/b>c<img alt="d" src="cid:new">e<\/div>$/,
    );
  });

  it('has no other address of that kind', () => {
    expect(make('<img src="cid:logo" alt="a">').html).not.toContain('cid:');
    expect(quote('<a href="cid:new">x</a><p style="background:url(cid:other)">y</p>')).not.toContain('cid:');
  });
});
