/**
 * Selectors of style sheets (Selectors 4), read from the tree of css-tree: matched with elements of an email, and written again. Those
 * that depend on what a reader does, on content that mail does not have or on a language of their own are not followed.
 */
import {
  ident,
  type AttributeSelector,
  type CssNode,
  type PseudoClassSelector,
  type Selector,
} from 'css-tree';
import { attributeOf, isElement, type HtmlElement } from './parse-html.ts';

type Combinator = ' ' | '>' | '+' | '~';

/** Counts work; below zero nothing matches. */
export interface MatchBudget {
  cost: number;
}

interface Test {
  readonly written: string;
  readonly matches: (element: HtmlElement, budget: MatchBudget) => boolean;
}

/** A selector without combinators. */
export interface Compound {
  /** The relation to the one before; ignored for the first. */
  readonly combinator: Combinator;
  /** null: any element. */
  readonly tag: string | null;
  readonly ids: readonly string[];
  readonly classes: readonly string[];
  readonly tests: readonly Test[];
}

export interface ReadSelector {
  readonly compounds: readonly Compound[];
  /** Selectors 4 §17: an id counts more than any classes, a class more than any elements. */
  readonly weight: number;
  /** Holds only while the pointer is on the element: it is written, and never matches. */
  readonly isHover: boolean;
  /** False for one with a part that is not followed, which then holds for every element: it is never written. */
  readonly isSure: boolean;
}

/** Of one selector. Newsletters have up to 6. */
const MAX_COMPOUNDS = 8;
const MAX_TESTS = 8;
/** Selectors within `:not()` and `:is()`. */
const MAX_ALTERNATIVES = 8;

const NAME = /^(?:-?[a-z_]|(?!\p{ASCII})\p{L})[\p{L}\p{N}_-]{0,99}$/iu;
const TAG = /^[a-z][a-z0-9]{0,29}$/;
const ATTRIBUTE_NAME = /^[a-z][a-z0-9-]{0,49}$/;
const ATTRIBUTE_VALUE = /^[\p{L}\p{N} ._:;/#,%()=+&?!@-]{0,200}$/u;
/** Marks that the service sets itself. */
const OWN = /^data-(?:email-body|link-host|shown-host)$/;

const ID_WEIGHT = 10_000;
const CLASS_WEIGHT = 100;

/**
 * null for a selector that is not followed, `unknown` for one that browsers do not know either.
 *
 * @param own attributes of the service that the selector may name
 */
export function readSelector(selector: CssNode, own = OWN_NONE): ReadSelector | null | 'unknown' {
  if (selector.type !== 'Selector') return null;
  const parts = splitCompounds(selector);
  if (parts === null || parts.length > MAX_COMPOUNDS) return null;
  if (parts.some(({ nodes }) => nodes.some(isUnknown))) return 'unknown';
  const read = parts.map(({ combinator, nodes }) => readCompound(combinator, nodes, own));
  const compounds = read.flatMap((one) => (one === null ? [] : [one.compound]));
  if (compounds.length < read.length) return null;
  return {
    compounds,
    weight: read.reduce((sum, one) => sum + (one?.weight ?? 0), 0),
    isHover: read.some((one) => one?.isHover === true),
    isSure: read.every((one) => one?.isSure === true),
  };
}

/** The selector as it is while the pointer is where it has to be: what it then shows can be seen in browsers. */
export const hovered = (selector: ReadSelector): ReadSelector => ({
  ...selector,
  compounds: selector.compounds.map((compound) => ({
    ...compound,
    tests: compound.tests.filter(({ written }) => written !== HOVER),
  })),
  isHover: false,
  isSure: false,
});

const HOVER = ':hover';

/** Pseudo-classes that browsers know, and that depend on the reader, on fields of forms or on more than is followed (Selectors 4 §4 to §14). */
const UNFOLLOWED: ReadonlySet<string> = new Set(
  (
    'has is where not active focus focus-within focus-visible visited target target-within checked indeterminate default enabled ' +
    'disabled required optional valid invalid user-valid user-invalid in-range out-of-range read-only read-write placeholder-shown ' +
    'autofill open modal popover-open fullscreen defined playing paused muted empty lang dir scope host host-context ' +
    'nth-child nth-last-child nth-of-type nth-last-of-type -webkit-any -webkit-autofill -webkit-any-link'
  ).split(' '),
);

const isUnknown = (node: CssNode): boolean =>
  node.type === 'PseudoClassSelector' &&
  !UNFOLLOWED.has(node.name.toLowerCase()) &&
  SIMPLE[node.name.toLowerCase()] === undefined &&
  !ELEMENTS_OF_CSS2.has(node.name.toLowerCase());

/** CSS 2: pseudo-elements with a single colon. */
const ELEMENTS_OF_CSS2: ReadonlySet<string> = new Set(['before', 'after', 'first-line', 'first-letter']);

const OWN_NONE: ReadonlySet<string> = new Set();

interface Part {
  readonly combinator: Combinator;
  readonly nodes: CssNode[];
}

function splitCompounds({ children }: Selector): readonly Part[] | null {
  const parts: Part[] = [{ combinator: ' ', nodes: [] }];
  for (const node of children) {
    if (node.type === 'Combinator') {
      const name = node.name.trim();
      if (name !== '' && name !== '>' && name !== '+' && name !== '~') return null;
      parts.push({ combinator: name === '' ? ' ' : name, nodes: [] });
    } else parts.at(-1)?.nodes.push(node);
  }
  return parts.some(({ nodes }) => nodes.length === 0) ? null : parts;
}

interface CompoundRead {
  readonly compound: Compound;
  readonly weight: number;
  readonly isHover: boolean;
  readonly isSure: boolean;
}

function readCompound(
  combinator: Combinator,
  nodes: readonly CssNode[],
  own: ReadonlySet<string>,
): CompoundRead | null {
  let tag: string | null = null;
  let weight = 0;
  let isHover = false;
  let isSure = true;
  const ids: string[] = [];
  const classes: string[] = [];
  const tests: Test[] = [];
  for (const node of nodes) {
    if (node.type === 'TypeSelector') {
      const name = node.name.toLowerCase();
      if (name === '*') continue;
      if (!TAG.test(name)) return null;
      tag = name;
      weight += 1;
    } else if (node.type === 'ClassSelector' || node.type === 'IdSelector') {
      weight += node.type === 'IdSelector' ? ID_WEIGHT : CLASS_WEIGHT;
      const name = ident.decode(node.name);
      if (NAME.test(name)) (node.type === 'IdSelector' ? ids : classes).push(name);
      else if (node.type === 'ClassSelector' && CLASS.test(name)) tests.push(testOfClass(name));
      else return null;
    } else if (node.type === 'AttributeSelector') {
      const test = readAttribute(node, own);
      if (test === null) return null;
      tests.push(test);
      weight += CLASS_WEIGHT;
    } else if (node.type === 'PseudoClassSelector') {
      const test = readPseudoClass(node, own);
      if (test === null) {
        if (ELEMENTS_OF_CSS2.has(node.name.toLowerCase())) return null;
        isSure = false;
        continue;
      }
      if (test.written === HOVER) isHover = true;
      tests.push(test);
      weight += test.weight;
    } else return null;
  }
  if (ids.length + classes.length + tests.length > MAX_TESTS) return null;
  return { compound: { combinator, tag, ids, classes, tests }, weight, isHover, isSure };
}

/** A class such as `sm:block` or `w-1/2` of a framework, whose selector would need an escape. */
const CLASS = /^[\p{L}\p{N}_.:/-]{1,100}$/u;

const testOfClass = (name: string): Test => ({
  written: `[class~="${name}"]`,
  matches: (element) => classesOf(element).has(name),
});

/** HTML §4.16.2: values of these attributes are compared without regard to case. */
const CASELESS: ReadonlySet<string> = new Set(
  'align alink bgcolor clear color compact dir face lang link noshade nowrap rel rev rules scope target text type valign vlink'.split(
    ' ',
  ),
);

function readAttribute(
  { name, matcher, value, flags }: AttributeSelector,
  own: ReadonlySet<string>,
): Test | null {
  const attribute = name.name.toLowerCase();
  if (!ATTRIBUTE_NAME.test(attribute) || (OWN.test(attribute) && !own.has(attribute))) return null;
  if (matcher === null || value === null) {
    return {
      written: `[${attribute}]`,
      matches: (element, budget) => {
        budget.cost -= element.attrs.length / ATTRIBUTES_AT_COST;
        return attributeOf(element, attribute) !== null;
      },
    };
  }
  const text = value.type === 'String' ? value.value : value.name;
  const flag = flags?.toLowerCase() ?? '';
  if (!ATTRIBUTE_VALUE.test(text) || !/^[is]?$/.test(flag)) return null;
  const compare = COMPARED[matcher];
  if (compare === undefined) return null;
  const isCaseless = flag === 'i' || (flag === '' && CASELESS.has(attribute));
  const wanted = isCaseless ? text.toLowerCase() : text;
  return {
    written: `[${attribute}${matcher}"${text}"${flag === '' ? '' : ` ${flag}`}]`,
    matches: (element, budget) => {
      budget.cost -= element.attrs.length / ATTRIBUTES_AT_COST;
      const found = attributeOf(element, attribute);
      if (found === null) return false;
      budget.cost -= found.length / (matcher === '~=' ? WORDS_AT_COST : CHARS_AT_COST);
      return compare(isCaseless ? found.toLowerCase() : found, wanted);
    },
  };
}

/** What is read for the cost of one comparison. */
const ATTRIBUTES_AT_COST = 20;
const CHARS_AT_COST = 100;
/** The text is taken apart. */
const WORDS_AT_COST = 10;

const COMPARED: Readonly<Record<string, (found: string, wanted: string) => boolean>> = {
  '=': (found, wanted) => found === wanted,
  '~=': (found, wanted) => wanted !== '' && found.split(/[ \t\n\f\r]+/).includes(wanted),
  '|=': (found, wanted) => found === wanted || found.startsWith(`${wanted}-`),
  '^=': (found, wanted) => wanted !== '' && found.startsWith(wanted),
  '$=': (found, wanted) => wanted !== '' && found.endsWith(wanted),
  '*=': (found, wanted) => wanted !== '' && found.includes(wanted),
};

type Weighed = Test & { readonly weight: number };

function readPseudoClass({ name, children }: PseudoClassSelector, own: ReadonlySet<string>): Weighed | null {
  const pseudo = name.toLowerCase();
  const simple = SIMPLE[pseudo];
  if (simple !== undefined && children === null) {
    return { written: `:${pseudo}`, matches: simple, weight: CLASS_WEIGHT };
  }
  const [argument, ...more] = children?.toArray() ?? [];
  if (argument === undefined || more.length > 0) return null;
  if (argument.type === 'Nth') return readNth(pseudo, argument);
  return argument.type === 'SelectorList' ? readAlternatives(pseudo, argument, own) : null;
}

const SIMPLE: Readonly<Record<string, Test['matches']>> = {
  root: ({ tagName }) => tagName === 'html',
  // The style of unvisited links, the only state that mail may know.
  link: (element) => element.tagName === 'a' && attributeOf(element, 'href') !== null,
  'any-link': (element) => element.tagName === 'a' && attributeOf(element, 'href') !== null,
  hover: () => false,
  'first-child': (element) => placeOf(element).before === 0,
  'last-child': (element) => placeOf(element).after === 0,
  'only-child': (element) => placeOf(element).before + placeOf(element).after === 0,
  'first-of-type': (element) => placeOf(element).beforeOfType === 0,
  'last-of-type': (element) => placeOf(element).afterOfType === 0,
  'only-of-type': (element) => placeOf(element).beforeOfType + placeOf(element).afterOfType === 0,
};

const NTH: Readonly<Record<string, keyof Place>> = {
  'nth-child': 'before',
  'nth-last-child': 'after',
  'nth-of-type': 'beforeOfType',
  'nth-last-of-type': 'afterOfType',
};

function readNth(pseudo: string, { nth, selector }: CssNode & { type: 'Nth' }): Weighed | null {
  const key = NTH[pseudo];
  if (key === undefined || selector !== null) return null;
  const [a, b] =
    nth.type === 'Identifier'
      ? [2, nth.name.toLowerCase() === 'odd' ? 1 : 0]
      : [Number(nth.a ?? 0), Number(nth.b ?? 0)];
  if (!Number.isSafeInteger(a) || !Number.isSafeInteger(b) || Math.abs(a) > 1000 || Math.abs(b) > 1000)
    return null;
  return {
    written: `:${pseudo}(${a}n${b < 0 ? b : `+${b}`})`,
    matches: (element) => {
      const steps = placeOf(element)[key] + 1 - b;
      return a === 0 ? steps === 0 : steps % a === 0 && steps / a >= 0;
    },
    weight: CLASS_WEIGHT,
  };
}

function readAlternatives(
  pseudo: string,
  { children }: CssNode & { type: 'SelectorList' },
  own: ReadonlySet<string>,
): Weighed | null {
  if (!['not', 'is', 'where'].includes(pseudo) || children.size > MAX_ALTERNATIVES) return null;
  const read = children.toArray().map((selector) => readSelector(selector, own));
  const alternatives = read.filter((one) => typeof one === 'object' && one !== null);
  if (alternatives.length < read.length) return null;
  if (alternatives.some(({ compounds, isHover, isSure }) => compounds.length > 1 || isHover || !isSure))
    return null;
  return {
    written: `:${pseudo}(${alternatives.map(({ compounds }) => writeCompounds(compounds)).join(',')})`,
    matches: (element, budget) =>
      alternatives.some((one) => matches(element, one.compounds, budget)) === (pseudo !== 'not'),
    weight: pseudo === 'where' ? 0 : Math.max(...alternatives.map(({ weight }) => weight)),
  };
}

/** Elements before and after it among those of its parent. */
interface Place {
  readonly before: number;
  readonly after: number;
  readonly beforeOfType: number;
  readonly afterOfType: number;
}

interface Siblings {
  readonly elements: readonly HtmlElement[];
  readonly places: ReadonlyMap<HtmlElement, Place>;
}

const FAMILIES = new WeakMap<object, Siblings>();

/** Read once for each parent: the trees of mail do not change while they are matched. */
function siblingsOf({ parentNode }: HtmlElement): Siblings {
  if (parentNode === null) return { elements: [], places: new Map() };
  const known = FAMILIES.get(parentNode);
  if (known !== undefined) return known;
  const elements = parentNode.childNodes.filter(isElement);
  const totals = new Map<string, number>();
  for (const { tagName } of elements) totals.set(tagName, (totals.get(tagName) ?? 0) + 1);
  const seen = new Map<string, number>();
  const places = new Map<HtmlElement, Place>();
  for (const [before, element] of elements.entries()) {
    const beforeOfType = seen.get(element.tagName) ?? 0;
    seen.set(element.tagName, beforeOfType + 1);
    const afterOfType = (totals.get(element.tagName) ?? 0) - beforeOfType - 1;
    places.set(element, { before, after: elements.length - before - 1, beforeOfType, afterOfType });
  }
  const family = { elements, places };
  FAMILIES.set(parentNode, family);
  return family;
}

const ALONE: Place = { before: 0, after: 0, beforeOfType: 0, afterOfType: 0 };
const placeOf = (element: HtmlElement): Place => siblingsOf(element).places.get(element) ?? ALONE;

const CLASSES = new WeakMap<HtmlElement, ReadonlySet<string>>();
/** Of one element; more are not followed. */
const MAX_CLASSES = 50;

export function classesOf(element: HtmlElement): ReadonlySet<string> {
  const known = CLASSES.get(element);
  if (known !== undefined) return known;
  const list = attributeOf(element, 'class')?.match(/[^ \t\n\f\r]+/g) ?? [];
  const classes = new Set(list.slice(0, MAX_CLASSES));
  CLASSES.set(element, classes);
  return classes;
}

/** True when the last compound is one of the element, and those before it are of its surroundings. */
export function matches(
  element: HtmlElement,
  compounds: readonly Compound[],
  budget: MatchBudget,
  last = compounds.length - 1,
): boolean {
  const compound = compounds[last];
  if (compound === undefined || !matchesCompound(element, compound, budget)) return false;
  if (last === 0) return true;
  const others = candidates(element, compound.combinator);
  budget.cost -= others.length / CANDIDATES_AT_COST;
  return others.some((one) => matches(one, compounds, budget, last - 1));
}

/** Collecting candidates is cheap, and is counted all the same: there may be 100,000. */
const CANDIDATES_AT_COST = 20;

function candidates(element: HtmlElement, combinator: Combinator): readonly HtmlElement[] {
  if (combinator === '+' || combinator === '~') {
    const { elements, places } = siblingsOf(element);
    const before = places.get(element)?.before ?? 0;
    return combinator === '~' ? elements.slice(0, before) : elements.slice(Math.max(0, before - 1), before);
  }
  const around: HtmlElement[] = [];
  for (let parent = element.parentNode; parent !== null && 'tagName' in parent; parent = parent.parentNode) {
    around.push(parent);
    if (combinator === '>') break;
  }
  return around;
}

function matchesCompound(
  element: HtmlElement,
  { tag, ids, classes, tests }: Compound,
  budget: MatchBudget,
): boolean {
  budget.cost -= 1 + tests.length;
  if (budget.cost < 0) return false;
  if (tag !== null && tag !== element.tagName) return false;
  if (ids.length > 0 && !ids.every((id) => attributeOf(element, 'id') === id)) return false;
  if (!classes.every((one) => classesOf(element).has(one))) return false;
  return tests.every((test) => test.matches(element, budget));
}

/** Every part of it is of a list of allowed characters, or a word of our own. */
export function writeCompounds(compounds: readonly Compound[]): string {
  return compounds
    .map((compound, index) => (index === 0 ? '' : compound.combinator) + writeCompound(compound))
    .join('');
}

function writeCompound({ tag, ids, classes, tests }: Compound): string {
  const parts = [
    tag ?? '',
    ...ids.map((id) => `#${id}`),
    ...classes.map((one) => `.${one}`),
    ...tests.map(({ written }) => written),
  ].join('');
  return parts === '' ? '*' : parts;
}
