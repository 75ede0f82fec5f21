/** Conditions of `@media` rules (Media Queries 4) that mail may set: the width, the colour scheme, the kind of screen and print. */

/** The colour scheme that the reader chose; `auto`: as the browser has it. */
export type Scheme = 'light' | 'dark' | 'auto';

const FEATURE =
  /^\((?:(?:min|max)-(?:device-)?width:\d{1,5}(?:\.\d{1,4})?(?:px|em|rem)|orientation:(?:landscape|portrait)|prefers-color-scheme:(?:light|dark)|(?:-webkit-(?:min-|max-)?device-pixel-ratio|(?:min-|max-)?resolution):\d{1,3}(?:\.\d{1,4})?(?:dppx|dpi)?|(?:any-)?hover:(?:hover|none)|(?:any-)?pointer:(?:fine|coarse|none)|prefers-reduced-motion:(?:reduce|no-preference))\)$/;
const TYPE = /^(?:only |not )?(?:screen|all|print)$/;
const SCHEME = /^\(prefers-color-scheme:(light|dark)\)$/;
const MAX_QUERIES = 10;

/**
 * The list as it may be written; `''`: it always holds on a screen. null: it never holds, or is not followed.
 *
 * @param prelude as css-tree writes it, without spaces that are not needed
 */
export function readMedia(prelude: string, scheme: Scheme): string | null {
  const queries = prelude
    .toLowerCase()
    // Media Queries 4 §2.4.3: a range.
    .replace(/\(width>=?([^()<>=]+)\)/g, '(min-width:$1)')
    .replace(/\(width<=?([^()<>=]+)\)/g, '(max-width:$1)')
    .split(',', MAX_QUERIES)
    .map((query) => readQuery(query.trim(), scheme))
    .filter((query) => query !== null);
  if (queries.length === 0) return null;
  return queries.some((query) => ALWAYS.has(query)) ? '' : queries.join(',');
}

const ALWAYS: ReadonlySet<string> = new Set(['', 'all', 'screen', 'only screen', 'only all']);

function readQuery(query: string, scheme: Scheme): string | null {
  const parts = query === '' ? [] : query.split(' and ');
  if (!parts.every((part, index) => FEATURE.test(part) || (index === 0 && TYPE.test(part)))) return null;
  if (scheme === 'auto') return query;
  const schemes = parts.flatMap((part) => SCHEME.exec(part)?.[1] ?? []);
  if (schemes.length > 0 && query.startsWith('not')) return null;
  if (schemes.some((one) => one !== scheme)) return null;
  return parts.filter((part) => !SCHEME.test(part)).join(' and ');
}

/** Features that browsers know, and that are not followed. */
const UNFOLLOWED =
  /\((?:(?:min-|max-)?(?:device-)?(?:height|aspect-ratio)|(?:min-|max-)?(?:color|color-index|monochrome)|scripting|display-mode|update|grid|scan|color-gamut|dynamic-range|inverted-colors|forced-colors|prefers-contrast|overflow-(?:block|inline))\b/;

/** Whether a list that readMedia does not follow may hold on a screen. */
export const mayHold = (prelude: string): boolean =>
  prelude
    .toLowerCase()
    .split(',', MAX_QUERIES)
    .some((query) => UNFOLLOWED.test(query) && !/color-scheme|\b(?:print|speech|tv)\b/.test(query));

export const isForPrint = (media: string): boolean =>
  media.split(',').every((query) => query.startsWith('print') || query.startsWith('only print'));
