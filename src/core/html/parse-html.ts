/**
 * Reads HTML as browsers do (WHATWG HTML §13.2), with the library parse5, and gives up on HTML that would take more time or
 * memory than mail is worth.
 */
import {
  defaultTreeAdapter,
  parse,
  type DefaultTreeAdapterTypes,
  type ParserOptions,
  type TreeAdapter,
} from 'parse5';
import { MAX_SAFE_DEPTH, MAX_SAFE_NODES } from './limits.ts';

export type HtmlNode = DefaultTreeAdapterTypes.ChildNode;
export type HtmlElement = DefaultTreeAdapterTypes.Element;
type Tree = DefaultTreeAdapterTypes.DefaultTreeAdapterMap;

/** The HTML exceeds one of the limits of limits.ts. */
export class HtmlLimitError extends Error {
  override name = 'HtmlLimitError';
}

export const isElement = (node: HtmlNode): node is HtmlElement => 'tagName' in node;
export const isText = (node: HtmlNode): node is DefaultTreeAdapterTypes.TextNode => node.nodeName === '#text';

/** The value of an attribute; null when the element has none of that name. */
export const attributeOf = ({ attrs }: HtmlElement, name: string): string | null =>
  attrs.find((attribute) => attribute.name === name)?.value ?? null;

/** The element `html`. Throws HtmlLimitError. */
export function parseHtml(html: string): HtmlElement {
  return rootOf(parseDocument(html));
}

/** The whole document, as a program without scripts reads it. Throws HtmlLimitError. */
export function parseDocument(
  html: string,
  options: Pick<ParserOptions<Tree>, 'scriptingEnabled' | 'sourceCodeLocationInfo'> = {},
): Tree['document'] {
  return parse<Tree>(html, { scriptingEnabled: false, ...options, treeAdapter: boundedAdapter() });
}

export function rootOf({ childNodes }: Tree['document']): HtmlElement {
  const root = childNodes.find(isElement);
  if (root === undefined) throw new Error('a document without an element');
  return root;
}

/** Counts created nodes, whether they stay in the tree or not. */
function boundedAdapter(): TreeAdapter<Tree> {
  let nodes = 0;
  let depth = 0;
  const count = () => {
    if (++nodes > MAX_SAFE_NODES) throw new HtmlLimitError(`more than ${MAX_SAFE_NODES} nodes`);
  };
  return {
    ...defaultTreeAdapter,
    createElement(...args) {
      count();
      return defaultTreeAdapter.createElement(...args);
    },
    insertText(...args) {
      count();
      defaultTreeAdapter.insertText(...args);
    },
    insertTextBefore(...args) {
      count();
      defaultTreeAdapter.insertTextBefore(...args);
    },
    onItemPush() {
      if (++depth > MAX_SAFE_DEPTH) throw new HtmlLimitError(`deeper than ${MAX_SAFE_DEPTH} elements`);
    },
    onItemPop() {
      depth--;
    },
  };
}
