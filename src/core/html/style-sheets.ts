/**
 * The style sheets of an email. Their declarations are moved into the elements that they apply to; for a document of the email alone,
 * they are written as one sheet as well, in which every selector is scoped to the email's box, and whose declarations are checked as
 * those of elements are. Rules that depend on what the reader does, and rules other than styles and `@media`, are left out.
 */
import { generate, parse, type Block, type CssNode, type StyleSheet } from 'css-tree';
import {
  DECLARATION_COST,
  MAX_RULES_OF_ELEMENT,
  MAX_STYLE_COST,
  MAX_STYLE_RULES,
  MAX_STYLE_SHEET_CHARS,
} from './limits.ts';
import { isForPrint, readMedia, type Scheme } from './media-query.ts';
import { attributeOf, type HtmlElement } from './parse-html.ts';
import { addDeclaration, Styles, writeStyles, type StyleContext } from './safe-styles.ts';
import { classesOf, matches, readSelector, writeCompounds, type ReadSelector } from './selectors.ts';
import { BOX_MARK_NAME } from './text-as-html.ts';

export interface SheetRule {
  readonly selector: ReadSelector;
  /** See readMedia; `''`: always. */
  readonly media: string;
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
  /** An element has more rules than are followed. */
  #isCut = false;

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
    const text = css.slice(0, this.#charsLeft);
    this.#charsLeft -= text.length;
    if (/@import|@font-face/i.test(text)) this.#options.onRemote();
    // Seen in practice: comment marks around the whole sheet.
    const sheet = parse(text.replace(/^\s*<!--|-->\s*$/g, ''), {
      context: 'stylesheet',
      parseCustomProperty: false,
    });
    if (sheet.type === 'StyleSheet') this.#addRules(sheet, condition ?? '');
  }

  #addRules({ children }: StyleSheet | Block, media: string): void {
    for (const node of children) {
      if (node.type === 'Atrule' && node.name.toLowerCase() === 'media' && media === '') {
        const inner = node.prelude === null ? null : readMedia(generate(node.prelude), this.#options.scheme);
        if (inner !== null && node.block !== null) this.#addRules(node.block, inner);
      } else if (node.type === 'Rule' && node.prelude.type === 'SelectorList') {
        for (const selector of node.prelude.children) this.#addRule(selector, media, node.block);
      }
    }
  }

  #addRule(node: CssNode, media: string, block: Block): void {
    const selector = readSelector(node, this.#options.isScoped ? OWN : undefined);
    if (selector === null || this.#rules.length === MAX_STYLE_RULES) return;
    const rule = { selector, media, block, order: this.#rules.length };
    this.#rules.push(rule);
    const last = selector.compounds.at(-1);
    const [id] = last?.ids ?? [];
    const [one] = last?.classes ?? [];
    const key = id === undefined ? (one === undefined ? (last?.tag ?? '*') : `.${one}`) : `#${id}`;
    const rules = this.#byKey.get(key);
    if (rules === undefined) this.#byKey.set(key, [rule]);
    else rules.push(rule);
  }

  /** The rules for an element that may hold on a screen, those of the highest weight last. */
  rulesFor(element: HtmlElement): readonly SheetRule[] {
    if (this.#rules.length === 0 || this.#budget.cost < 0) return [];
    const id = attributeOf(element, 'id');
    const keys = ['*', element.tagName, ...[...classesOf(element)].map((one) => `.${one}`)];
    if (id !== null) keys.push(`#${id}`);
    const found = keys
      .flatMap((key) => this.#byKey.get(key) ?? [])
      .filter(({ selector, media }) => {
        return !isForPrint(media || 'all') && matches(element, selector.compounds, this.#budget);
      });
    if (found.length > MAX_RULES_OF_ELEMENT) this.#isCut = true;
    found.length = Math.min(found.length, MAX_RULES_OF_ELEMENT);
    this.#budget.cost -= found.reduce((sum, { block }) => sum + DECLARATION_COST * block.children.size, 0);
    if (this.#budget.cost < 0) {
      this.#options.context.onRemoved('styles');
      return [];
    }
    return found.sort((a, b) => a.selector.weight - b.selector.weight || a.order - b.order);
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

  /**
   * One sheet of all rules, for a document in which the box stands for the body. Empty when matching it costs too much: a browser would
   * follow rules that were not compared with the elements, and could show a link otherwise than it was judged.
   */
  write(html: HtmlElement, body: HtmlElement | null): string {
    if (this.#budget.cost < 0 || this.#isCut) return '';
    const written: string[] = [];
    let chars = 0;
    let media = '';
    for (const rule of this.#rules) {
      for (const [selector, styles] of this.#scoped(rule, html, body)) {
        const opening = rule.media === media ? '' : `${media === '' ? '' : '}'}${openMedia(rule.media)}`;
        const text = `${opening}${selector}{${styles}}`;
        chars += text.length;
        if (chars > MAX_STYLE_SHEET_CHARS) return close(written, media);
        written.push(text);
        media = rule.media;
      }
    }
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
  return kept;
}

const openMedia = (media: string): string => (media === '' ? '' : `@media ${media}{`);
const close = (written: readonly string[], media: string): string =>
  written.join('') + (media === '' ? '' : '}');
