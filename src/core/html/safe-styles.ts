/**
 * Styles of safe HTML (CSS), read with the library css-tree: which properties stay, and with which values. Nothing may
 * leave its place, cover something else, grow without bounds or be fetched unless the reader allows it.
 */
import { generate, parse, walk, type CssNode, type Declaration, type FunctionNode } from 'css-tree';
import { MAX_STYLE_CHARS } from './limits.ts';
import { isSafeMath, MATH } from './safe-math.ts';
import { FIXED_UNITS, STYLE_RULES, UNITS, type StyleRule } from './style-rules.ts';

export interface StyleContext {
  /** The address to write for an image; null: the image may not stay. */
  readonly toImage: (address: string) => string | null;
  /** Called for each declaration that is left out. */
  readonly onRemoved: (kind: 'styles' | 'remote_images' | 'remote_content') => void;
  readonly isRemote: (address: string) => boolean;
}

export interface StyleValue {
  readonly text: string;
  readonly isImportant: boolean;
}

/** `letters`: by their fill, outline or shadow. `ground`: letters cut out of a background. `box`: by an animation. */
type Showing = 'letters' | 'ground' | 'box';

/** A colour of letters that are not seen. */
export const TRANSPARENT =
  /^transparent$|^(?:rgb|hsl)a?\([^()]*[,/] *0?\.?0+%?\)$|^#(?:[0-9a-f]{3}0|[0-9a-f]{6}00)$/i;

const SHOWING: ReadonlyMap<string, readonly Showing[]> = new Map([
  ['-webkit-text-fill-color', ['letters']],
  ['-webkit-text-stroke', ['letters']],
  ['-webkit-text-stroke-color', ['letters']],
  ['text-shadow', ['letters']],
  ['background-clip', ['letters', 'ground']],
  ['-webkit-background-clip', ['letters', 'ground']],
  ['animation', ['box']],
  ['animation-name', ['box']],
]);

/** Declarations of one element or rule. What depends on each other is judged together, so it includes what was left out. */
export class Styles {
  readonly values = new Map<string, StyleValue>();
  /** A background was left out, as an image or altogether. */
  hasLostGround = false;
  /** A colour of text was left out. */
  hasLostColor = false;
  /** It would be drawn elsewhere, perhaps below or above other content. */
  isMoved = false;
  /** Content that is moved goes no further than it. */
  isPlace = false;

  get(property: string): string | undefined {
    return this.values.get(property)?.text;
  }

  readonly #shown = new Set<Showing>();

  /** A declaration that is left out would have shown what others hide: they go as well. */
  show(what: Showing): void {
    this.#shown.add(what);
    for (const [property, { text }] of this.values)
      if (this.#hides(property, text)) this.values.delete(property);
  }

  #hides(property: string, text: string): boolean {
    if (property === 'color') return this.#shown.has('letters') && TRANSPARENT.test(text);
    if (property === 'opacity') return this.#shown.has('box') && Number(text) === 0;
    return this.#shown.has('ground') && (property === 'background' || property === 'background-image');
  }

  /** A later declaration of the same property wins, and moves after those in between; an important one stays. */
  set(property: string, text: string, isImportant = false): void {
    if (!isImportant && this.values.get(property)?.isImportant === true) return;
    if (this.#hides(property, text)) return;
    this.values.delete(property);
    this.values.set(property, { text, isImportant });
  }

  /** Adds the declarations of a rule of higher weight. */
  addAll(later: Styles): void {
    for (const [property, { text, isImportant }] of later.values) this.set(property, text, isImportant);
    for (const what of later.#shown) this.show(what);
    if (later.hasLostGround) this.hasLostGround = true;
    if (later.hasLostColor) this.hasLostColor = true;
    if (later.isMoved) this.isMoved = true;
    if (later.isPlace) this.isPlace = true;
  }
}

/** Characters that may come out, whatever the library writes: no backslash, no `<`, `&`, `;`, `{`, `@`, `:`. */
const WRITTEN = /^(?!.*\/\*)[\p{L}\p{N} #%.,()'"+*\-_/]*$/u;
/** Written by ourselves, or Base64: nothing in it ends a string. */
const WRITTEN_ADDRESS = /^[\w:;,+/=?&.%~-]+$/;

/** Adds the declarations of a `style` attribute, or of the block of a rule, to the existing ones. */
export function addStyles(styles: Styles, text: string, context: StyleContext): void {
  if (text.length > MAX_STYLE_CHARS) {
    context.onRemoved('styles');
    return;
  }
  const list = parse(text, { context: 'declarationList', parseCustomProperty: false });
  if (list.type !== 'DeclarationList') return;
  for (const node of list.children) {
    if (node.type === 'Declaration') addDeclaration(styles, node, context);
    else context.onRemoved('styles');
  }
}

/** Written as the value of an attribute `style`. @param hasImportant whether `!important` is written */
export function writeStyles({ values }: Styles, hasImportant: boolean): string {
  const all = [...values];
  // Without the word itself, its declarations come last.
  const sorted = hasImportant
    ? all
    : [
        ...all.filter(([, { isImportant }]) => !isImportant),
        ...all.filter(([, { isImportant }]) => isImportant),
      ];
  return sorted
    .map(([property, { text, isImportant }]) => {
      return `${property}:${text}${hasImportant && isImportant ? '!important' : ''}`;
    })
    .join(';');
}

const NO_IMAGES: StyleContext = { toImage: () => null, onRemoved: () => {}, isRemote: () => false };

/** Whether a declaration comes out. */
export function isSafeDeclaration(declaration: Declaration): boolean {
  const styles = new Styles();
  addDeclaration(styles, declaration, NO_IMAGES);
  return styles.values.size > 0;
}

export function addDeclaration(styles: Styles, declaration: Declaration, context: StyleContext): void {
  const property = declaration.property.toLowerCase();
  const { value } = declaration;
  // css-tree gives a word other than `important` as it stands; `display:none !ie` is no declaration to any browser of today.
  const { important } = declaration;
  const isImportant = important === true || String(important).toLowerCase() === 'important';
  if (typeof important === 'string' && !isImportant) return;
  showHidden(styles, property, value);
  const rule = STYLE_RULES.get(property);
  const addresses: string[] = [];
  walk(value, (node) => {
    if (node.type === 'Url') addresses.push(node.value);
  });
  if (rule?.hasImages === true && addresses.length > 0) {
    addBackground(styles, property, rule, { value, addresses, isImportant }, context);
    return;
  }
  const isSafe = rule !== undefined && addresses.length === 0 && isSafeValue(value, rule);
  const written = isSafe ? generate(value) : '';
  if (written !== '' && WRITTEN.test(written)) {
    styles.set(property, written, isImportant);
    return;
  }
  if (property.startsWith('background')) styles.hasLostGround = true;
  if (property === 'color') styles.hasLostColor = true;
  if (isMove(property, value)) styles.isMoved = true;
  if (property === 'position' && /^(?:relative|absolute|fixed|sticky)$/i.test(generate(value)))
    styles.isPlace = true;
  // Outlook's and vendor-specific settings are no loss.
  if (/^(?:mso-|-)/.test(property)) return;
  const isRemote = addresses.some(context.isRemote) || /url|image\(|src/i.test(raw(value));
  context.onRemoved(isRemote ? 'remote_content' : 'styles');
}

const isMove = (property: string, value: CssNode): boolean =>
  property === 'position'
    ? /^(?:absolute|fixed)$/i.test(generate(value))
    : MOVES.test(property) || (property.startsWith('margin') && /(?:^|[ (])-/.test(generate(value)));
const MOVES =
  /^(?:transform|translate|top|right|bottom|left|inset(?:-.+)?|grid-(?:area|row|column)(?:-start)?)$/;

/** Left out are the fill, outline and shadow of letters, backgrounds that they cut out, and animations; without them, hidden text would stay hidden. */
function showHidden(styles: Styles, property: string, value: CssNode): void {
  const shows = SHOWING.get(property);
  if (shows === undefined) return;
  const written = generate(value);
  if (/^(?:none|initial|inherit|unset|transparent)$/i.test(written)) return;
  if (shows.includes('ground') && !/^text$/i.test(written)) return;
  for (const what of shows) styles.show(what);
}

const raw = (value: CssNode): string => (value.type === 'Raw' ? value.value : '');

interface Background {
  readonly value: CssNode;
  readonly addresses: readonly string[];
  readonly isImportant: boolean;
}

/** Keeps backgrounds whose images may all stay; of any other only the colour does: white text could not be read without it. */
function addBackground(
  styles: Styles,
  property: string,
  rule: StyleRule,
  { value, addresses, isImportant }: Background,
  context: StyleContext,
): void {
  const nodes = value.type === 'Value' ? value.children.toArray() : [];
  const written = nodes.map((node) => {
    if (node.type !== 'Url') return isSafeNode(node, rule) ? check(generate(node)) : null;
    const image = context.toImage(node.value);
    return image !== null && WRITTEN_ADDRESS.test(image) ? `url("${image}")` : null;
  });
  if (nodes.length > 0 && !written.includes(null)) {
    styles.set(property, written.join(' '), isImportant);
    return;
  }
  styles.hasLostGround = true;
  const color = nodes.filter(isColor).map((node) => check(generate(node)))[0];
  if (color !== undefined && color !== null) styles.set('background-color', color, isImportant);
  context.onRemoved(addresses.some(context.isRemote) ? 'remote_images' : 'styles');
}

const check = (written: string): string | null => (WRITTEN.test(written) ? written : null);

const NOT_COLOUR =
  /^(?:repeat|no-repeat|repeat-x|repeat-y|space|round|scroll|fixed|local|left|right|top|bottom|center|cover|contain|auto|none|inherit|initial|unset|revert|border-box|padding-box|content-box)$/i;

function isColor(node: CssNode): boolean {
  if (node.type === 'Hash') return true;
  if (node.type === 'Function') return COLOURS.has(node.name.toLowerCase()) && isSafeColour(node);
  return node.type === 'Identifier' && /^[a-z]{3,24}$/i.test(node.name) && !NOT_COLOUR.test(node.name);
}

function isSafeValue(value: CssNode, rule: StyleRule): boolean {
  if (value.type !== 'Value') return false;
  let before: CssNode | null = null;
  for (const node of value.children) {
    const isAfter = before?.type === 'Operator' && before.value === '/' && node.type === 'Number';
    const { maxAfterSlash: maxNumber } = rule;
    if (!isSafeNode(node, isAfter && maxNumber !== undefined ? { ...rule, maxNumber } : rule)) return false;
    before = node;
  }
  return true;
}

function isSafeNode(node: CssNode, rule: StyleRule): boolean {
  switch (node.type) {
    case 'Identifier':
      return /^[a-z][a-z0-9-]{0,63}$/i.test(node.name) && (rule.words?.has(node.name.toLowerCase()) ?? true);
    case 'Hash':
      return /^[0-9a-f]{3,8}$/i.test(node.value);
    case 'String':
      // Names of fonts.
      return /^[\p{L}\p{N} ._-]{1,100}$/u.test(node.value);
    case 'Number':
      return isWithin(Number(node.value), rule.min, rule.maxNumber ?? rule.max);
    case 'Percentage':
      return isWithin(Number(node.value), rule.min, rule.maxPercent ?? 100);
    case 'Dimension':
      return isWithin(pixelsOf(node), rule.min, rule.max);
    case 'Function':
      return isSafeFunction(node, rule);
    case 'Operator':
      return node.value === ',' || node.value === '/';
    case 'WhiteSpace':
      return true;
    default:
      return false;
  }
}

/** NaN for a unit that is not allowed. Makes a unit of the window's height one of pixels. */
function pixelsOf(node: CssNode & { type: 'Dimension' }): number {
  const fixed = FIXED_UNITS.get(node.unit.toLowerCase());
  if (fixed !== undefined) {
    node.value = String(Math.round(Number(node.value) * fixed));
    node.unit = 'px';
  }
  return Number(node.value) * (UNITS.get(node.unit.toLowerCase()) ?? Number.NaN);
}

/** False for NaN. */
const isWithin = (value: number, min = 0, max: number): boolean => value >= min && value <= max;

const COLOURS: ReadonlySet<string> = new Set(['rgb', 'rgba', 'hsl', 'hsla']);
const GRADIENTS: ReadonlySet<string> = new Set([
  'linear-gradient',
  'radial-gradient',
  'repeating-linear-gradient',
  'repeating-radial-gradient',
]);
/** Of the stops, sizes and places in a gradient. */
const IN_GRADIENT: StyleRule = { max: 2000, min: -2000, maxNumber: 0 };
const ANGLES: ReadonlySet<string> = new Set(['deg', 'turn', 'rad', 'grad']);

function isSafeFunction(node: FunctionNode, rule: StyleRule): boolean {
  const name = node.name.toLowerCase();
  if (COLOURS.has(name)) return isSafeColour(node);
  if (MATH.has(name)) return rule.hasMath === true && isSafeMath(node, rule, pixelsOf);
  if (!GRADIENTS.has(name) || rule.hasImages !== true) return false;
  return node.children
    .toArray()
    .every(
      (child) =>
        (child.type === 'Dimension' && ANGLES.has(child.unit.toLowerCase())) ||
        isSafeNode(child, IN_GRADIENT),
    );
}

const isSafeColour = ({ children }: FunctionNode): boolean => children.toArray().every(isSafeChannel);

/** For the arguments of `rgb(…)`. */
function isSafeChannel(node: CssNode): boolean {
  if (node.type === 'Operator') return node.value === ',' || node.value === '/';
  if (node.type === 'Dimension') return ANGLES.has(node.unit.toLowerCase());
  return node.type === 'Number' || node.type === 'Percentage' || node.type === 'WhiteSpace';
}
