/**
 * Conditions of `@supports` rules (CSS Conditional Rules 3 §6). A declaration is supported when it comes out, so that what a mail has for
 * old programs and what it has for new ones are never mixed.
 */
import type { CssNode } from 'css-tree';
import { isSafeDeclaration } from './safe-styles.ts';
import { readSelector } from './selectors.ts';

export const isSupported = (prelude: CssNode): boolean =>
  prelude.type === 'AtrulePrelude' && prelude.children.size === 1 && prelude.children.toArray().every(isTrue);

function isTrue(node: CssNode): boolean {
  if (node.type === 'SupportsDeclaration') return isSafeDeclaration(node.declaration);
  if (node.type === 'FeatureFunction') {
    const selector = node.feature.toLowerCase() === 'selector' ? readSelector(node.value) : null;
    return typeof selector === 'object' && selector?.isSure === true;
  }
  return node.type === 'Condition' && isCondition(node.children.toArray());
}

function isCondition(nodes: readonly CssNode[]): boolean {
  const [first, second] = nodes;
  if (first === undefined) return false;
  if (second === undefined) return isTrue(first);
  if (wordOf(first) === 'not') return nodes.length === 2 && !isTrue(second);
  const word = wordOf(second);
  const [tests, words] = [0, 1].map((rest) => nodes.filter((_, index) => index % 2 === rest));
  if (tests?.length !== (words?.length ?? 0) + 1 || words?.every((one) => wordOf(one) === word) !== true)
    return false;
  return word === 'and' ? tests.every(isTrue) : word === 'or' && tests.some(isTrue);
}

const wordOf = (node: CssNode): string => (node.type === 'Identifier' ? node.name.toLowerCase() : '');
