/** What the styles of an element hide from every reader. */
import type { Styles } from './safe-styles.ts';

/** Inherited from the elements around. */
export interface Shown {
  /** `visibility`, which an element within may set again. */
  readonly isVisible: boolean;
  /** Letters have no size. */
  readonly isZero: boolean;
}

export const SHOWN: Shown = { isVisible: true, isZero: false };

const ZERO = /^[+-]?0*(?:\.0*)?(?:[a-z]+|%)?$/i;
const isZero = (value: string | undefined): boolean =>
  value !== undefined && /\d/.test(value) && ZERO.test(value);

/** The element and all in it. `hasHidden`: it has the attribute `hidden`, which any `display` overrides. */
export function isBoxHidden(styles: Styles, hasHidden: boolean): boolean {
  const display = styles.get('display')?.toLowerCase() ?? (hasHidden ? 'none' : '');
  if (display === 'none') return true;
  return isZero(styles.get('opacity')) || isShut(styles);
}

/** An element without a height or width cuts off what is in it; without that, its content is drawn over what follows. */
function isShut(styles: Styles): boolean {
  const isCut = ['overflow', 'overflow-x', 'overflow-y'].some((name) =>
    /hidden|clip/i.test(styles.get(name) ?? ''),
  );
  return isCut && ['height', 'max-height', 'width', 'max-width'].some((name) => isZero(styles.get(name)));
}

/** Without a height, and with content that is drawn over what follows. */
export const isDrawnOver = (styles: Styles): boolean =>
  ['height', 'max-height'].some((name) => isZero(styles.get(name))) && !isShut(styles);

export function shownIn(styles: Styles, around: Shown): Shown {
  const visibility = styles.get('visibility')?.toLowerCase();
  const size = styles.get('font-size') ?? styles.get('font');
  return {
    isVisible:
      visibility === undefined || visibility === 'inherit'
        ? around.isVisible
        : /visible|initial/.test(visibility),
    isZero: size === undefined || /inherit|%|em/.test(size) ? around.isZero : isZero(styles.get('font-size')),
  };
}
