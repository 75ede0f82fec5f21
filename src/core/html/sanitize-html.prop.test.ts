import fc from 'fast-check';
import { parseFragment, type DefaultTreeAdapterTypes } from 'parse5';
import { expect, it } from 'vitest';
import { HOSTILE_HTML } from '../../../test/fixtures/hostile-html.ts';
import { runs } from '../../../test/helpers/runs.ts';
import { HtmlLimitError, isElement, type HtmlElement } from './parse-html.ts';
import { sanitizeHtml } from './sanitize-html.ts';
import { ALLOWED_ELEMENTS } from './safe-values.ts';

const options = { allowRemote: true, images: new Map([['logo', '/api/images/1?expires=2&signature=x']]) };

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
const html = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(''));

function elementsIn(nodes: readonly DefaultTreeAdapterTypes.ChildNode[]): readonly HtmlElement[] {
  return nodes.filter(isElement).flatMap((element) => [element, ...elementsIn(element.childNodes)]);
}

const ATTRIBUTE =
  /^(?:href|target|rel|title|data-link-host|data-shown-host|data-email-body|src|referrerpolicy|style|alt|dir|lang|align|valign|bgcolor|width|height|role|border|cellpadding|cellspacing|bordercolor|colspan|rowspan|nowrap|span|color|face|size|hspace|vspace|noshade|start|type|value)$/;

const VALUES: Readonly<Record<string, RegExp>> = {
  style: /^(?!.*(?<!background-)(?:position\s*:|z-index|expression|[@<\\]))/i,
  href: /^(?:https?|mailto|tel):/,
  src: /^(?:https?:|data:image\/(?!svg)|\/api\/images\/1\?)/,
};

/** null when the sanitizer gives up. */
function safeOf(given: string): string | null {
  try {
    return sanitizeHtml(given, options).html;
  } catch (error) {
    if (error instanceof HtmlLimitError) return null;
    throw error;
  }
}

it('of any HTML comes one box that stays the same, with nothing in it that is not allowed', () => {
  const allowed = new Set(ALLOWED_ELEMENTS);
  fc.assert(
    fc.property(html, (given) => {
      const safe = safeOf(given);
      // Too deep, or too large.
      if (safe === null) return;
      expect(sanitizeHtml(safe, options).html).toBe(safe);
      // As a script puts it into a page, and as part of other elements.
      for (const read of [parseFragment(safe), parseFragment(`<section><p>${safe}</p></section>`)]) {
        for (const element of elementsIn(read.childNodes)) {
          expect([element.tagName, allowed.has(element.tagName)]).toEqual([element.tagName, true]);
          for (const { name, value } of element.attrs) {
            expect(name).toMatch(ATTRIBUTE);
            expect(value).toMatch(VALUES[name] ?? /^/);
          }
        }
      }
      expect(parseFragment(safe).childNodes).toHaveLength(1);
    }),
    { numRuns: runs(3000) },
  );
});
