/**
 * The style sheets of an email. Their declarations are moved into the elements that they apply to; for a document of the email alone,
 * they are written as one sheet as well, in which every selector is scoped to the email's box, and whose declarations are checked as
 * those of elements are. Rules that depend on what the reader does are left out, as are rules other than styles, `@media` and `@supports`;
 * what they may show is not hidden by the others. A sheet that takes too much is left out as a whole, never in part.
 */
import { generate, parse, type Atrule, type Block, type CssNode, type StyleSheet } from 'css-tree';
import {
  DECLARATION_COST,
  MAX_RULES_OF_ELEMENT,
  MAX_STYLE_COST,
  MAX_STYLE_RULES,
  MAX_STYLE_SHEET_CHARS,
} from './limits.ts';
import { isForPrint, mayHold, readMedia, type Scheme } from './media-query.ts';
import { attributeOf, type HtmlElement } from './parse-html.ts';
import { addDeclaration, Styles, writeStyles, type StyleContext } from './safe-styles.ts';
import { classesOf, hovered, matches, readSelector, writeCompounds, type ReadSelector } from './selectors.ts';
import { isSupported } from './supports.ts';
import { BOX_MARK_NAME } from './text-as-html.ts';

/** The style sheets take too much: the email is shown without them. */
export class StyleLimitError extends Error {
  override name = 'StyleLimitError';
}

export interface SheetRule {
  readonly selector: ReadSelector;
  /** See readMedia; `''`: always. */
  readonly media: string;
  readonly isForPrint: boolean;
  readonly block: Block;
  readonly order: number;
}

export interface SheetOptions {
  readonly context: StyleContext;
  readonly scheme: Scheme;
  /** Called when a sheet would fetch another one, or a font. */
  readonly onRemote: () => void;
  /** The sheet was written by this class: its selectors stay as they are. */
  readonly isScoped: boolean;
}

/** Styles of a body that its box takes over. In another form it would not contain its content. */
export const OF_BOX =
  /^(?:color|background(?:-.+)?|font(?:-.+)?|line-height|text-align|direction|padding(?:-.+)?|white-space)$/;

/** What a pointer may change: nothing that moves, appears or disappears. */
const OF_HOVER = /^(?:color|background-color|border(?:-.+)?-color|text-decoration(?:-.+)?)$/;

/** Rules of the elements in them count less, or only somewhere, which is not followed. */
const UNFOLLOWED: ReadonlySet<string> = new Set(['layer', 'container', 'scope']);

/** The rules for an element. Only sure ones are applied; of the others, what shows text may be. */
export interface ElementRules {
  readonly sure: readonly SheetRule[];
  readonly unsure: readonly SheetRule[];
}

const NO_RULES: ElementRules = { sure: [], unsure: [] };

const byWeight = (a: SheetRule, b: SheetRule): number =>
  a.selector.weight - b.selector.weight || a.order - b.order;

const SCOPE = `[${BOX_MARK_NAME}]`;
const OWN: ReadonlySet<string> = new Set([BOX_MARK_NAME]);

export class StyleSheets {
  readonly #options: SheetOptions;
  readonly #rules: SheetRule[] = [];
  /** By a class, an id with `#`, or an element, whichever the last part of a rule has first. */
  readonly #byKey = new Map<string, SheetRule[]>();
  readonly #styles = new Map<Block, Styles>();
  readonly #budget = { cost: MAX_STYLE_COST };
  #charsLeft = MAX_STYLE_SHEET_CHARS;

  constructor(options: SheetOptions) {
    this.#options = options;
  }

  /** @param media the condition of the whole sheet, as its element has it */
  add(css: string, media: string): void {
    const condition = readMedia(
      media
        .trim()
        .replace(/\s+/g, ' ')
        .replace(/ ?([:,()<>=]) ?/g, '$1')
        .replace(/and\(/gi, 'and ('),
      this.#options.scheme,
    );
    if (condition === null && media.trim() !== '') return;
    this.#charsLeft -= css.length;
    if (this.#charsLeft < 0) throw new StyleLimitError(`more than ${MAX_STYLE_SHEET_CHARS} characters`);
    if (/@import|@font-face/i.test(css)) this.#options.onRemote();
    // Seen in practice: comment marks around the whole sheet.
    const sheet = parse(css.replace(/^\s*<!--|-->\s*$/g, ''), {
      context: 'stylesheet',
      parseCustomProperty: false,
    });
    if (sheet.type === 'StyleSheet') this.#addRules(sheet, condition ?? '', true);
  }

  /** @param isSure false within a condition that is not followed and may hold in a browser */
  #addRules({ children }: StyleSheet | Block, media: string, isSure: boolean): void {
    for (const node of children) {
      if (node.type === 'Atrule' && node.block !== null) this.#addAtrule(node, node.block, media, isSure);
      else if (node.type === 'Rule' && node.prelude.type === 'SelectorList') {
        const selectors = node.prelude.children.toArray().map((one) => this.#readSelector(one));
        // Selectors 4 §3.9: a selector that no browser knows makes the whole list invalid.
        if (selectors.includes('unknown')) continue;
        for (const selector of selectors) {
          if (typeof selector === 'object' && selector !== null)
            this.#addRule(selector, media, node.block, isSure);
        }
      }
    }
  }

  #addAtrule({ name, prelude }: Atrule, block: Block, media: string, isSure: boolean): void {
    const kind = name.toLowerCase();
    if (kind === 'media') {
      const query = prelude === null ? '' : generate(prelude);
      const inner = readMedia(query, this.#options.scheme);
      if (inner === null && mayHold(query)) this.#addRules(block, media, false);
      if (inner === null) return;
      const isNested = media !== '' && inner !== '' && inner !== media;
      this.#addRules(block, inner === '' ? media : inner, isSure && !isNested);
    } else if (kind === 'supports') {
      // A browser may support what does not come out.
      this.#addRules(block, media, isSure && prelude !== null && isSupported(prelude));
    } else if (UNFOLLOWED.has(kind)) this.#addRules(block, media, false);
  }

  #readSelector(node: CssNode): ReturnType<typeof readSelector> {
    return readSelector(node, this.#options.isScoped ? OWN : undefined);
  }

  #addRule(selector: ReadSelector, media: string, block: Block, isSure: boolean): void {
    if (this.#rules.length === MAX_STYLE_RULES)
      throw new StyleLimitError(`more than ${MAX_STYLE_RULES} rules`);
    if (selector.isHover && !this.#options.isScoped) this.#addRule(hovered(selector), media, block, false);
    const rule: SheetRule = {
      selector: isSure ? selector : { ...selector, isSure: false },
      media,
      isForPrint: isForPrint(media || 'all'),
      block,
      order: this.#rules.length,
    };
    this.#rules.push(rule);
    // A rule for paper alone is written, and followed by none of the elements.
    if (rule.isForPrint) return;
    const last = selector.compounds.at(-1);
    const [id] = last?.ids ?? [];
    const [one] = last?.classes ?? [];
    const key = id === undefined ? (one === undefined ? (last?.tag ?? '*') : `.${one}`) : `#${id}`;
    const rules = this.#byKey.get(key);
    if (rules === undefined) this.#byKey.set(key, [rule]);
    else rules.push(rule);
  }

  /**
   * The rules for an element that may hold on a screen, those of the highest weight last. Throws StyleLimitError.
   */
  rulesFor(element: HtmlElement): ElementRules {
    if (this.#rules.length === 0) return NO_RULES;
    const id = attributeOf(element, 'id');
    const sure: SheetRule[] = [];
    const unsure: SheetRule[] = [];
    const add = (key: string): void => {
      for (const rule of this.#byKey.get(key) ?? []) {
        if (!matches(element, rule.selector.compounds, this.#budget)) continue;
        this.#budget.cost -= DECLARATION_COST * rule.block.children.size;
        (rule.selector.isSure ? sure : unsure).push(rule);
      }
    };
    add('*');
    add(element.tagName);
    for (const one of classesOf(element)) add(`.${one}`);
    if (id !== null) add(`#${id}`);
    if (this.#budget.cost < 0) throw new StyleLimitError('more comparisons than an email is worth');
    if (sure.length + unsure.length > MAX_RULES_OF_ELEMENT)
      throw new StyleLimitError(`more than ${MAX_RULES_OF_ELEMENT} rules for an element`);
    return { sure: sure.sort(byWeight), unsure: unsure.sort(byWeight) };
  }

  /** The declarations of a rule that may stay. */
  stylesOf({ block }: SheetRule): Styles {
    const known = this.#styles.get(block);
    if (known !== undefined) return known;
    const styles = new Styles();
    for (const node of block.children) {
      if (node.type === 'Declaration') addDeclaration(styles, node, this.#options.context);
    }
    this.#styles.set(block, styles);
    return styles;
  }

  /** One sheet of all rules, for a document in which the box stands for the body. Throws StyleLimitError. */
  write(html: HtmlElement, body: HtmlElement | null): string {
    const written: string[] = [];
    let chars = 0;
    let media = '';
    for (const rule of this.#rules) {
      if (!rule.selector.isSure) continue;
      for (const [selector, styles] of this.#scoped(rule, html, body)) {
        const opening = rule.media === media ? '' : `${media === '' ? '' : '}'}${openMedia(rule.media)}`;
        const text = `${opening}${selector}{${styles}}`;
        chars += text.length;
        if (chars > MAX_STYLE_SHEET_CHARS)
          throw new StyleLimitError(`more than ${MAX_STYLE_SHEET_CHARS} characters come out`);
        written.push(text);
        media = rule.media;
      }
    }
    if (this.#budget.cost < 0) throw new StyleLimitError('more comparisons than an email is worth');
    return close(written, media);
  }

  /** Selectors and declarations, as they are written. */
  #scoped(
    rule: SheetRule,
    html: HtmlElement,
    body: HtmlElement | null,
  ): readonly (readonly [string, string])[] {
    const { compounds, isHover } = rule.selector;
    const all = this.stylesOf(rule);
    const styles = isHover ? only(all, OF_HOVER) : all;
    const ofBox = only(styles, OF_BOX);
    const pairs: (readonly [string, Styles])[] = [];
    if (this.#options.isScoped) {
      const isBox = compounds.at(-1)?.tests.some(({ written }) => written === SCOPE) === true;
      pairs.push([writeCompounds(compounds), isBox ? ofBox : styles]);
    } else {
      if (!compounds.some(isOutside)) pairs.push([`${SCOPE} ${writeCompounds(compounds)}`, styles]);
      for (const index of compounds.keys()) {
        const start = compounds.slice(0, index + 1);
        const rest = compounds.slice(index + 1);
        if (rest.some(isOutside) || !this.#isOutside(start, rest[0]?.combinator, html, body)) continue;
        if (rest.length === 0) pairs.push([SCOPE, ofBox]);
        else pairs.push([`${SCOPE}${rest[0]?.combinator ?? ' '}${writeCompounds(rest)}`, styles]);
      }
    }
    const texts = new Map(pairs.map(([selector, own]) => [selector, writeStyles(own, true)]));
    return [...texts].filter(([, text]) => text !== '');
  }

  /** Whether the beginning of a selector is about the body, or about `html` with all that is in it. */
  #isOutside(
    start: ReadSelector['compounds'],
    next: string | undefined,
    html: HtmlElement,
    body: HtmlElement | null,
  ): boolean {
    if (next !== undefined && next !== ' ' && next !== '>') return false;
    if (body !== null && matches(body, start, this.#budget)) return true;
    return next !== '>' && matches(html, start, this.#budget);
  }
}

const isOutside = ({ tag, tests }: ReadSelector['compounds'][number]): boolean =>
  tag === 'html' || tag === 'body' || tests.some(({ written }) => written === ':root');

/** A copy with the properties that match. */
export function only(styles: Styles, properties: RegExp): Styles {
  const kept = new Styles();
  for (const [property, { text, isImportant }] of styles.values) {
    if (properties.test(property)) kept.set(property, text, isImportant);
  }
  kept.hasLostColor = styles.hasLostColor;
  kept.hasLostGround = styles.hasLostGround;
  kept.isMoved = styles.isMoved;
  kept.isPlace = styles.isPlace;
  return kept;
}

const openMedia = (media: string): string => (media === '' ? '' : `@media ${media}{`);
const close = (written: readonly string[], media: string): string =>
  written.join('') + (media === '' ? '' : '}');
