/**
 * Moves the style sheets of an email into the elements that they apply to: no style sheet comes out, so none can reach
 * beyond the email. Rules for an element, its classes or its id are followed (`p.MsoNormal, li.MsoNormal`); rules that
 * depend on other elements, on the window or on the pointer are left out.
 */
import { parse, type Block, type CssNode } from 'css-tree';
import {
  DECLARATION_COST,
  MAX_RULES_OF_ELEMENT,
  MAX_STYLE_COST,
  MAX_STYLE_RULES,
  MAX_STYLE_SHEET_CHARS,
} from './limits.ts';
import { addDeclaration, type StyleContext, type Styles } from './safe-styles.ts';

interface Rule {
  readonly tag: string | null;
  readonly id: string | null;
  readonly classes: readonly string[];
  /** Selectors 4 §17: an id counts more than any classes, a class more than any elements. */
  readonly weight: number;
  readonly block: Block;
}

export class StyleSheets {
  /** The rules in order, by a class, an id with `#`, or an element, whichever a rule has first. */
  readonly #rules = new Map<string, Rule[]>();
  #count = 0;
  #charsLeft = MAX_STYLE_SHEET_CHARS;
  #costLeft = MAX_STYLE_COST;

  /** @param onRemote called when the sheet would fetch another one, or a font */
  add(css: string, onRemote: () => void): void {
    const text = css.slice(0, this.#charsLeft);
    this.#charsLeft -= text.length;
    if (/@import|@font-face/i.test(text)) onRemote();
    // Seen in practice: comment marks around the whole sheet.
    const sheet = parse(text.replace(/^\s*<!--|-->\s*$/g, ''), {
      context: 'stylesheet',
      parseAtrulePrelude: false,
      parseCustomProperty: false,
    });
    if (sheet.type !== 'StyleSheet') return;
    for (const node of sheet.children) {
      if (node.type !== 'Rule' || node.prelude.type !== 'SelectorList') continue;
      for (const selector of node.prelude.children) this.#addRule(selector, node.block);
    }
  }

  #addRule(selector: CssNode, block: Block): void {
    const rule = toRule(selector, block);
    if (rule === null || this.#count === MAX_STYLE_RULES) return;
    this.#count++;
    const key = rule.id === null ? (rule.classes[0] ?? rule.tag ?? '') : `#${rule.id}`;
    const kept = rule.id === null && rule.classes.length > 0 ? `.${key}` : key;
    const rules = this.#rules.get(kept);
    if (rules === undefined) this.#rules.set(kept, [rule]);
    else rules.push(rule);
  }

  /** Adds the sheets' declarations for an element to its styles, those of the highest weight last. */
  addTo(
    styles: Styles,
    element: { readonly tag: string; readonly id: string | null; readonly classes: ReadonlySet<string> },
    context: StyleContext,
  ): void {
    if (this.#count === 0 || this.#costLeft < 0) return;
    const keys = [element.tag, ...[...element.classes].map((one) => `.${one}`), `#${element.id ?? ''}`];
    const candidates = keys.flatMap((key) => this.#rules.get(key) ?? []);
    const found = candidates
      .filter(
        ({ tag, id, classes }) =>
          (tag === null || tag === element.tag) &&
          (id === null || id === element.id) &&
          classes.every((one) => element.classes.has(one)),
      )
      .slice(0, MAX_RULES_OF_ELEMENT)
      .sort((a, b) => a.weight - b.weight);
    const declarations = found.reduce((sum, { block }) => sum + block.children.size, 0);
    this.#costLeft -= candidates.length + DECLARATION_COST * declarations;
    if (this.#costLeft < 0) {
      context.onRemoved(false);
      return;
    }
    for (const { block } of found) {
      for (const node of block.children) {
        if (node.type === 'Declaration') addDeclaration(styles, node, context);
      }
    }
  }
}

/** null for a selector that is not followed. */
function toRule(selector: CssNode, block: Block): Rule | null {
  if (selector.type !== 'Selector') return null;
  let tag: string | null = null;
  let id: string | null = null;
  const classes: string[] = [];
  for (const part of selector.children) {
    if (part.type === 'TypeSelector' && part.name !== '*') tag = part.name.toLowerCase();
    else if (part.type === 'ClassSelector') classes.push(part.name);
    else if (part.type === 'IdSelector' && id === null) id = part.name;
    // The style of unvisited links, the only state that the page may know.
    else if (part.type !== 'PseudoClassSelector' || part.name.toLowerCase() !== 'link') return null;
  }
  if (tag === null && id === null && classes.length === 0) return null;
  const weight = (id === null ? 0 : 10_000) + 100 * Math.min(classes.length, 99) + (tag === null ? 0 : 1);
  return { tag, id, classes, weight, block };
}
