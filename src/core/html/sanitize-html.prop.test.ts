import { generate, parse, walk, type CssNode } from 'css-tree';
import fc from 'fast-check';
import { parseFragment, type DefaultTreeAdapterTypes } from 'parse5';
import { expect, it } from 'vitest';
import { HOSTILE_HTML } from '../../../test/fixtures/hostile-html.ts';
import { runs } from '../../../test/helpers/runs.ts';
import { HtmlLimitError, isElement, type HtmlElement } from './parse-html.ts';
import type { ProxyKey } from './proxied-images.ts';
import { sanitizeHtml, type SafeHtml, type SanitizeOptions } from './sanitize-html.ts';
import { STYLE_RULES } from './style-rules.ts';
import { ALLOWED_ELEMENTS } from './safe-values.ts';

const images = new Map([['logo', '/api/images/1?expires=2&signature=x']]);
const options = { allowRemote: true, images };
const inDocument = { ...options, document: { scheme: 'auto' } } as const;

const TAGS = (
  'a b div p table tr td tbody caption select option form button svg math mtext mglyph ' +
  'foreignObject desc title style script noscript template textarea xmp iframe plaintext pre ' +
  'listing li ul dd body html head frameset nobr ruby rt'
).split(' ');
const ATTRIBUTES = [
  'href=javascript:x',
  'href=https://a.test',
  'src=x',
  'src=cid:logo',
  'onerror=x',
  'style="position:fixed;color:red"',
  'style="background:url(cid:logo)"',
  'title="</p><img src=x>"',
  'data-email-body=1',
  'id=x',
  'class=y',
  'hidden',
  'background=https://a.test/x',
  'style="max-height:0;overflow:hidden!important"',
  'width=9',
];
const piece = fc.oneof(
  fc.constantFrom(...TAGS).map((tag) => `</${tag}>`),
  fc
    .tuple(fc.constantFrom(...TAGS), fc.array(fc.constantFrom(...ATTRIBUTES), { maxLength: 3 }))
    .map(([tag, attributes]) => `<${tag} ${attributes.join(' ')}>`),
  fc.constantFrom(...HOSTILE_HTML),
  fc.constantFrom(
    '<!--',
    '-->',
    '<![CDATA[',
    ']]>',
    '<',
    '>',
    '"',
    '&lt;',
    '&#0;',
    '\0',
    '\n',
    '<!doctype html>',
  ),
  fc.string({ unit: 'binary', maxLength: 10 }),
);
const css = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ...'p .y #x * a:hover td>p [href^="h"] p:not(.y) tr:nth-child(2n) body html .y~p ::before :root'.split(
          ' ',
        ),
        '{',
        '}',
        ';',
        ',',
        '@media (max-width:9px){',
        '@media print{',
        '@supports (display:grid){',
        '@layer x{',
        'p:has(b)',
        ':hover',
        '.a\\:b',
        '@import "x";',
        '<!--',
        '</style',
        '\\3c ',
        '/*',
        '*/',
        '"',
        "'",

        'color:red',
        'width:calc(100% - 9px)',
        'background:url(cid:logo)',
        'position:fixed',
        'content:"x"',
        'margin:-9px',
        '--x:y',

        'background:url("https://a.test/x") , #fff',
        'font-family:"a b"',
        'height:9vh',
        'display:none!important',
        '!important',
      ),
      fc.string({ unit: 'binary', maxLength: 5 }),
    ),
    { maxLength: 40 },
  )
  .map((parts) => `<style>${parts.join('')}</style>`);
const html = fc
  .array(fc.oneof({ weight: 5, arbitrary: piece }, { weight: 1, arbitrary: css }), { maxLength: 30 })
  .map((pieces) => pieces.join(''));

function elementsIn(nodes: readonly DefaultTreeAdapterTypes.ChildNode[]): readonly HtmlElement[] {
  return nodes.filter(isElement).flatMap((element) => [element, ...elementsIn(element.childNodes)]);
}

const ATTRIBUTE =
  /^(?:href|target|rel|title|data-link-host|data-shown-host|data-email-body|src|referrerpolicy|style|alt|dir|lang|align|valign|bgcolor|width|height|role|border|cellpadding|cellspacing|bordercolor|colspan|rowspan|nowrap|span|color|face|size|hspace|vspace|noshade|start|type|value|hidden|aria-hidden|aria-label|aria-live|open)$/;

const VALUES: Readonly<Record<string, RegExp>> = {
  style: /^(?!.*(?<!background-)(?:position\s*:|z-index|expression|[@<\\]))/i,
  href: /^(?:https?|mailto|tel):/,
  src: /^(?:https?:|data:image\/(?!svg)|\/api\/images\/1\?)/,
};

/** null when the sanitizer gives up. */
function safeOf(given: string, how: SanitizeOptions): SafeHtml | null {
  try {
    return sanitizeHtml(given, how);
  } catch (error) {
    if (error instanceof HtmlLimitError) return null;
    throw error;
  }
}

/** Fails for anything in the HTML that is not allowed. */
function expectSafe(safe: string, attributes: RegExp): void {
  const allowed = new Set(ALLOWED_ELEMENTS);
  // As a script puts it into a page, and as part of other elements.
  for (const read of [parseFragment(safe), parseFragment(`<section><p>${safe}</p></section>`)]) {
    for (const element of elementsIn(read.childNodes)) {
      expect([element.tagName, allowed.has(element.tagName)]).toEqual([element.tagName, true]);
      for (const { name, value } of element.attrs) {
        expect(name).toMatch(attributes);
        expect(value).toMatch(VALUES[name] ?? /^/);
      }
    }
  }
  expect(parseFragment(safe).childNodes).toHaveLength(1);
}

it('of any HTML comes one box that stays the same, with nothing in it that is not allowed', () => {
  fc.assert(
    fc.property(html, (given) => {
      const safe = safeOf(given, options);
      // Too deep, or too large.
      if (safe === null) return;
      expect(sanitizeHtml(safe.html, options).html).toBe(safe.html);
      expect(safe.sheet).toBe('');
      expectSafe(safe.html, ATTRIBUTE);
    }),
    { numRuns: runs(3000) },
  );
});

/** Whether a part of a sheet may come out. */
function isAllowed(node: CssNode): boolean {
  switch (node.type) {
    case 'Atrule':
      return node.name === 'media';
    case 'Selector':
      // A part of it that is in brackets stands for itself.
      return /^(?:\[data-email-body\](?![^ >]*[+~])|[^ >+~]+$)/.test(generate(node));
    case 'Declaration':
      return STYLE_RULES.has(node.property);
    case 'Url':
      return /^(?:https?:\/\/|data:image\/|\/api\/images\/)/.test(node.value);
    default:
      return node.type !== 'PseudoElementSelector' && node.type !== 'Raw';
  }
}

it('of any HTML comes one sheet for a document, with rules for the inside of the box alone', () => {
  const ofDocument = new RegExp(ATTRIBUTE.source.replace('^(?:', '^(?:class|id|'));
  fc.assert(
    fc.property(html, (given) => {
      const safe = safeOf(given, inDocument);
      if (safe === null) return;
      expect(sanitizeHtml(safe.html, inDocument).html).toBe(safe.html);
      expectSafe(safe.html.replaceAll(/href="#[^"]*"/g, ''), ofDocument);
      expect(safe.sheet).not.toMatch(/[<\\]|\/\*/);
      const tree = parse(safe.sheet, { onParseError: (error) => expect.fail(error.message) });
      const offences: string[] = [];
      walk(tree, (node) => {
        if (!isAllowed(node)) offences.push(generate(node));
      });
      expect(offences).toEqual([]);
    }),
    { numRuns: runs(3000) },
  );
});

const proxy: ProxyKey = { path: '/api/images/2', expires: 1, by: 'a', key: 'a2V5' };
const OWN = /^(?:data:image\/|\/api\/images\/[12]\?)/;

/** The addresses that a browser would fetch for safe HTML and its sheet. */
function fetchedIn({ html: safe, sheet }: SafeHtml): readonly string[] {
  const found: string[] = [];
  const collect = (css: string, context: 'stylesheet' | 'declarationList') =>
    walk(parse(css, { context }), (node) => {
      if (node.type === 'Url') found.push(node.value);
    });
  for (const { attrs } of elementsIn(parseFragment(safe).childNodes)) {
    for (const { name, value } of attrs) {
      if (name === 'src') found.push(value);
      if (name === 'style') collect(value, 'declarationList');
    }
  }
  collect(sheet, 'stylesheet');
  return found;
}

it('with the proxy, of any HTML comes nothing that a browser would fetch from elsewhere', () => {
  let proxied = 0;
  fc.assert(
    fc.property(html, fc.boolean(), (given, isDocument) => {
      const how = { ...(isDocument ? inDocument : options), proxy };
      const safe = safeOf(`<img src="https://a.test/y" width=1>${given}`, how);
      if (safe === null) return;
      expect(sanitizeHtml(safe.html, how).html).toBe(safe.html);
      const fetched = fetchedIn(safe);
      proxied += fetched.filter((address) => address.startsWith('/api/images/2?')).length;
      expect(fetched.filter((address) => !OWN.test(address))).toEqual([]);
    }),
    { numRuns: runs(3000) },
  );
  expect(proxied).toBeGreaterThan(0);
});
