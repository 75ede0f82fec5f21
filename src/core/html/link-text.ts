/**
 * The text that a link may show to a reader, from its safe HTML. CSS decides what is visible and where, so the answer is
 * several readings: text in any of them counts as shown. Text that is certainly invisible is in none of them.
 */
import type { Element, ElementContent } from 'hast';
import { isBoxHidden } from './hidden.ts';
import type { Styles } from './safe-styles.ts';

/** The styles of an element of safe HTML, of its sheets and its own. */
export type StylesOf = (element: Element) => Styles;

export interface LinkReading {
  readonly text: string;
  /** Parts that may stand apart are joined: a name that arises by chance, like `Sieshop.de`, counts for less. */
  readonly isJoined: boolean;
  /** The text is reversed, without evidence that a browser shows it so. */
  readonly isGuess: boolean;
}

/** Characters and hosts that may still be checked, over all links of an email; below zero nothing is certain. */
export interface LinkBudget {
  chars: number;
  hosts: number;
}

interface Pieces {
  readonly pieces: Piece[];
  /** Alternative texts and those that a pointer shows, each on its own. */
  readonly alts: string[];
  /** Something may reverse the order. */
  turns: boolean;
  readonly stylesOf: StylesOf;
}

interface Piece {
  /** `unsure`: it may be too small or too pale to be seen. `gap`: a new line. `cell`: perhaps apart, on the same line. */
  readonly kind: 'shown' | 'unsure' | 'gap' | 'cell';
  readonly text: string;
}

/** What the elements around a link may do to its text. */
export interface Surroundings {
  /** Some part of the mail is written from right to left. */
  readonly turns: boolean;
  /** Lines may stand beside each other. */
  readonly isBeside: boolean;
}

/** null when the budget is used up. */
export function readLinkText(
  link: Element,
  stylesOf: StylesOf,
  { turns: turnsAround, isBeside }: Surroundings,
  budget: LinkBudget,
): readonly LinkReading[] | null {
  const read: Pieces = { pieces: [], alts: [], turns: turnsAround, stylesOf };
  collect(link, { isUnsure: false, isZero: false, isBeside }, read, budget);
  if (budget.chars < 0) return null;
  const { pieces, alts, turns } = read;
  const all = join(pieces, { gap: '\n', cell: ' ' });
  const plain = { isJoined: false, isGuess: false };
  const readings: LinkReading[] = [{ ...plain, text: all }];
  if (pieces.some(({ kind }) => kind === 'unsure')) {
    const sure = pieces.filter(({ kind }) => kind !== 'unsure');
    readings.push({ ...plain, text: join(sure, { gap: '\n', cell: ' ' }) });
    // What is around the link may hide all of it but the pieces with styles of their own.
    const unsure = pieces.filter(({ kind }) => kind !== 'shown');
    readings.push({ text: join(unsure, { gap: '\n', cell: ' ' }), isJoined: true, isGuess: false });
  }
  if (pieces.some(({ kind }) => kind === 'cell')) {
    readings.push({ text: join(pieces, { gap: '\n', cell: '' }), isJoined: true, isGuess: false });
  }
  const isTurned = turns || TURNS.test(all);
  if (isTurned || BACKWARDS.test(all)) {
    readings.push({ text: [...all].toReversed().join(''), isJoined: false, isGuess: !isTurned });
  }
  if (isTurned) {
    const reversed = join(pieces.toReversed(), { gap: '\n', cell: '' });
    readings.push({ text: reversed, isJoined: true, isGuess: false });
  }
  for (const text of alts) readings.push({ ...plain, text });
  for (const { text } of readings) budget.chars -= text.length;
  return readings;
}

/** Right-to-left override, embedding and isolate. */
const TURNS = /[\u202b\u202e\u2067]/;
/** `www` and `http`, reversed. */
const BACKWARDS = /\.www|:s?ptth/i;

const join = (pieces: readonly Piece[], between: { readonly gap: string; readonly cell: string }): string =>
  pieces.map(({ kind, text }) => (kind === 'gap' || kind === 'cell' ? between[kind] : text)).join('');

interface Inherited {
  readonly isUnsure: boolean;
  /** Letters have no size. */
  readonly isZero: boolean;
  /** What is on lines of its own may stand beside each other: in columns, in a flex box or grid, in vertical writing. */
  readonly isBeside: boolean;
}

function collect(element: Element, inherited: Inherited, read: Pieces, budget: LinkBudget): void {
  const { tagName, properties, children } = element;
  const styles = read.stylesOf(element);
  const get = (name: string) => styles.get(name)?.toLowerCase();
  const display = get('display') ?? (properties['hidden'] === true ? 'none' : undefined);
  if (display === 'none') return;
  const float = get('float') ?? 'none';
  const isVertical = get('writing-mode')?.startsWith('vertical') === true;
  if (properties['dir'] === 'rtl' || get('direction') === 'rtl' || float === 'right' || isVertical)
    read.turns = true;
  const size = sizeOf(styles);
  const own: Inherited = {
    isZero: size === null ? inherited.isZero : size === 0,
    isUnsure: inherited.isUnsure || isUnsure(properties, styles, size),
    isBeside:
      inherited.isBeside ||
      isVertical ||
      /flex|grid/.test(display ?? '') ||
      ['columns', 'column-count', 'column-width'].some((name) => styles.get(name) !== undefined),
  };
  const border = borderOf(tagName, display, float, inherited.isBeside);
  if (border !== null) read.pieces.push({ kind: border, text: '' });
  for (const words of [properties['ariaLabel'], properties['title']]) {
    if (typeof words !== 'string') continue;
    budget.chars -= words.length;
    read.alts.push(words);
  }
  if (tagName === 'img' && typeof properties['alt'] === 'string') {
    budget.chars -= properties['alt'].length;
    read.alts.push(properties['alt']);
    // Without an image, its alternative text is shown.
    if (properties['src'] === undefined) addText(properties['alt'], own, read);
  }
  for (const child of children) {
    budget.chars -= 1;
    if (budget.chars < 0) return;
    // A reader may open it, or not.
    const isFolded =
      tagName === 'details' &&
      properties['open'] !== true &&
      !(child.type === 'element' && child.tagName === 'summary');
    addChild(child, isFolded ? { ...own, isUnsure: true } : own, read, budget);
  }
  if (border !== null) read.pieces.push({ kind: border, text: '' });
}

function addChild(child: ElementContent, inherited: Inherited, read: Pieces, budget: LinkBudget): void {
  if (child.type === 'element') collect(child, inherited, read, budget);
  else if (child.type === 'text') {
    budget.chars -= child.value.length;
    addText(child.value, inherited, read);
  }
}

function addText(text: string, { isUnsure: unsure, isZero }: Inherited, { pieces }: Pieces): void {
  if (!isZero) pieces.push({ kind: unsure ? 'unsure' : 'shown', text });
}

/** Letters below this, in pixels, may not be seen. */
const SMALL = 6;
/** A rough reading of a length: only zero and very small matter. */
const SIZE = /(?:^|\s)(\d+(?:\.\d+)?|\.\d+)(px|pt|pc|in|cm|mm|q|em|rem|ex|ch|%)/;
/** `font:0 Arial`: a number without a unit is a length only where it is 0. */
const ZERO = /(?:^|\s)[0.]+(?:\/|\s|$)/;
const IN_PIXELS: Readonly<Record<string, number>> = {
  px: 1,
  pt: 4 / 3,
  pc: 16,
  in: 96,
  cm: 37.8,
  mm: 3.78,
  q: 0.945,
  rem: 16,
};

/** In pixels; null: inherited from the surrounding element, or relative to it. */
function sizeOf(styles: Styles): number | null {
  const names = [...styles.values.keys()];
  const isFontLast = names.lastIndexOf('font') > names.lastIndexOf('font-size');
  const value = styles.get(isFontLast ? 'font' : 'font-size')?.toLowerCase();
  if (value === undefined || value === 'inherit' || value === 'unset') return null;
  const [, number, unit = ''] = SIZE.exec(value) ?? [];
  if (number === undefined) return ZERO.test(value) ? 0 : /larger|smaller/.test(value) ? null : 16;
  if (Number(number) === 0) return 0;
  const pixels = IN_PIXELS[unit];
  return pixels === undefined ? null : Number(number) * pixels;
}

/** A colour may be that of the background, letters may lie on one another, and what is hidden may be shown by a child. */
function isUnsure(properties: Element['properties'], styles: Styles, size: number | null): boolean {
  return (
    properties['color'] !== undefined ||
    UNSURE.some((name) => styles.get(name) !== undefined) ||
    isBoxHidden(styles, false) ||
    (size !== null && size < SMALL) ||
    styles.get('display')?.startsWith('table-column') === true ||
    /%|em|ex|ch|vw|vmin|\(/.test(styles.get('font-size') ?? '') ||
    styles.get('letter-spacing')?.startsWith('-') === true
  );
}

const UNSURE = ['color', 'visibility', 'opacity', 'mix-blend-mode', 'font-size', 'font'];

const BLOCKS = new Set(
  (
    'address article aside blockquote br caption center dd details dir div dl dt figcaption figure footer h1 h2 h3 h4 h5 h6 header hr li ' +
    'main ol p pre section summary table tbody tfoot thead tr ul'
  ).split(' '),
);

/** The separation between an element and its neighbours. */
function borderOf(
  tag: string,
  display: string | undefined,
  float: string,
  isBeside: boolean,
): 'gap' | 'cell' | null {
  if (float !== 'none') return 'cell';
  const gap = isBeside ? 'cell' : 'gap';
  if (display !== undefined && display !== 'initial' && display !== 'inherit') {
    if (display.startsWith('inline')) return null;
    return display === 'table-cell' ? 'cell' : gap;
  }
  if (tag === 'td' || tag === 'th') return 'cell';
  return BLOCKS.has(tag) ? gap : null;
}
