/** The CSS properties that safe HTML may have, and the bounds of their values. Everything else is left out. */

/** For values such as the weight of a font. */
const MAX_NUMBER = 1000;
/** The height of a line, in letters. */
const MAX_LINES = 10;

/** The largest lengths, in CSS pixels. */
const WIDE = 2000;
const APART = 500;
const LINE = 100;

export interface StyleRule {
  /** Largest length in pixels. */
  readonly max: number;
  /** Smallest value; default: 0. */
  readonly min?: number;
  /** Largest number without a unit: browsers read some as pixels, and that of a line height in letters. Default: `max`. */
  readonly maxNumber?: number;
  /** Largest number after a `/`, as in `font: 12px/1.5 Arial`. Default: `maxNumber`. */
  readonly maxAfterSlash?: number;
  /** Largest percentage; default: 100. */
  readonly maxPercent?: number;
  /** The allowed words; default: any. */
  readonly words?: ReadonlySet<string>;
  /** `calc()`, `min()`, `max()` and `clamp()`: where a browser takes a negative result as 0. Default: false. */
  readonly hasMath?: boolean;
  /** Gradients and images. Default: false. */
  readonly hasImages?: boolean;
}

const words = (list: string): ReadonlySet<string> => new Set(list.split(' '));

const TEXT: StyleRule = { max: 0, maxPercent: 0, maxNumber: MAX_NUMBER };
const SIZE: StyleRule = { max: WIDE, hasMath: true };
const SPACE: StyleRule = { max: APART };
const INNER_SPACE: StyleRule = { ...SPACE, hasMath: true };
const EDGE: StyleRule = { max: LINE };
const ROUND: StyleRule = { max: WIDE };
const BOXES: StyleRule = {
  ...TEXT,
  words: words('border-box padding-box content-box initial inherit unset'),
};
const BLEND: StyleRule = {
  ...TEXT,
  words: words(
    'normal multiply screen overlay darken lighten color-dodge color-burn hard-light soft-light difference exclusion hue saturation color luminosity',
  ),
};
const SIDES = ['top', 'right', 'bottom', 'left'] as const;

const each = (names: string, rule: StyleRule): readonly (readonly [string, StyleRule])[] =>
  names.split(' ').map((name) => [name, rule] as const);

export const STYLE_RULES: ReadonlyMap<string, StyleRule> = new Map<string, StyleRule>([
  ...each('width max-width min-width height max-height min-height', SIZE),
  ...each('margin margin-top margin-right margin-bottom margin-left', SPACE),
  ...each('padding padding-top padding-right padding-bottom padding-left', INNER_SPACE),
  ...each('border border-width border-style border-color border-spacing', EDGE),
  ...SIDES.flatMap((side) =>
    ['', '-width', '-style', '-color'].map((part) => [`border-${side}${part}`, EDGE] as const),
  ),
  ...each(
    'border-radius border-top-left-radius border-top-right-radius border-bottom-left-radius border-bottom-right-radius',
    ROUND,
  ),
  ...each('outline outline-width outline-style outline-color', EDGE),
  ...each('color background-color border-collapse caption-side clear direction empty-cells', TEXT),
  ...each('font-style font-weight font-variant font-family font-kerning', TEXT),
  ...each('list-style list-style-type list-style-position', TEXT),
  ...each('overflow-wrap table-layout text-align text-align-last text-justify', TEXT),
  ...each('text-decoration text-decoration-line text-decoration-color text-decoration-style', TEXT),
  ...each('text-emphasis text-underline-position text-overflow text-orientation text-transform', TEXT),
  ...each('white-space word-break word-wrap box-sizing object-fit column-fill column-span', TEXT),
  ['font-stretch', { ...TEXT, maxPercent: 200 }],
  ['font-size-adjust', { ...TEXT, maxNumber: MAX_LINES }],
  ['writing-mode', { ...TEXT, words: words('horizontal-tb vertical-rl vertical-lr initial inherit') }],
  ['background', { max: WIDE, hasImages: true }],
  ['background-image', { ...TEXT, hasImages: true }],
  ['background-repeat', TEXT],
  ['background-position', SPACE],
  ['background-size', { max: WIDE }],
  ['aspect-ratio', { max: 0, maxNumber: 10_000 }],
  ...each('background-clip background-origin', BOXES),
  ...each('background-blend-mode mix-blend-mode', BLEND),
  ['object-position', SPACE],
  ['opacity', { max: 0, maxNumber: 1 }],
  ['visibility', { ...TEXT, words: words('visible hidden collapse inherit initial') }],
  ...each('overflow overflow-x overflow-y', { ...TEXT, words: words('visible hidden clip auto scroll') }),
  ...each('columns column-count', { max: WIDE, maxNumber: MAX_LINES }),
  ['column-width', { max: WIDE }],
  ...each('gap row-gap column-gap', SPACE),
  ...each('column-rule column-rule-width column-rule-style column-rule-color', EDGE),
  ['font', { max: LINE, maxPercent: 300, maxNumber: MAX_NUMBER, maxAfterSlash: MAX_LINES }],
  ['font-size', { max: LINE, maxPercent: 300, hasMath: true }],
  ['line-height', { max: 3 * LINE, maxPercent: 1000, maxNumber: MAX_LINES }],
  ...each('letter-spacing word-spacing', { max: LINE, min: -5 }),
  // Lists of Outlook hang their numbers out to the left.
  ['text-indent', { max: APART, min: -50 }],
  ['vertical-align', { max: LINE, min: -LINE }],
  ['float', { ...TEXT, words: words('left right none') }],
  [
    'display',
    {
      ...TEXT,
      words: words(
        'block inline inline-block list-item none flex inline-flex grid inline-grid flow-root table inline-table table-row table-cell ' +
          'table-row-group table-header-group table-footer-group table-column table-column-group table-caption initial inherit',
      ),
    },
  ],
]);

/** In CSS pixels; CSS Values 4 §6. */
export const UNITS: ReadonlyMap<string, number> = new Map([
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
  // Hundredths of a window that is as wide as a large screen.
  ['vw', 20],
  ['vmin', 20],
]);

/**
 * Units that depend on the height of the window become pixels, hundredths of a window 800 pixels high: a frame that is as high as its
 * content would grow for ever.
 */
export const FIXED_UNITS: ReadonlyMap<string, number> = new Map([
  ['vh', 8],
  ['vmax', 8],
]);
