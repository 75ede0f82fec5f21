/**
 * Makes text readable again whose background or colour was left out, or which would have been drawn over something that now stands
 * elsewhere: white text on a picture that is not fetched would be white on white. What the sender chose, and was kept, stays as it is,
 * however hard to read.
 */
import colors from 'color-string';
import type { Element } from 'hast';
import { isBoxHidden, isDrawnOver, SHOWN, shownIn, type Shown } from './hidden.ts';
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
  readonly ground: Colour;
  /** The nearest element whose background was left out, or is a picture, which may not be loaded. */
  readonly unsure: Element | null;
  /** `ground` is below a picture. */
  readonly isPicture: boolean;
  /** Something that the ground, or the colour, depends on was left out. */
  readonly isGroundLost: boolean;
  readonly isColorLost: boolean;
  readonly color: Colour;
  readonly shown: Shown;
}

interface Mended {
  color?: Colour;
  ground?: Colour;
}

/** Texts on backgrounds that were left out, and what they are on now. */
type Lost = Map<Element, { readonly ground: Colour; readonly texts: Colour[] }>;

interface Found {
  readonly grounds: Lost;
  /** Elements of text that can hardly be seen, and the colours that can be. */
  readonly texts: Map<Element, Colour>;
  readonly mended: ReadonlyMap<Element, Mended>;
  readonly places: ReadonlySet<Element>;
  readonly stylesOf: StylesOf;
  /** Characters that can hardly be seen. */
  faint: number;
}

type StylesOf = (element: Element) => Styles | undefined;

/** A text takes the colour of a mended one around it, and may be on another ground: it is mended in turn. */
const MAX_PASSES = 4;

/** Returns how many characters can still hardly be seen: those whose sender chose that. */
export function mendContrast(box: Element, stylesOf: StylesOf): number {
  const places = new Set<Element>();
  findPlaces(box, box, { places, stylesOf });
  const mended = new Map<Element, Mended>();
  const mend = (element: Element, more: Mended): void => {
    mended.set(element, { ...mended.get(element), ...more });
  };
  const around: Around = {
    ground: WHITE,
    unsure: null,
    isPicture: false,
    isGroundLost: false,
    isColorLost: false,
    color: BLACK,
    shown: SHOWN,
  };
  let faint = 0;
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const found: Found = { grounds: new Map(), texts: new Map(), mended, places, stylesOf, faint: 0 };
    walk(box, around, found);
    ({ faint } = found);
    // A ground suits most of its texts; those that it does not suit get another colour.
    if (pass === 0) {
      for (const [element, { ground, texts }] of found.grounds) {
        const seen = (on: Colour) => texts.filter((color) => contrast(color, on) >= MIN_CONTRAST).length;
        const better = [DARK, WHITE].find((one) => seen(one) > seen(ground));
        if (better !== undefined) mend(element, { ground: better });
      }
    } else if (found.texts.size === 0) break;
    else for (const [element, color] of found.texts) mend(element, { color });
  }
  for (const [element, { color, ground }] of mended) {
    if (ground !== undefined) addStyle(element, 'background-color', ground, stylesOf(element));
    if (color !== undefined) addStyle(element, 'color', color, stylesOf(element));
  }
  return faint;
}

/** The colour of an element's own background, such as `#112233`; null: it has none, or a picture. */
export function groundColourOf(element: Element, styles: Styles | undefined): string | null {
  const { color, isPicture } = groundOf(element, styles);
  return color === undefined || isPicture ? null : toHex(color);
}

const toHex = (colour: Colour): string =>
  `#${colour.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`;

/** Elements in which something would have been drawn below or above other content, and is not. */
function findPlaces(
  element: Element,
  place: Element,
  found: Pick<Found, 'places' | 'stylesOf'> & { places: Set<Element> },
): void {
  const styles = found.stylesOf(element);
  if (styles !== undefined && (styles.isMoved || isDrawnOver(styles))) found.places.add(place);
  const own = styles?.isPlace === true ? element : place;
  for (const child of element.children) if (child.type === 'element') findPlaces(child, own, found);
}

function walk(element: Element, around: Around, found: Found): void {
  const styles = found.stylesOf(element);
  if (styles !== undefined && isBoxHidden(styles, element.properties['hidden'] === true)) return;
  const here = enter(element, styles, around, found);
  const { alt } = element.properties;
  // The image may not be loaded, and has no use for the colour where it is.
  if (element.tagName === 'img' && typeof alt === 'string')
    noteText(element, alt, { ...here, isGroundLost: true }, found);
  for (const child of element.children) {
    if (child.type === 'element') walk(child, here, found);
    else if (child.type === 'text') noteText(element, child.value, here, found);
  }
}

function enter(element: Element, styles: Styles | undefined, around: Around, found: Found): Around {
  const mended = found.mended.get(element);
  const isLink = element.tagName === 'a' && element.properties['href'] !== undefined;
  const color = mended?.color ?? colourOf(styles?.get('color') ?? element.properties['color']);
  return {
    ...groundIn(element, styles, around, { mended: mended?.ground, isPlace: found.places.has(element) }),
    color: color ?? (isLink ? BLUE : around.color),
    isColorLost:
      mended?.color !== undefined ||
      (color === null && (styles?.hasLostColor === true || (!isLink && around.isColorLost))),
    shown: styles === undefined ? around.shown : shownIn(styles, around.shown),
  };
}

function groundIn(
  element: Element,
  styles: Styles | undefined,
  around: Around,
  { mended, isPlace }: { readonly mended: Colour | undefined; readonly isPlace: boolean },
): Pick<Around, 'ground' | 'unsure' | 'isPicture' | 'isGroundLost'> {
  if (mended !== undefined) return { ground: mended, unsure: null, isPicture: false, isGroundLost: true };
  const { color, isPicture } = groundOf(element, styles);
  if (isPicture) return { ground: color ?? around.ground, unsure: element, isPicture, isGroundLost: false };
  const hasLost = styles?.hasLostGround === true;
  // The colour below a picture that was left out.
  if (color !== undefined)
    return { ground: color, unsure: hasLost ? element : null, isPicture, isGroundLost: isPlace || hasLost };
  const isLost = hasLost && !around.isPicture;
  return {
    ground: around.ground,
    unsure: isLost ? element : around.unsure,
    isPicture: around.isPicture,
    isGroundLost: isLost || isPlace || around.isGroundLost,
  };
}

function noteText(element: Element, text: string, here: Around, found: Found): void {
  const { grounds, texts } = found;
  const { ground, unsure, color, shown } = here;
  if (!shown.isVisible || shown.isZero || text.trim() === '') return;
  if (unsure !== null) {
    const lost = grounds.get(unsure) ?? { ground, texts: [] };
    lost.texts.push(color);
    grounds.set(unsure, lost);
  }
  // On a picture that is loaded, another colour might not be seen.
  if (here.isPicture || contrast(color, ground) >= MIN_CONTRAST) return;
  found.faint += text.trim().length;
  if (!here.isColorLost && !here.isGroundLost) return;
  texts.set(element, contrast(DARK, ground) > contrast(WHITE, ground) ? DARK : WHITE);
}

const COLOUR_IN = /#[0-9a-f]{3,8}|\b(?:rgb|hsl)a?\([^()]*\)|(?<![\w-])[a-z]{3,24}(?![\w(-])/gi;

/** A gradient counts as its first colour. */
function groundOf(
  element: Element,
  styles: Styles | undefined,
): { readonly color: Colour | undefined; readonly isPicture: boolean } {
  const image = styles?.get('background-image');
  const written = [
    styles?.get('background'),
    image === 'none' ? undefined : image,
    styles?.get('background-color'),
    element.properties['bgColor'],
  ].filter((value) => typeof value === 'string');
  const colours = written
    .flatMap((value) => [...value.replace(/url\("[^"]*"\)/g, '').matchAll(COLOUR_IN)])
    .map(([part]) => colourOf(part));
  return {
    color: colours.find((colour) => colour !== null) ?? undefined,
    isPicture: written.some((value) => value.includes('url(')),
  };
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

/** The element's own style counts for more than the sheet, where that has no `!important`. */
function addStyle(
  { properties }: Element,
  property: string,
  colour: Colour,
  styles: Styles | undefined,
): void {
  const names = property === 'color' ? ['color'] : ['background', 'background-color'];
  const isImportant = names.some((name) => styles?.values.get(name)?.isImportant === true);
  const value = toHex(colour);
  const style = typeof properties['style'] === 'string' ? `${properties['style']};` : '';
  properties['style'] = `${style}${property}:${value}${isImportant ? '!important' : ''}`;
}
