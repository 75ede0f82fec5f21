/**
 * Makes text readable again whose background or colour was left out: white text on a picture that is not fetched would be white on
 * white. What the sender chose, and was kept, stays as it is, however hard to read.
 */
import colors from 'color-string';
import type { Element, ElementContent } from 'hast';
import { isBoxHidden, SHOWN, shownIn, type Shown } from './hidden.ts';
import type { Styles } from './safe-styles.ts';

type Colour = readonly [red: number, green: number, blue: number];

const WHITE: Colour = [255, 255, 255];
const BLACK: Colour = [0, 0, 0];
/** Of links, as browsers have it. */
const BLUE: Colour = [0, 0, 238];
/** The backgrounds and text colours that are put in. */
const DARK: Colour = [51, 51, 51];

/** WCAG 2.2 §1.4.3 asks for 4.5; below this, text is hardly seen. */
const MIN_CONTRAST = 2;

interface Around {
  /** null: a picture. */
  readonly ground: Colour | null;
  /** The nearest element whose background was left out. */
  readonly lostGround: Element | null;
  readonly color: Colour;
  /** The element that the colour was left out of. */
  readonly lostColor: Element | null;
  readonly shown: Shown;
}

/** Colours of text on backgrounds that were left out, and the background that they are on now. */
type Lost = Map<Element, { readonly ground: Colour; readonly texts: Colour[] }>;

export function mendContrast(box: Element, stylesOf: (element: Element) => Styles | undefined): void {
  const grounds: Lost = new Map();
  const texts = new Map<Element, Colour>();
  const around: Around = { ground: WHITE, lostGround: null, color: BLACK, lostColor: null, shown: SHOWN };
  walk(box, around, { grounds, texts, stylesOf });
  for (const [element, { ground, texts: own }] of grounds) {
    const worst = (on: Colour) => Math.min(...own.map((color) => contrast(color, on)));
    if (worst(ground) >= MIN_CONTRAST) continue;
    const better = worst(DARK) > worst(WHITE) ? DARK : WHITE;
    if (worst(better) > worst(ground)) addStyle(element, 'background-color', better);
  }
  for (const [element, ground] of texts) {
    addStyle(element, 'color', contrast(DARK, ground) > contrast(WHITE, ground) ? DARK : WHITE);
  }
}

interface Found {
  readonly grounds: Lost;
  readonly texts: Map<Element, Colour>;
  readonly stylesOf: (element: Element) => Styles | undefined;
}

function walk(element: Element, around: Around, found: Found): void {
  const styles = found.stylesOf(element);
  if (styles !== undefined && isBoxHidden(styles, element.properties['hidden'] === true)) return;
  const here = styles === undefined ? around : enter(element, styles, around);
  for (const child of element.children) {
    if (child.type === 'element') walk(child, here, found);
    else if (isShownText(child, here)) note(here, found);
  }
}

function enter(element: Element, styles: Styles, around: Around): Around {
  const color = colourOf(styles.get('color') ?? element.properties['color']);
  const ground = groundOf(element, styles);
  const isLink = element.tagName === 'a' && element.properties['href'] !== undefined;
  return {
    ...(ground === undefined
      ? {
          ground: around.ground,
          lostGround: styles.hasLostGround && around.ground !== null ? element : around.lostGround,
        }
      : { ground, lostGround: null }),
    ...(color === null
      ? {
          color: isLink ? BLUE : around.color,
          lostColor: styles.hasLostColor ? element : isLink ? null : around.lostColor,
        }
      : { color, lostColor: null }),
    shown: shownIn(styles, around.shown),
  };
}

const isShownText = (node: ElementContent, { shown }: Around): boolean =>
  node.type === 'text' && shown.isVisible && !shown.isZero && node.value.trim() !== '';

function note({ ground, lostGround, color, lostColor }: Around, { grounds, texts }: Found): void {
  if (ground === null) return;
  if (lostGround !== null) {
    const lost = grounds.get(lostGround) ?? { ground, texts: [] };
    lost.texts.push(color);
    grounds.set(lostGround, lost);
  } else if (lostColor !== null && contrast(color, ground) < MIN_CONTRAST) texts.set(lostColor, ground);
}

const COLOUR_IN = /#[0-9a-f]{3,8}|\b(?:rgb|hsl)a?\([^()]*\)|(?<![\w-])[a-z]{3,24}(?![\w(-])/gi;

/** null: a picture; undefined: none, so the one around is seen. A gradient counts as its first colour. */
function groundOf(element: Element, styles: Styles): Colour | null | undefined {
  const image = styles.get('background-image');
  const written = [
    styles.get('background'),
    image === 'none' ? undefined : image,
    styles.get('background-color'),
  ];
  if (written.some((value) => value?.includes('url(') === true)) return null;
  for (const value of [...written, element.properties['bgColor']]) {
    if (typeof value !== 'string') continue;
    for (const [part] of value.matchAll(COLOUR_IN)) {
      const colour = colourOf(part);
      if (colour !== null) return colour;
    }
  }
  return undefined;
}

/** null for anything else, and for what is more transparent than not. */
function colourOf(written: unknown): Colour | null {
  if (typeof written !== 'string') return null;
  const text = /^[0-9a-f]{6}$/i.test(written) ? `#${written}` : written.toLowerCase();
  const [red, green, blue, alpha = 1] = colors.get.rgb(text) ?? [];
  if (red === undefined || green === undefined || blue === undefined || alpha < 0.5) return null;
  return [red, green, blue];
}

/** WCAG 2.2: relative luminance. */
function luminance(colour: Colour): number {
  const [red = 0, green = 0, blue = 0] = colour.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(a: Colour, b: Colour): number {
  const [light, dark] = [luminance(a), luminance(b)].sort((one, other) => other - one);
  return ((light ?? 0) + 0.05) / ((dark ?? 0) + 0.05);
}

function addStyle({ properties }: Element, property: string, colour: Colour): void {
  const value = `#${colour.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
  const style = typeof properties['style'] === 'string' ? `${properties['style']};` : '';
  properties['style'] = `${style}${property}:${value}`;
}
