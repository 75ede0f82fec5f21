/** Everything that the lists allow comes out: a new entry of a list needs an example here. */
import { describe, expect, it } from 'vitest';
import { parseHtml, isElement, type HtmlElement } from './parse-html.ts';
import { ALLOWED_ELEMENTS, KEPT_ATTRIBUTES } from './safe-values.ts';
import { sanitizeHtml } from './sanitize-html.ts';
import { STYLE_RULES } from './style-rules.ts';

const safe = (html: string): string => sanitizeHtml(html, { allowRemote: false, images: new Map() }).html;

function elementsIn(element: HtmlElement): readonly HtmlElement[] {
  return element.childNodes.filter(isElement).flatMap((child) => [child, ...elementsIn(child)]);
}

/** The surroundings that an element needs, with `X` in its place. */
const AROUND: Readonly<Record<string, string>> = {
  caption: '<table>X</table>',
  colgroup: '<table>X</table>',
  col: '<table><colgroup>X</colgroup></table>',
  thead: '<table>X</table>',
  tbody: '<table>X</table>',
  tfoot: '<table>X</table>',
  tr: '<table><tbody>X</tbody></table>',
  td: '<table><tbody><tr>X</tr></tbody></table>',
  th: '<table><tbody><tr>X</tr></tbody></table>',
};

const within = (tag: string, attributes: string): string =>
  (AROUND[tag] ?? 'X').replace('X', `<${tag}${attributes}>`);

/** A value of each attribute; null: it has none. */
const VALUES: Readonly<Record<string, string | null>> = {
  dir: 'rtl',
  lang: 'de-AT',
  title: 'Titel',
  align: 'center',
  valign: 'top',
  bgcolor: '#eeeeee',
  width: '50%',
  height: '20',
  role: 'presentation',
  hidden: null,
  'aria-hidden': 'true',
  'aria-label': 'Menü',
  'aria-live': 'polite',
  border: '1',
  cellpadding: '4',
  cellspacing: '0',
  bordercolor: 'red',
  colspan: '2',
  rowspan: '3',
  nowrap: null,
  open: null,
  span: '2',
  color: '#ff0000',
  face: 'Arial, sans-serif',
  size: '2',
  alt: 'Bild',
  hspace: '3',
  vspace: '3',
  noshade: null,
  start: '-3',
  type: '',
  value: '4',
};
const TYPES: Readonly<Record<string, string>> = { ol: 'a', ul: 'square' };

/** A value of each property. */
const STYLES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['width', 'max-width', 'min-width', 'height', 'max-height', 'min-height'].map((name) => [name, '50%']),
  ),
  margin: '0 auto',
  padding: '10px 20px',
  border: '1px solid #ccc',
  outline: '1px solid red',
  'border-spacing': '2px 4px',
  color: 'rgb(1,2,3)',
  'border-collapse': 'collapse',
  'caption-side': 'bottom',
  clear: 'both',
  direction: 'rtl',
  'empty-cells': 'hide',
  'font-style': 'italic',
  'font-weight': '700',
  'font-variant': 'small-caps',
  'font-family': '"Segoe UI",sans-serif',
  'font-kerning': 'none',
  'font-stretch': '75%',
  'font-size-adjust': '0.5',
  'list-style': 'square inside',
  'list-style-type': 'square',
  'list-style-position': 'inside',
  'overflow-wrap': 'break-word',
  'table-layout': 'fixed',
  'text-align': 'center',
  'text-align-last': 'right',
  'text-justify': 'auto',
  'text-decoration': 'underline',
  'text-decoration-line': 'underline',
  'text-decoration-style': 'dotted',
  'text-emphasis': 'filled',
  'text-underline-position': 'under',
  'text-overflow': 'ellipsis',
  'text-orientation': 'upright',
  'text-transform': 'uppercase',
  'white-space': 'nowrap',
  'word-break': 'break-all',
  'word-wrap': 'break-word',
  'box-sizing': 'border-box',
  'object-fit': 'cover',
  'object-position': '50% 10px',
  'writing-mode': 'vertical-rl',
  background: 'linear-gradient(to right,#fff 10%,rgba(0,0,0,.5))',
  'background-image': 'radial-gradient(circle at 50% 50%,red,blue 80px)',
  'background-repeat': 'no-repeat',
  'background-position': 'center top',
  'background-size': 'cover',
  'background-clip': 'padding-box',
  'background-origin': 'content-box',
  'background-blend-mode': 'multiply',
  'mix-blend-mode': 'screen',
  opacity: '0.5',
  'aspect-ratio': '600/200',
  visibility: 'hidden',
  overflow: 'hidden',
  'overflow-x': 'auto',
  'overflow-y': 'hidden',
  columns: '2',
  'column-count': '3',
  'column-width': '200px',
  'column-fill': 'balance',
  'column-span': 'all',
  'column-rule': '1px solid red',
  gap: '10px 20px',
  'row-gap': '10px',
  'column-gap': '20px',
  font: '12px/1.5 Arial,sans-serif',
  'font-size': 'clamp(12px,2vw,20px)',
  'line-height': '1.5',
  'letter-spacing': '-1px',
  'word-spacing': '2px',
  'text-indent': '-18pt',
  'vertical-align': 'middle',
  float: 'left',
  display: 'inline-flex',
};
/** Of properties with a side or a part in their name. */
const BY_END: readonly (readonly [end: RegExp, value: string])[] = [
  [/^(?:margin|padding)-/, '10px'],
  [/^border-(?:top|right|bottom|left)$/, '1px solid red'],
  [/-width$/, '2px'],
  [/-style$/, 'dashed'],
  [/-color$/, '#ff0000'],
  [/-?radius$/, '8px'],
];
const valueOf = (property: string): string | undefined =>
  STYLES[property] ?? BY_END.find(([end]) => end.test(property))?.[1];

describe('what is allowed arrives', () => {
  it.each(ALLOWED_ELEMENTS)('the element %s', (tag) => {
    const found = elementsIn(parseHtml(safe(within(tag, ''))));
    expect(found.map(({ tagName }) => tagName)).toContain(tag);
  });

  const attributes = Object.entries(KEPT_ATTRIBUTES).flatMap(([tag, names]) =>
    names.map((name) => [name, tag === '*' ? 'td' : tag] as const),
  );
  it.each(attributes)('the attribute %s of %s', (name, tag) => {
    const value = name === 'type' ? TYPES[tag] : VALUES[name];
    expect(value, 'an example').toBeDefined();
    const written = value === null ? ` ${name}` : ` ${name}="${value}"`;
    const element = elementsIn(parseHtml(safe(within(tag, written)))).find(({ tagName }) => tagName === tag);
    expect(element?.attrs).toContainEqual(expect.objectContaining({ name, value: value ?? '' }));
  });

  it.each([...STYLE_RULES.keys()])('the style %s', (property) => {
    const value = valueOf(property) ?? '';
    expect(value, 'an example').not.toBe('');
    const element = elementsIn(parseHtml(safe(`<p style='${property}:${value}'>a`))).find(
      ({ tagName }) => tagName === 'p',
    );
    expect(element?.attrs).toEqual([
      expect.objectContaining({ name: 'style', value: `${property}:${value}` }),
    ]);
    const { sheet } = sanitizeHtml(`<style>p{${property}:${value} !important}</style><p>a`, {
      allowRemote: false,
      images: new Map(),
      document: { scheme: 'auto' },
    });
    expect(sheet).toBe(`[data-email-body] p{${property}:${value}!important}`);
  });
});
