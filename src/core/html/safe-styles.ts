/**
 * Styles of safe HTML (CSS), read with the library css-tree: which properties stay, and with which values. Nothing may
 * leave its place, cover something else, grow without bounds or be fetched.
 */
import { generate, parse, walk, type CssNode, type Declaration } from 'css-tree';
import { MAX_STYLE_CHARS } from './limits.ts';

export interface StyleContext {
  /** The address to write for an image of the email; null: the image may not stay. */
  readonly toImage: (address: string) => string | null;
  /** Called for each declaration that is left out; `isRemote`: it would have fetched something. */
  readonly onRemoved: (isRemote: boolean) => void;
  readonly isRemote: (address: string) => boolean;
}

/** For values such as the weight of a font. */
const MAX_NUMBER = 1000;
/** The height of a line, in letters. */
const MAX_LINES = 10;

/** The largest lengths, in CSS pixels. */
const WIDE = 2000;
const APART = 500;
const LINE = 100;

interface Rule {
  /** Largest length in pixels. */
  readonly max: number;
  /** Smallest value; default: 0. */
  readonly min?: number;
  /** Largest number without a unit: browsers read some as pixels, and that of a line height in letters. */
  readonly maxNumber?: number;
  /** Largest percentage. */
  readonly maxPercent?: number;
  /** The allowed words; default: any. */
  readonly words?: ReadonlySet<string>;
}

const TEXT: Rule = { max: 0, maxPercent: 0 };
const SIZE: Rule = { max: WIDE, maxPercent: 100 };
const SPACE: Rule = { max: APART, maxPercent: 100 };
const EDGE: Rule = { max: LINE, maxPercent: 100 };
const SIDES = ['top', 'right', 'bottom', 'left'] as const;

const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ...['width', 'max-width', 'min-width', 'height', 'max-height', 'min-height'].map(
    (name) => [name, SIZE] as const,
  ),
  ...['margin', 'padding'].flatMap((name) => [
    [name, SPACE] as const,
    ...SIDES.map((side) => [`${name}-${side}`, SPACE] as const),
  ]),
  ...['border', 'border-width', 'border-style', 'border-color', 'border-radius', 'border-spacing'].map(
    (name) => [name, EDGE] as const,
  ),
  ...SIDES.flatMap((side) =>
    ['', '-width', '-style', '-color'].map((part) => [`border-${side}${part}`, EDGE] as const),
  ),
  ...['top-left', 'top-right', 'bottom-left', 'bottom-right'].map(
    (at) => [`border-${at}-radius`, EDGE] as const,
  ),
  ...[
    'color',
    'background-color',
    'border-collapse',
    'caption-side',
    'clear',
    'direction',
    'empty-cells',
  ].map((name) => [name, TEXT] as const),
  ...[
    'font-style',
    'font-weight',
    'font-variant',
    'font-family',
    'list-style-type',
    'list-style-position',
  ].map((name) => [name, TEXT] as const),
  ...['overflow-wrap', 'table-layout', 'text-align', 'text-decoration', 'text-decoration-line'].map(
    (name) => [name, TEXT] as const,
  ),
  ...[
    'text-decoration-color',
    'text-decoration-style',
    'text-transform',
    'white-space',
    'word-break',
    'word-wrap',
  ].map((name) => [name, TEXT] as const),
  ['list-style', TEXT],
  ['background', EDGE],
  ['background-image', TEXT],
  ['background-repeat', TEXT],
  ['background-position', SPACE],
  ['background-size', SIZE],
  ['font', { max: LINE, maxPercent: 300, maxNumber: MAX_NUMBER }],
  ['font-size', { max: LINE, maxPercent: 300 }],
  ['line-height', { max: 3 * LINE, maxPercent: 1000, maxNumber: MAX_LINES }],
  ['letter-spacing', { max: LINE, min: -5 }],
  ['word-spacing', { max: LINE, min: -5 }],
  // Lists of Outlook hang their numbers out to the left.
  ['text-indent', { max: APART, min: -50 }],
  ['vertical-align', { max: LINE, min: -LINE, maxPercent: 100 }],
  ['float', { ...TEXT, words: new Set(['left', 'right', 'none']) }],
  [
    'display',
    {
      ...TEXT,
      words: new Set(
        (
          'block inline inline-block list-item none table inline-table table-row table-cell ' +
          'table-row-group table-header-group table-footer-group table-column table-column-group ' +
          'table-caption'
        ).split(' '),
      ),
    },
  ],
]);

/** In CSS pixels; CSS Values 4 §6. Units of the window are left out: a frame that fits its content would grow for ever. */
const UNITS: ReadonlyMap<string, number> = new Map([
  ['px', 1],
  ['pt', 4 / 3],
  ['pc', 16],
  ['in', 96],
  ['cm', 37.8],
  ['mm', 3.78],
  ['q', 0.945],
  ['em', 16],
  ['rem', 16],
  ['ex', 8],
  ['ch', 8],
]);

const FUNCTIONS = new Set(['rgb', 'rgba', 'hsl', 'hsla']);
/** Characters that may come out, whatever the library writes: no backslash, no `<`, `&`, `;`, `{`, `@`, `:`. */
const WRITTEN = /^[\p{L}\p{N} #%.,()'"+\-_/]*$/u;

/** Declarations by property; later ones win. */
export type Styles = Map<string, string>;

/** Adds the declarations of a `style` attribute, or of the block of a rule, to the existing ones. */
export function addStyles(styles: Styles, text: string, context: StyleContext): void {
  if (text.length > MAX_STYLE_CHARS) {
    context.onRemoved(false);
    return;
  }
  const list = parse(text, { context: 'declarationList', parseCustomProperty: false });
  if (list.type !== 'DeclarationList') return;
  for (const node of list.children) {
    if (node.type === 'Declaration') addDeclaration(styles, node, context);
    else context.onRemoved(false);
  }
}

/** @param styles written as the value of an attribute `style` */
export function writeStyles(styles: Styles): string {
  return [...styles].map(([property, value]) => `${property}:${value}`).join(';');
}

export function addDeclaration(styles: Styles, declaration: Declaration, context: StyleContext): void {
  const property = declaration.property.toLowerCase();
  const { value } = declaration;
  const rule = RULES.get(property);
  const addresses: string[] = [];
  walk(value, (node) => {
    if (node.type === 'Url') addresses.push(node.value);
  });
  const images = addresses.map((address) => context.toImage(address));
  if (property.startsWith('background') && addresses.length > 0) {
    addBackground(styles, value, images, context, addresses.some(context.isRemote));
    return;
  }
  const isSafe = rule !== undefined && addresses.length === 0 && isSafeValue(value, rule);
  const written = isSafe ? generate(value) : '';
  if (isSafe && written !== '' && WRITTEN.test(written)) {
    // A later declaration of the same property wins, and moves after those in between.
    styles.delete(property);
    styles.set(property, written);
    return;
  }
  // Outlook's and vendor-specific settings are no loss.
  if (!/^(?:mso-|-)/.test(property)) {
    context.onRemoved(addresses.some(context.isRemote) || /url|image|src/i.test(raw(value)));
  }
}

const raw = (value: CssNode): string => (value.type === 'Raw' ? value.value : '');

/** Images of the email stay; of everything else only the colour does: white text could not be read without it. */
function addBackground(
  styles: Styles,
  value: CssNode,
  images: readonly (string | null)[],
  { onRemoved }: StyleContext,
  isRemoteToo: boolean,
): void {
  const colors: string[] = [];
  if (value.type === 'Value') {
    for (const node of value.children) if (isColor(node)) colors.push(generate(node));
  }
  const [background] = colors;
  if (background !== undefined && WRITTEN.test(background)) styles.set('background-color', background);
  const [image] = images;
  // Written by ourselves, or Base64: nothing in it ends the string.
  if (images.length === 1 && image !== null && image !== undefined && /^[\w:;,+/=?&.%-]+$/.test(image)) {
    styles.set('background-image', `url("${image}")`);
  } else onRemoved(isRemoteToo);
}

const NAMED_POSITION =
  /^(?:repeat|no-repeat|repeat-x|repeat-y|space|round|scroll|fixed|local|left|right|top|bottom|center|cover|contain|auto|none|inherit|initial|unset|revert|border-box|padding-box|content-box)$/i;

function isColor(node: CssNode): boolean {
  if (node.type === 'Hash') return true;
  if (node.type === 'Function') return isSafeNode(node, TEXT);
  return node.type === 'Identifier' && /^[a-z]{3,24}$/i.test(node.name) && !NAMED_POSITION.test(node.name);
}

function isSafeValue(value: CssNode, rule: Rule): boolean {
  if (value.type !== 'Value') return false;
  let before: CssNode | null = null;
  for (const node of value.children) {
    // `font: 12px/1.5 Arial`
    const isLine = before?.type === 'Operator' && before.value === '/' && node.type === 'Number';
    if (!isSafeNode(node, isLine ? { ...rule, maxNumber: MAX_LINES } : rule)) return false;
    before = node;
  }
  return true;
}

function isSafeNode(node: CssNode, rule: Rule): boolean {
  switch (node.type) {
    case 'Identifier':
      return /^[a-z][a-z0-9-]{0,63}$/i.test(node.name) && (rule.words?.has(node.name.toLowerCase()) ?? true);
    case 'Hash':
      return /^[0-9a-f]{3,8}$/i.test(node.value);
    case 'String':
      // Names of fonts.
      return /^[\p{L}\p{N} ._-]{1,100}$/u.test(node.value);
    case 'Number':
      return isWithin(
        Number(node.value),
        rule.min,
        rule.maxNumber ?? (rule.max === 0 ? MAX_NUMBER : rule.max),
      );
    case 'Percentage':
      return isWithin(Number(node.value), rule.min, rule.maxPercent ?? 100);
    case 'Dimension': {
      const unit = node.unit.toLowerCase();
      const pixels = Number(node.value) * (UNITS.get(unit) ?? Number.NaN);
      return isWithin(pixels, rule.min, rule.max);
    }
    case 'Function':
      return (
        FUNCTIONS.has(node.name.toLowerCase()) &&
        node.children.toArray().every((child) => isSafeChannel(child))
      );
    case 'Operator':
      return node.value === ',' || node.value === '/';
    case 'WhiteSpace':
      return true;
    default:
      return false;
  }
}

/** False for NaN. */
const isWithin = (value: number, min = 0, max: number): boolean => value >= min && value <= max;

/** For the arguments of `rgb(…)`. */
function isSafeChannel(node: CssNode): boolean {
  if (node.type === 'Operator') return node.value === ',' || node.value === '/';
  if (node.type === 'Dimension') return node.unit.toLowerCase() === 'deg';
  return node.type === 'Number' || node.type === 'Percentage' || node.type === 'WhiteSpace';
}
