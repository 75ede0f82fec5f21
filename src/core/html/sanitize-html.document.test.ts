/** HTML that was made safe for a document of its own, with its style sheet. */
import { describe, expect, it } from 'vitest';
import { HOSTILE_HTML } from '../../../test/fixtures/hostile-html.ts';
import { sanitizeHtml, type SafeHtml } from './sanitize-html.ts';

const OWN = '/api/images/1?expires=2&signature=x';
const images = new Map([['logo@a.test', OWN]]);

const make = (html: string, options: Partial<Parameters<typeof sanitizeHtml>[1]> = {}): SafeHtml =>
  sanitizeHtml(html, { allowRemote: false, images, document: { scheme: 'auto' }, ...options });
const sheetOf = (css: string, more = '<p>a', options = {}): string =>
  make(`<style>${css}</style>${more}`, options).sheet;

const BOX = '[data-email-body]';

describe('the style sheet of a document', () => {
  it.each([
    ['p{color:red}', `${BOX} p{color:red}`],
    ['.a.b#c{color:red}', `${BOX} #c.a.b{color:red}`],
    [
      'td p,td>p,h1+p,h1~p{color:red}',
      ['td p', 'td>p', 'h1+p', 'h1~p'].map((one) => `${BOX} ${one}{color:red}`).join(''),
    ],
    ['*{color:red}', `${BOX} *{color:red}${BOX}{color:red}`],
    ['p:first-child{color:red}', `${BOX} p:first-child{color:red}`],
    ['tr:nth-child(even) td{color:red}', `${BOX} tr:nth-child(2n+0) td{color:red}`],
    ['p:not(.x):is(.a,.b){color:red}', `${BOX} p:not(.x):is(.a,.b){color:red}`],
    ['a[href^="tel:"]{color:red}', `${BOX} a[href^="tel:"]{color:red}`],
    ['p{color:red!important}', `${BOX} p{color:red!important}`],
    [
      '@media only screen and (max-width:600px){p{width:100%}}',
      `@media only screen and (max-width:600px){${BOX} p{width:100%}}`,
    ],
    ['@media (width<=600px){p{width:100%}}', `@media (max-width:600px){${BOX} p{width:100%}}`],
    ['@media screen{p{width:100%}}', `${BOX} p{width:100%}`],
    ['</style><style media="print">p{color:#000}', `@media print{${BOX} p{color:#000}}`],
    [
      '</style><style media="screen and (min-width: 480px)">p{color:#000}',
      `@media screen and (min-width:480px){${BOX} p{color:#000}}`,
    ],
    ['@media print{p{color:#000}}', `@media print{${BOX} p{color:#000}}`],
    [
      '@media (-webkit-min-device-pixel-ratio:0){p{color:red}}',
      `@media (-webkit-min-device-pixel-ratio:0){${BOX} p{color:red}}`,
    ],
    ['@supports (display:grid){p{color:red}}', `${BOX} p{color:red}`],
    ['@supports not ((position:sticky) or (display:-ms-grid)){p{color:red}}', `${BOX} p{color:red}`],
    [
      '@supports selector(p>b) and (color:red){@media print{p{color:red}}}',
      `@media print{${BOX} p{color:red}}`,
    ],
    ['@supports (position:sticky){p{color:red}}b{color:red}', `${BOX} b{color:red}`],
    [
      '.sm\\:block,.w-1\\/2{color:red}',
      `${BOX} [class~="sm:block"]{color:red}${BOX} [class~="w-1/2"]{color:red}`,
    ],
    ['p::before,p{color:red}', `${BOX} p{color:red}`],
    [
      '@media (prefers-color-scheme:dark){p{color:#fff}}b{color:red}',
      `@media (prefers-color-scheme:dark){${BOX} p{color:#fff}}${BOX} b{color:red}`,
    ],
    ['a:hover{color:red;display:none;width:9px}', `${BOX} a:hover{color:red}`],
    ['p{width:calc(100% - 20px);height:50vh}', `${BOX} p{width:calc(100% - 20px);height:400px}`],
    ['p{background:url(cid:logo@a.test) no-repeat}', `${BOX} p{background:url("${OWN}") no-repeat}`],
  ])('has %s', (css, written) => {
    expect(sheetOf(css)).toBe(written);
  });

  it('makes rules of the body rules of its box, with what a box may have', () => {
    const body = '<body class="dark" id="x"><p>a';
    expect(sheetOf('body{margin:0;padding:0;background:#000;width:9px}', body)).toBe(
      `${BOX}{padding:0;background:#000}`,
    );
    expect(sheetOf('html{background:#000}', body)).toBe(`${BOX}{background:#000}`);
    expect(sheetOf('.dark td{color:#fff}', body)).toBe(`${BOX} .dark td{color:#fff}${BOX} td{color:#fff}`);
    expect(sheetOf('html>body.dark>table{color:#fff}', body)).toBe(`${BOX}>table{color:#fff}`);
    expect(sheetOf('#x>table{color:#fff}', body)).toBe(`${BOX} #x>table{color:#fff}${BOX}>table{color:#fff}`);
    expect(sheetOf('body.light td{color:#fff}', body)).toBe('');
  });

  it('has the rules of the colour scheme that the reader chose', () => {
    const css =
      '@media (prefers-color-scheme:dark){p{color:#fff}}@media (prefers-color-scheme:light){p{color:#000}}';
    expect(sheetOf(css, '', { document: { scheme: 'dark' } })).toBe(`${BOX} p{color:#fff}`);
    expect(sheetOf(css, '', { document: { scheme: 'light' } })).toBe(`${BOX} p{color:#000}`);
  });

  it.each([
    ['text alone, on a background that stays light', 'p{color:#fff}', '<p>a</p>', 'light'],
    ['a background alone, below dark text', '.b{background:#111!important}', '<td class="b">a', 'light'],
    [
      'a part of the text',
      'body{background:#111!important}.t{color:#eee!important}',
      '<p class="t">a</p><p style="color:#333">longer than that</p>',
      'light',
    ],
    [
      'all of it',
      'body{background:#111!important}p{color:#eee!important}',
      '<p style="color:#333">a</p>',
      'dark',
    ],
    [
      'all but what is faint in light colours, too',
      'body{background:#111!important}p{color:#eee!important}',
      '<p>a</p><b style="color:#222">a</b><i style="color:#fff">ab</i>',
      'dark',
    ],
    ['text that nobody sees', 'p{color:#fff}', '<p style="display:none">a</p>', 'dark'],
  ])('has the dark colours of a sender who made %s dark: %s', (_, css, body, expected) => {
    const html = `<style>@media (prefers-color-scheme:dark){${css}}</style><table><tr>${body}</table>`;
    const kept = make(html, { document: { scheme: 'dark' } }).sheet;
    expect(kept === '' ? 'light' : 'dark').toBe(expected);
    // A reader who likes it light has the light ones in any case.
    expect(make(html, { document: { scheme: 'light' } }).sheet).toBe('');
  });

  it.each([
    ['<body bgcolor="#EEEEEE">a', '#eeeeee'],
    ['<style>body{background:#222}</style><body style="color:#fff">a', '#222222'],
    ['<style>@media (prefers-color-scheme:dark){body{background:#123;color:#fff}}</style>a', '#112233'],
    ['<body style="background:url(https://a.test/x.png) #eee">a', null],
    ['<p style="background:#eee">a', null],
  ])('says the background of the whole email: %s', (html, ground) => {
    expect(make(html, { document: { scheme: 'dark' }, allowRemote: true }).ground).toBe(ground);
  });

  it('keeps the classes and names that it needs, and leads within the email', () => {
    const { html } = make('<p class="a  b c:d <x" id=y>a</p><a name="z">b</a><a href="#z">c</a>');
    expect(html).toContain('<p class="a b c:d" id="y">a</p><a id="z">b</a><a href="#z">c</a>');
  });

  it.each([
    ['position', 'p{position:fixed;z-index:9;top:0;left:0}'],
    ['negative offsets', 'p{margin:-9px;margin-left:calc(0px - 9px)}'],
    [
      'movement',
      'p{transform:scale(9);animation:x 1s;transition:all 1s;translate:9px}@keyframes x{to{opacity:0}}',
    ],
    ['content of its own', 'p::before{content:"x"}p:after{content:"x"}p::first-letter{color:red}'],
    ['what is fetched', '@import url(https://a.test/x);@font-face{font-family:f;src:url(https://a.test/x)}'],
    ['remote images', 'p{background:url(https://a.test/x)}p{background-image:url(//a.test/x)}'],
    ['images in other properties', 'p{list-style:url(cid:logo@a.test);cursor:url(cid:logo@a.test),auto}'],
    [
      'variables and functions',
      'p{--x:red;color:var(--x);width:env(x);background:image-set("x" 1x);background:paint(x)}',
    ],
    ['what the reader did', 'a:visited{color:red}p:focus{color:red}p:active{color:red}p:target{color:red}'],
    ['selectors of content', 'p:has(b){color:red}p:lang(de){color:red}:host{color:red}p|b{color:red}'],
    [
      'the marks of the service',
      '[data-link-host]{color:red}[data-email-body]{color:red}p:not([data-shown-host]){color:red}',
    ],
    [
      'rules of other kinds',
      '@supports (a:b){p{color:red}}@layer x{p{color:red}}@container (width>1px){p{color:red}}@page{margin:0}',
    ],
    [
      'rules within rules',
      'p{&:hover{color:red}b{color:red}}@media (min-width:1px){@media print{p{color:red}}}',
    ],
    [
      'other conditions',
      '@media (max-height:9px){p{color:red}}@media (scripting:none){p{color:red}}@media not all{p{color:red}}@media speech{p{color:red}}',
    ],
    ['its own end', 'p{font-family:"</style><img src=x onerror=alert(1)>"}.\\3c \\/style\\3e{color:red}'],
    ['escapes', '.a\\"b{color:red}#a\\:b{color:red}p{col\\6fr:x\\3c}'],
    ['a list with a selector that no browser knows', 'p:unknown,p{color:red}'],
    [
      'windows without end',
      'p{width:100000px;height:calc(1px*9999);padding:9999px;font-size:900px;line-height:999}',
    ],
    ['too many parts', `${'p '.repeat(9)}{color:red}`],
  ])('never has %s', (_, css) => {
    const sheet = sheetOf(css);
    expect(sheet).toMatch(/^(?:@media not all\{.*\})?$/);
  });

  it('loads backgrounds when the reader allows it, and nothing else', () => {
    const css = 'p{background:url("https://a.test/x?y=(1)") no-repeat,#fff;cursor:url(https://a.test/z)}';
    expect(sheetOf(css, '<p>a', { allowRemote: true })).toBe(
      `${BOX} p{background:url("https://a.test/x?y=%281%29") no-repeat , #fff}`,
    );
  });

  it('counts backgrounds that wait for the reader, also those for narrow windows', () => {
    const css = '@media (max-width:600px){p{background:url(https://a.test/x)}}';
    const waiting = (html: string) => make(html, { document: null }).removed.remote_images;
    expect(waiting(`<style>${css}</style><p>a`)).toBe(1);
    expect(waiting(`<style>${css}</style><b>a`)).toBe(0);
  });

  it('is none of a program: the HTML for others has neither classes nor names', () => {
    const { html, sheet } = make('<style>td .x{color:red}</style><table><tr><td><p class=x id=y>a', {
      document: null,
    });
    expect(sheet).toBe('');
    expect(html).toContain('<p style="color:red">a</p>');
    expect(html).not.toMatch(/class|id=/);
  });

  it.each(HOSTILE_HTML.map((html) => [html]))('is the same when it is made safe again: %s', (html) => {
    for (const allowRemote of [false, true]) {
      const once = make(html, { allowRemote });
      expect(make(once.html, { allowRemote }).html).toBe(once.html);
      expect(once.sheet).not.toMatch(/[<\\]|@(?!media )/);
    }
  });
});

describe('a link in a document', () => {
  const LINK = 'https://evil.example/';
  it.each([
    ['a rule for the inside of it', '<style>a i{display:none}</style>', 'www.paypal<i>X</i>.com'],
    [
      'a rule by its place',
      '<style>i:nth-child(2){display:none}</style>',
      '<i>www.pay</i><i>X</i><i>pal.com</i>',
    ],
    [
      'a rule for narrow windows',
      '<style>@media (max-width:600px){.x{display:none}}</style>',
      'www.paypal<i class=x>X</i>.com',
    ],
    [
      'rules for two windows',
      '<style>@media (max-width:600px){.x{display:none}}@media (orientation:portrait){.y{font-size:0}}</style>',
      'www.pay<i class=x>X</i>pal<i class=y>Y</i>.com',
    ],
    [
      'a rule that counts for more than its own style',
      '<style>.x{display:inline!important}</style>',
      'www.paypal<i class=x style="display:none">.com</i>',
    ],
    [
      'an element around it that is written from right to left',
      '<style>i{display:inline-block}</style><div dir=rtl>',
      '<i>.com</i><i>paypal</i><i>www.</i>',
    ],
    ['columns around it', '<style>div{column-count:2;column-gap:0}</style><div>', 'www.paypal.c<br>om'],
    [
      'an element around it without a size',
      '<style>div{font-size:0}b{font-size:14px}</style><div>',
      '<b>www.paypal</b> X <b>.com</b>',
    ],
    [
      'an element around it that is hidden',
      '<style>div{visibility:hidden}b{visibility:visible}</style><div>',
      '<b>www.paypal</b> X <b>.com</b>',
    ],
    ['columns', '<style>a{columns:2;column-gap:0}</style>', 'www.paypal.c<br>om'],
    ['a flex box', '<style>a{display:flex}</style>', '<div>www.paypal.c</div><div>om</div>'],
    [
      'an element that is left out',
      '<style>a > i{display:none}</style>',
      'www.paypal<x-y><i>X</i></x-y>.com',
    ],
    [
      'an attribute that is compared without regard to case',
      '<style>i[align=LEFT]{display:none}</style>',
      'www.paypal<i align=left>X</i>.com',
    ],
  ])('is told where %s shows another site', (_, head, text) => {
    const result = make(`${head}<a href="${LINK}">${text}</a>`);
    expect(result.deceptiveLinks).toBe(1);
    expect(result.html).toContain('data-link-host="evil.example"');
  });

  it.each([
    [
      'the end',
      'a{display:inline-block;width:95px;overflow:hidden;white-space:nowrap}',
      'www.paypal.com.evil.com',
    ],
    ['the beginning', 'div{overflow:hidden;text-indent:-49px}', '<div>evil.com/paypal.com</div>'],
  ])('is told where an element may cut off %s of another site', (_, css, text) => {
    const told = (head: string) => make(`${head}<a href="https://evil.com/">${text}</a>`).deceptiveLinks;
    expect(told(`<style>${css}</style>`)).toBe(1);
    expect(told('')).toBe(0);
  });

  it.each([
    ['very many rules for one element', '.x{color:red}'.repeat(500)],
    ['selectors that cost too much', '*~*~*~*~*~*~*~*{color:red}'.repeat(1900)],
    ['more rules than are read', '.y{color:red}'.repeat(2001)],
    ['more characters than are read', `/*${'x'.repeat(200_000)}*/`],
  ])('has no sheet, not even in part, that was not compared with it: %s', (_, css) => {
    const more = '<b></b>'.repeat(css.startsWith('*') ? 3000 : 1);
    const text = 'www.paypal<i class=x>X</i>.com';
    const html = `<style>.x{display:none}${css}.x{display:none}</style>${more}<a href="${LINK}">${text}</a>`;
    for (const document of [{ scheme: 'auto' } as const, null]) {
      const { sheet, html: shown, removed } = make(html, { document });
      expect(sheet).toBe('');
      expect(shown).toContain('www.paypal<i');
      expect(shown).not.toContain('display:none');
      expect(removed.style_sheets).toBe(1);
    }
  });

  it('is not told where words for narrow windows take the place of others', () => {
    const css =
      '.m{display:none}@media (max-width:600px){.m{display:inline!important}.d{display:none!important}}';
    const result = make(
      `<style>${css}</style><a href="${LINK}"><i class=d>Jetzt kaufen</i><i class=m>Kaufen</i></a>`,
    );
    expect(result.deceptiveLinks).toBe(0);
  });

  it('can not have its mark taken away by an attribute of its own', () => {
    const { html } = make(
      `<a href="${LINK}" style="display:none!important;color:red!important">www.paypal.com</a><a href="${LINK}">www.paypal.com</a>`,
    );
    expect(html.match(/data-link-host/g)?.length).toBe(1);
    const other = make(`<a href="${LINK}" style="opacity:0.1!important">www.paypal.com</a>`).html;
    expect(other).toContain('style="opacity:0.1"');
  });
});

describe('what is not shown', () => {
  it('stays hidden', () => {
    const html = [
      '<div style="max-height:0;overflow:hidden">a</div>',
      '<div style="height:0;overflow:hidden">b</div>',
      '<div style="visibility:hidden">c</div>',
      '<div style="opacity:0">d</div>',
      '<div hidden>e</div>',
    ].join('');
    expect(make(html).html).toContain(html);
  });

  it('is not quoted', () => {
    const quote = (html: string) =>
      make(html, { document: null, isQuote: true }).html.replace(/^<div [^>]*>(.*)<\/div>$/s, '$1');
    for (const style of [
      'max-height:0;overflow:hidden',
      'height:0px;overflow:hidden',
      'opacity:0',
      'opacity:0%',
      'display:none',
    ]) {
      expect(quote(`<div style="${style}">a<b>b</b></div>c`)).toBe('c');
      expect(quote(`<style>td .x{${style}}</style><table><tr><td><div class=x>a</div>c`)).not.toContain(
        'a</div>',
      );
    }
    expect(
      quote('<p hidden>a</p><p style="visibility:hidden">a<b style="visibility:visible">b</b></p>'),
    ).toBe('<p style="visibility:hidden"><b style="visibility:visible">b</b></p>');
    expect(quote('<table style="font-size:0"><tr><td>a<p style="font-size:16px">b')).toMatch(/<td><p[^>]*>b/);
    expect(quote('<p hidden style="display:block">a</p>')).toContain('a');
    // Word alone follows it; other programs show the text, and buttons have it.
    expect(quote('<p style="mso-hide:all">a</p>')).toBe('<p>a</p>');
  });
});

describe('text that a style sheet hides', () => {
  const text = (css: string, html = '<p class=x>a</p>') =>
    make(`<style>.x{display:none}${css}</style>${html}`).html;

  it.each([
    ['a selector of what is within', 'p:has(b){display:block}'],
    ['a selector of what the reader did', '.x:target{display:block}'],
    ['the pointer', 'p:hover{display:block}'],
    ['a layer', '@layer a{p.x{display:block}}'],
    ['what browsers support and the service does not', '@supports (position:sticky){.x{display:block}}'],
    ['the height of the window', '@media screen and (min-height:9px){.x{display:block}}'],
    ['a condition within another', '@media (min-width:9px){@media (max-width:900px){.x{display:block}}}'],
  ])('is shown where what may show it is left out: %s', (_, css) => {
    expect(text(css)).toContain('style="display:block!important"');
    expect(make(`<style>.x{display:none}${css}</style><p class=x>a`, { document: null }).html).toContain(
      '<p style="display:block">',
    );
  });

  it.each([
    ['without an inside', '.x{display:none;max-height:0;overflow:hidden;font-size:0}p:has(b){color:red}'],
    ['where no browser shows it', 'p:unknown{display:block}@media yahoo{.x{display:block}}'],
    ['for another element', 'b:has(i){display:block}'],
  ])('stays hidden %s', (_, css) => {
    expect(text(css)).not.toContain('display:block');
  });

  it('has a colour where only a rule that is left out gives it one', () => {
    expect(text('.x{display:block;color:transparent}p:has(b){color:#000}')).toContain(
      'style="color:#000!important"',
    );
  });

  it('does not bring back an image that takes the place of another', () => {
    expect(text('p:hover .x{display:block}', '<p><img class=x src="cid:logo@a.test"></p>')).not.toContain(
      'display',
    );
  });

  it('can be opened where its sender folded it', () => {
    const html = '<details open><summary>a</summary>b</details><details><summary>c</summary>d</details>';
    expect(make(html.replace('<details>', '<details ontoggle=x>')).html).toContain(html);
  });
});

describe('text whose background is left out', () => {
  it.each([
    [
      'a background of the body',
      '<body background="https://a.test/x" text="white"><p>a',
      /^<div [^>]*background-color:#333333/,
    ],
    [
      'a background of a cell',
      '<table><td background="https://a.test/x"><font color=white>a',
      /<td style="background-color:#333333">/,
    ],
    [
      'a background of a sheet',
      '<style>.x{background:url(https://a.test/x)}p{color:#fff}</style><div class=x><p>a',
      /<div class="x" style="background-color:#333333">/,
    ],
    [
      'a background by a variable',
      '<div style="background:var(--x)"><p style="color:#ffffff">a',
      /<div style="background-color:#333333">/,
    ],
  ])('can be read: %s', (_, html, mended) => {
    expect(make(html).html).toMatch(mended);
  });

  it.each([
    [
      'over an image that is moved',
      '<div style="position:relative"><img src="https://a.test/x" style="position:absolute"><p style="color:#fff">',
    ],
    ['that is moved over an image', '<img src="cid:logo@a.test"><p style="margin-top:-90px;color:#fff">'],
    ['that is drawn over what follows', '<div style="max-height:0"><p style="color:#fff">'],
    [
      'on the ground of the place in which an image is moved',
      '<div style="position:relative;background:#fff"><img src="https://a.test/x" style="position:absolute"><p style="color:#fff">',
    ],
    [
      'by a rule that counts for more',
      '<style>p{color:#fff!important}</style><img style="position:absolute" width=9><p>',
    ],
    ['that is moved from where it stands', '<img width=9><p style="position:relative;top:-90px;color:#fff">'],
    [
      'beside text of another colour',
      '<div style="background:url(https://a.test/x)"><p>a<p>b<p style="color:#fff">',
    ],
  ])('can be read %s', (_, html) => {
    for (const allowRemote of [false, true])
      expect(make(`${html}a`, { allowRemote: html.includes('url(') ? false : allowRemote }).html).toMatch(
        /<p style="color:#333333(?:!important)?">/,
      );
  });

  it('can be read on the colour below an image that is left out', () => {
    const cell = '<table><td bgcolor="#333333" background="https://a.test/x"><p style="color:#222">a';
    expect(make(cell).html).toContain('background-color:#ffffff');
  });

  it('can be read when an allowed image is not loaded', () => {
    const html = '<table><td background="https://a.test/x"><p style="color:#fff">a';
    expect(make(html, { allowRemote: true }).html).toMatch(
      /<td style="background-image:url\(&#x22;https:\/\/a.test\/x&#x22;\);background-color:#333333">/,
    );
    const dark = html.replace('<td', '<td bgcolor="#000000"');
    expect(make(dark, { allowRemote: true }).html).not.toContain('#333333');
  });

  it('has alternative texts that can be read', () => {
    for (const allowRemote of [false, true]) {
      const image = '<td bgcolor=white><img src="https://a.test/y" alt="Titel" style="color:#fff">';
      expect(make(`<table>${image}`, { allowRemote }).html).toContain(
        '<img alt="Titel" style="color:#333333"',
      );
    }
    const { html } = make(
      '<td background="https://a.test/x"><img src="https://a.test/y" alt="Titel" style="color:#fff">'.replace(
        /^/,
        '<table>',
      ),
    );
    expect(html).toContain('<td style="background-color:#333333">');
  });

  it('keeps what its sender chose', () => {
    for (const html of [
      '<p style="color:#fff">a</p>',
      '<div style="background:#fff"><p style="color:#fff">a</p></div>',
      '<div style="background:#123 url(https://a.test/x)"><p style="color:#fff">a</p></div>',
      '<div style="background:url(https://a.test/x)"><p style="color:#000">a</p></div>',
      '<div style="background:url(https://a.test/x)"><p style="color:#fff;display:none">a</p></div>',
    ]) {
      expect(make(html).html).not.toContain('#333333');
    }
  });

  it('has a colour that can be read where its own is left out', () => {
    expect(make('<div style="background:#000"><p style="color:var(--x)">a').html).toContain(
      '<p style="color:#ffffff">',
    );
  });
});

describe('an email in a document', () => {
  it('has the direction of writing of its body or document', () => {
    expect(make('<html dir=rtl lang=he><body><p>a').html).toMatch(
      /^<div data-email-body="1" dir="rtl" lang="he"/,
    );
    expect(make('<html dir=ltr><body dir=rtl><p>a').html).toContain('dir="rtl"');
  });

  it('has the addresses that its base makes of relative ones', () => {
    const based = (base: string) =>
      make(`<base href="${base}"><a href="x/y">a</a><img src="z.png" alt=z>`, { allowRemote: true }).html;
    expect(based('https://a.test/b/')).toContain('href="https://a.test/b/x/y"');
    expect(based('https://a.test/b/')).toContain('src="https://a.test/b/z.png"');
    expect(based('javascript:alert(1)')).not.toMatch(/href|src/);
  });

  it('breaks a word that is longer than a line, and no other', () => {
    const url = `https://shop.example/${'path/'.repeat(20)}`;
    expect(make(`<td>Siehe ${url} hier`).html).toMatch(/https:\/\/shop\.<wbr>example\/path\/path\/<wbr>path/);
    expect(make(`<p>${url}`).html.replaceAll('<wbr>', '')).toContain(url);
    expect(make('<p>1.234,50 Donaudampfschifffahrtsgesellschaft').html).not.toContain('<wbr>');
  });

  it('keeps the width of small images, which cells would make smaller', () => {
    const image = (more: string) => make(`<table><td><img src="cid:logo@a.test" ${more}>`).html;
    expect(image('width=50')).toContain('style="max-width:none"');
    expect(image('style="width:50px"')).toContain('style="width:50px;max-width:none"');
    for (const more of [
      'width=600',
      'width="50%"',
      'style="width:100%" width=50',
      'style="max-width:90%" width=50',
    ])
      expect(image(more)).not.toContain('max-width:none');
  });

  it('keeps the form of images that are made narrower', () => {
    const { html } = make(
      '<img src="cid:logo@a.test" width=600 height=200><img src="cid:logo@a.test" width=600 height=200 style="height:10px">',
    );
    expect(html.match(/aspect-ratio:600\/200;height:auto/g)?.length).toBe(1);
  });

  it('shows images by Content-IDs in another case', () => {
    expect(make('<img src="cid:LOGO@A.Test">').html).toContain('/api/images/1?');
  });
});
