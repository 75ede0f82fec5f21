/** Attributes of safe HTML: those that elements may have, and their values. Everything else is left out. */

/** Returns the value to write, true for an attribute without a value, or null when it may not stay. */
type Check<T = string> = (value: string) => T | null;

const matching =
  (pattern: RegExp): Check =>
  (value) => {
    const text = value.trim();
    return pattern.test(text) ? text : null;
  };
const oneOf = (...words: readonly string[]): Check => {
  const allowed = new Set(words);
  return (value) => {
    const word = value.trim().toLowerCase();
    return allowed.has(word) ? word : null;
  };
};

/** Shown text has no controls and is cut to this many UTF-16 units. */
const MAX_SHOWN_CHARS = 1000;
const shown: Check = (value) =>
  value
    .replace(/[\u0000-\u001f\u007f]+/g, ' ')
    .slice(0, MAX_SHOWN_CHARS)
    .toWellFormed();

const color = matching(/^(?:#[0-9a-f]{3,8}|[a-z]{3,24}|[0-9a-f]{6})$/i);
/** Pixels or a percentage, up to four digits. */
const length = matching(/^[0-9]{1,4}%?$/);
const small = matching(/^[0-9]{1,2}$/);
const alignment = oneOf('left', 'right', 'center', 'justify', 'middle', 'top', 'bottom', 'baseline', 'char');
/** Cells over very many rows or columns make browsers slow. */
const span = matching(/^[1-9][0-9]{0,2}$/);

/** An attribute that means something by its presence. hast writes it only when it is `true`. */
const present: Check<true> = () => true;

const PROPERTIES: Readonly<Record<string, string>> = {
  valign: 'vAlign',
  bgcolor: 'bgColor',
  bordercolor: 'borderColor',
  cellpadding: 'cellPadding',
  cellspacing: 'cellSpacing',
  colspan: 'colSpan',
  rowspan: 'rowSpan',
  nowrap: 'noWrap',
  noshade: 'noShade',
  'aria-hidden': 'ariaHidden',
  'aria-label': 'ariaLabel',
  'aria-live': 'ariaLive',
  hspace: 'hSpace',
  vspace: 'vSpace',
};

const ANY: Readonly<Record<string, Check | Check<true>>> = {
  dir: oneOf('ltr', 'rtl', 'auto'),
  lang: matching(/^[a-z]{1,8}(?:-[a-z0-9]{1,8}){0,4}$/i),
  title: shown,
  align: alignment,
  valign: alignment,
  bgcolor: color,
  width: length,
  height: length,
  // Keeps screen readers from announcing layout tables as tables.
  role: oneOf('presentation', 'none'),
  hidden: present,
  'aria-hidden': oneOf('true', 'false'),
  'aria-label': shown,
  'aria-live': oneOf('off', 'polite'),
};

const CELL = { colspan: span, rowspan: span, nowrap: present };

const OF_ELEMENT: Readonly<Record<string, Readonly<Record<string, Check | Check<true>>>>> = {
  table: { border: small, cellpadding: small, cellspacing: small, bordercolor: color },
  td: CELL,
  th: CELL,
  col: { span },
  colgroup: { span },
  font: { color, face: matching(/^[\p{L}0-9 ,'"_-]{1,200}$/u), size: matching(/^[+-]?[0-9]$/) },
  img: { alt: shown, border: small, hspace: small, vspace: small },
  details: { open: present },
  hr: { color, size: small, noshade: present },
  ol: { start: matching(/^-?[0-9]{1,6}$/), type: matching(/^[1aAiI]$/) },
  ul: { type: oneOf('disc', 'circle', 'square') },
  li: { value: matching(/^-?[0-9]{1,6}$/) },
};

/** The value to write; true: none is needed. `tag` and `name` are in lower case. null: the attribute may not stay. */
export function safeAttribute(tag: string, name: string, value: string): string | true | null {
  const check = own(own(OF_ELEMENT, tag) ?? {}, name) ?? own(ANY, name);
  return check === undefined ? null : check(value);
}

function own<T>(table: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

/** Attributes that this service sets itself: addresses, styles, and related ones. */
const SET_HERE: Readonly<Record<string, readonly string[]>> = {
  a: ['href', 'target', 'rel', 'title', 'dataLinkHost', 'dataShownHost'],
  img: ['src', 'referrerPolicy'],
  div: ['dataEmailBody'],
};

/** For hast-util-sanitize, which makes the final check, with names as it writes them. */
export const ALLOWED_ATTRIBUTES: Record<string, string[]> = {
  ...Object.fromEntries(
    [...new Set([...Object.keys(OF_ELEMENT), ...Object.keys(SET_HERE)])].map((tag) => [
      tag,
      [...Object.keys(own(OF_ELEMENT, tag) ?? {}).map(toProperty), ...(own(SET_HERE, tag) ?? [])],
    ]),
  ),
  '*': ['style', 'className', 'id', ...Object.keys(ANY).map(toProperty)],
};

/** The attributes that stay when their values do, by element; `*`: of every element. */
export const KEPT_ATTRIBUTES: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(Object.entries(OF_ELEMENT).map(([tag, checks]) => [tag, Object.keys(checks)])),
  '*': Object.keys(ANY),
};

/** An attribute as hast names it. */
export function toProperty(name: string): string {
  return own(PROPERTIES, name) ?? name;
}

/** Elements that stay. Those that are neither here nor in DROPPED are replaced by their content. */
export const ALLOWED_ELEMENTS: readonly string[] = (
  'a abbr acronym address article aside b big blockquote br caption center cite code col colgroup ' +
  'dd del details dfn dir div dl dt em figcaption figure font footer h1 h2 h3 h4 h5 h6 header hr i img ins ' +
  'kbd li main mark ol p pre q s samp section small span strike strong sub summary sup table tbody td ' +
  'tfoot th thead time tr tt u ul var wbr'
).split(' ');
